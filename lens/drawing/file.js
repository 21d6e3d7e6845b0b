// The explorer with a model in the same file (`translate/web_page.py`).  The page draws itself while the browser still
// reads the rest; then a worker unpacks the model and answers.

import { inWorker } from "./engine.js";
import { explorer } from "./explorer.js";

const PARTS = ["model", "weights", "replay", "worker"];  // the last one is the end of the file
const DAMAGED = "This file is damaged or incomplete: copy or download it again.";

export function openFile(home) {
  const settings = JSON.parse(document.getElementById("settings").textContent), engine = whole().then(started);
  engine.catch(() => {});  // each question says it
  home.textContent = "";
  explorer(home, { ...settings, answer: async (route, body, signal) => (await engine)(route, body, signal) });
}

const whole = () => new Promise((done) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", done); else done();
});

function started() {
  const elements = PARTS.map((name) => document.getElementById(name));
  if (!elements.every(Boolean)) throw new Error(DAMAGED);
  const [model, weights, replay, worker] = elements.map((one) => one.textContent);
  elements.forEach((one) => one.remove());  // their texts are large
  return inWorker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })), { model, weights, replay });
}
