// What answers questions: `ask(route, body, signal)` gives an object, or an Error whose message is for the reader.
// Over HTTP it is `/v1`; where there is none, as in a Space, Gradio's function `ask`.  A page from a file has no engine.

export class HttpEngine {
  constructor(base) { this.base = base; }

  async ask(route, body, signal) {
    const answer = await send(`${this.base}/${route}`, body, signal);
    const found = await answer.json().catch(() => null);
    if (!answer.ok || !found) throw new Error(found?.error || SILENT);
    return found;
  }
}

export class GradioEngine {
  constructor(root) { this.root = root; }

  async ask(route, body, signal) {
    const answer = await send(`${this.root}/run/ask`, { data: [route, body] }, signal);
    const found = await answer.json().catch(() => null);
    if (!answer.ok || !found?.data) throw new Error(found?.error || SILENT);
    return found.data[0];
  }
}

export const SILENT = "The server did not answer.";

async function send(url, body, signal) {
  try {
    return await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(SILENT);
  }
}
