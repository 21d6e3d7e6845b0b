// The lessons: as shipped with the package, or as run on this machine's model.

import { html, paint } from "./markup.js";
import { pageOf } from "./state.js";

const EVERY = 3000;  // milliseconds between two looks at a run

// Shows them once, in the page's theme; with `body` again: `run` starts a run.
export async function lessons(element, context, body) {
  const { state } = context;
  sendState(element.querySelector("iframe"), state);
  if (element.asked && !body) return;
  element.asked = true;
  const found = await context.engine("lessons", body ?? {}).catch((error) => ({ error: error.message }));
  element.asked = !found.error;
  if (found.error) return paint(element, html`<p class="soft">${found.error}</p>`);
  const origin = found.running
    ? "The lessons are running, for 10 to 20 minutes on two cores. You can use the page meanwhile."
    : found.own ? "Run on this machine’s model." : "Run on the packaged model storybook.";
  const run = html`<button class="chip" data-run>Run on this model</button>`;
  paint(element, html`<div class="lessons-bar second"><span>${origin}</span>${
    found.may_run && !found.running ? run : ""}</div>${
    found.running ? html`<pre role="status">${found.said.join("\n")}</pre>`
      : html`<iframe class="frame" title="Lessons" sandbox="allow-scripts allow-popups"></iframe>`}`);
  const frame = element.querySelector("iframe");
  if (frame) {
    frame.srcdoc = found.html.replace("<html ", `<html data-theme="${state.theme}" `);
    frame.addEventListener("load", () => sendState(frame, state));
  }
  element.querySelector("[data-run]")?.addEventListener("click", () => lessons(element, context, { run: true }));
  if (found.running) setTimeout(() => { if (element.isConnected) lessons(element, context, {}); }, EVERY);
}

// The frame is sandboxed and has no origin: it gets the theme and the lesson of the address, and reports its links.
const sendState = (frame, { theme }) => frame?.contentWindow?.postMessage({ theme, at: location.hash.slice(1) }, "*");

export function followLessons(element) {
  addEventListener("message", ({ data, source }) => {
    const isTheirs = source && source === element.querySelector("iframe")?.contentWindow;
    if (isTheirs && pageOf({ hash: `#${data?.at}` }) === "lessons") location.hash = data.at;
  });
}
