// Answers questions: `engine(route, body, signal)` gives an object, or an Error whose message is for the reader.
// Over HTTP it is `/v1`; without it, as in a Space, Gradio's function `ask`; without a server, the model in a worker.
// A page that shows one translation has no engine.

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

// The model in a worker: `script` is the address of `worker.js` in one file, a `blob:` one in a page from a file, and
// `start` what it is started with (`in_browser.js`).
export function inWorker(script, start) {
  const worker = new Worker(script), waiting = new Map();
  let last = 0, broken = null;
  worker.onmessage = ({ data: { id, result, error } }) => {
    const { done, failed } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) failed?.(new Error(error)); else done?.(result);
  };
  worker.onerror = () => {
    broken = new Error("The model in this page does not run in this browser: it takes a newer one.");
    waiting.forEach(({ failed }) => failed(broken));
  };
  worker.postMessage({ start });
  return (route, body, signal) => new Promise((done, failed) => {
    if (broken || signal?.aborted) return failed(broken ?? signal.reason);
    const id = ++last;
    waiting.set(id, { done, failed });
    worker.postMessage({ id, route, body });
    signal?.addEventListener("abort", () => {
      if (waiting.delete(id)) worker.postMessage({ id, drop: true });
      failed(signal.reason);
    });
  });
}
