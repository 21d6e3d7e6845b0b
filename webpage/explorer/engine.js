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
// `start` what it is started with (`answer.js`); the buffers of `moved` are given to it, not copied.  An Error where the
// browser cannot do that.
export function inWorker(script, start, moved = []) {
  const worker = workerOf(script), waiting = new Map();
  let last = 0, stopped = null;
  worker.onmessage = ({ data: { id, result, error } }) => {
    const { done, failed } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) failed?.(new Error(error)); else done?.(result);
  };
  worker.onerror = () => {
    stopped = new Error("The model in this page cannot run. The page is damaged, the browser"
      + " is too old, or the Content-Security-Policy of the host forbids workers.");
    waiting.forEach(({ failed }) => failed(stopped));
  };
  worker.postMessage({ start }, moved);
  return (route, body, signal) => new Promise((done, failed) => {
    if (stopped || signal?.aborted) return failed(stopped ?? signal.reason);
    const id = ++last;
    waiting.set(id, { done, failed });
    worker.postMessage({ id, route, body });
    signal?.addEventListener("abort", () => {
      if (waiting.delete(id)) worker.postMessage({ id, drop: true });
      failed(signal.reason);
    });
  });
}

function workerOf(script) {
  const missing = ["Worker", "DecompressionStream"].filter((name) => !globalThis[name]).join(" and ");
  if (missing) throw new Error(`The model in this page needs ${missing}. Use a newer browser.`);
  try { return new Worker(script); }
  catch { throw new Error("The browser did not start the worker that runs the model. Open the page in its own tab."); }
}
