// Answers questions: `ask(route, body, signal)` gives an object, or an Error whose message is for the reader.
// Over HTTP it is `/v1`; without it, as in a Space, Gradio's function `ask`.  A page from a file has no engine.

export class HttpEngine {
  constructor(base) { this.base = base; }

  ask(route, body, signal) { return send(`${this.base}/${route}`, body, signal); }
}

export class GradioEngine {
  constructor(root) { this.root = root; }

  async ask(route, body, signal) {
    const { data } = await send(`${this.root}/run/ask`, { data: [route, body] }, signal);
    if (!data) throw new Error(SILENT);
    return data[0];
  }
}

const SILENT = "The server did not answer.";

async function send(url, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new Error(SILENT);
  });
  const found = await answer.json().catch(() => null);
  if (!answer.ok || !found) throw new Error(found?.error || SILENT);
  return found;
}
