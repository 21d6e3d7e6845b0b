// The explorer with a model in the same file or beside it (`webpage_data/one_file.py`).  The page draws itself while the
// browser still reads the rest; then a worker unpacks the model and answers.  The record of the lessons is read here.

import { inWorker } from "./engine.js";
import { explorer } from "./explorer.js";
import { progressBar, readParts } from "./parts.js";
import { recordIn } from "../answers/packed.js";

const PARTS = ["model", "weights", "replay", "lessons", "worker"];  // the last one is the end of the file
const DAMAGED = "This file is damaged or incomplete. Copy or download it again.";

export function openFile(home) {
  const settings = JSON.parse(document.getElementById("settings").textContent), { files } = settings;
  let engine = null;
  const begun = () => {
    engine ??= whole().then(() => files ? besides(files) : started());
    engine.catch(() => { if (files) engine = null; });  // each question says it, and the next one reads again
    return engine;
  };
  begun();
  home.textContent = "";
  if (settings.opened && !location.hash) location.replace(`#${settings.opened}`);
  explorer(home, { ...settings, reads: true, answer: async (route, body, signal) => {
    const { ask, lessons } = await begun();
    return route === "lessons" ? { record: await lessons(), own: false, running: false, said: [], may_run: false }
      : ask(route, body, signal);
  } });
}

const whole = () => new Promise((done) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", done); else done();
});

function started() {
  const [model, weights, replay, lessons, worker] = taken(PARTS);
  return { ask: inWorker(scriptOf(worker), { model, weights, replay }), lessons: () => recordIn(lessons) };
}

async function besides(files) {
  const bar = progressBar();
  try {
    const { model, weights } = await readParts(files, bar.told);
    return { ask: inWorker(scriptOf(...taken(["worker"])), { model, weights }, [weights]), lessons: () => null };
  } finally { bar.done(); }
}

// The texts of these elements, which are large, and then gone.
function taken(names) {
  const elements = names.map((name) => document.getElementById(name));
  if (!elements.every(Boolean)) throw new Error(DAMAGED);
  return elements.map((one) => { one.remove(); return one.textContent; });
}

const scriptOf = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
