// The questions of the lab’s tools: each is asked once, and the tool is drawn again when the answer arrives.

import { html, stretches } from "./markup.js";
import { changed } from "./diff.js";

// The answer to this question, null until it arrives; `error` is a line for the reader.
export function answered(context, route, body) {
  const { state, ask, render } = context, key = JSON.stringify([route, body]);
  if (key in state.lab) return state.lab[key];
  state.lab[key] = null;
  ask(route, body).catch((error) => ({ error: error.message }))
    .then((found) => { state.lab[key] = found; render(); });
  return null;
}

// What failed is asked again when a tool is opened.
export function forgetErrors(lab) {
  for (const [key, one] of Object.entries(lab)) if (one?.error) delete lab[key];
}

// The same for a tool of `/v1/inside`, about the translation shown.
export const inside = (context, trace, question) => answered(context, "inside",
  { question: { ...context.about(trace), ...question } });

// The answer, drawn by `draw` once it has arrived.
export const shown = (answer, draw) => !answer ? html`<p class="soft">Working it out…</p>`
  : answer.error ? html`<p>${answer.error}</p>` : draw(answer);

// The second text, with the words that the first lacks marked.
export const marked = (before, after) =>
  stretches(after, changed(before, after), (one) => html`<mark>${one}</mark>`);
