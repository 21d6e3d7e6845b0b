// What the lab’s tools share.  Each question is asked once, and the tool is drawn again when the answer arrives.

import { changed, html, stretches } from "./markup.js";

// The answer to this question, null until it arrives; `error` is a line for the reader.
export function answered(context, route, body) {
  const { state, ask, render } = context, key = JSON.stringify([route, body]);
  if (key in state.lab) return state.lab[key];
  state.lab[key] = null;
  ask(route, body).then((found) => { state.lab[key] = found; render(); }, (error) => {
    if (error.name === "AbortError") delete state.lab[key];  // another text is shown
    else { state.lab[key] = { error: error.message }; render(); }
  });
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
export const shown = (answer, draw) => !answer ? html`<p class="soft">Computing…</p>`
  : answer.error ? html`<p>${answer.error}</p>` : draw(answer);

// The second text, with the words that the first lacks marked.
export const marked = (before, after) =>
  stretches(after, changed(before, after), (one) => html`<mark>${one}</mark>`);

// A labelled control that keeps its value in `state.lab` by name; `draw` draws it with these attributes.
export const noted = (name, label, draw) => html`<label class="ask second"><span>${label}</span>${
  draw(html`data-note="${name}" data-k="note-${name}"`)}</label>`;
export const notedText = (name, label, value) =>
  noted(name, label, (on) => html`<input type="text" value="${value}" ${on}>`);

// What may be wider than the page; it can be scrolled with the keyboard too.
export const scrollable = (label, content) =>
  html`<div class="scrollx" tabindex="0" role="region" aria-label="${label}">${content}</div>`;
export const table = (label, head, rows) => scrollable(label,
  html`<table class="t"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table>`);
