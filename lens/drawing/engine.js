// Answers questions: `engine(route, body, signal)` gives an object, or an Error whose message is for the reader.
// Over HTTP it is `/v1`; without it, as in a Space, Gradio's function `ask`.  A page from a file has no engine.

export const overHttp = (base) => (route, body, signal) => send(`${base}/${route}`, body, signal);

export const overGradio = (root) => async (route, body, signal) =>
  (await send(`${root}/run/ask`, { data: [route, body] }, signal)).data[0];

async function send(url, body, signal) {
  const silent = new Error("The server did not answer."), headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal }).catch((error) => {
    throw error.name === "AbortError" ? error : silent;
  });
  const found = await answer.json().catch(() => null);
  if (!answer.ok || !found) throw found?.error ? new Error(found.error) : silent;
  return found;
}
