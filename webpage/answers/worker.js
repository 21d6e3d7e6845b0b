// The engine in a Web Worker.  It is sent { start } once, what `answer.js` needs or what `unpack` makes that of, then
// questions { id, route, body }, numbered upwards, and { id, drop } for one that nobody waits for; it answers
// { id, result } or { id, error }.

import { inThisThread } from "./answer.js";

export function answerIn(scope, unpack = (data) => data) {
  const wanted = new Set(), tick = ticking();
  let engine = null;

  // Lets messages in between two passes; an older question waits until newer ones are answered.
  async function pause(id) {
    do {
      await tick();
      if (!wanted.has(id)) throw new Error("The request was cancelled.");
    } while ([...wanted].some((other) => other > id));
  }

  scope.onmessage = async ({ data: { start, id, route, body, drop } }) => {
    if (start) { engine = started(start, unpack); return; }
    if (drop) { wanted.delete(id); return; }
    wanted.add(id);
    try { scope.postMessage({ id, result: await (await engine)(route, body, () => pause(id)) }); }
    catch ({ message }) { scope.postMessage({ id, error: message }); }
    wanted.delete(id);
  };
}

async function started(data, unpack) {
  try { return inThisThread(await unpack(data)); }
  catch { return async () => { throw new Error("The model is damaged. Copy or download the page again."); }; }
}

// A promise that is kept after the messages that have arrived; a timer would wait for milliseconds.
function ticking() {
  const { port1, port2 } = new MessageChannel();
  let go = [];
  port1.onmessage = () => { const now = go; go = []; now.forEach((one) => one()); };
  return () => new Promise((done) => { go.push(done); port2.postMessage(null); });
}
