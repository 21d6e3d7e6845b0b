// The explorer with a model in the same file (`webpage_data/one_file.py`).  The page draws itself while the browser still
// reads the rest; then a worker unpacks the model and answers.  The record of the lessons is read here.

import { inWorker } from "./engine.js";
import { explorer } from "./explorer.js";
import { recordIn } from "../answers/packed.js";

const PARTS = ["model", "weights", "replay", "lessons", "worker"];  // the last one is the end of the file
const DAMAGED = "This file is damaged or incomplete. Copy or download it again.";

export function openFile(home) {
  const settings = JSON.parse(document.getElementById("settings").textContent), engine = whole().then(started);
  engine.catch(() => {});  // each question says it
  home.textContent = "";
  if (settings.opened && !location.hash) location.replace(`#${settings.opened}`);
  explorer(home, { ...settings, answer: async (route, body, signal) => {
    const { ask, lessons } = await engine;
    return route === "lessons" ? { record: await lessons(), own: false, running: false, said: [], may_run: false }
      : ask(route, body, signal);
  } });
}

const whole = () => new Promise((done) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", done); else done();
});

function started() {
  const elements = PARTS.map((name) => document.getElementById(name));
  if (!elements.every(Boolean)) throw new Error(DAMAGED);
  const [model, weights, replay, lessons, worker] = elements.map((one) => one.textContent);
  elements.forEach((one) => one.remove());  // their texts are large
  const script = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  return { ask: inWorker(script, { model, weights, replay }), lessons: () => recordIn(lessons) };
}
