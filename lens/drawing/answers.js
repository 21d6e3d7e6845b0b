// What a tool of the lab asked and was told: asked once for each question, drawn again when the answer is there.

import { html } from "./markup.js";
import { changed } from "./diff.js";

// The answer to this question, null while it is awaited; `error` is a line for the reader.
export function answered(context, route, body) {
  const { state, ask, render } = context, key = JSON.stringify([route, body]), kept = state.lab[key];
  if (kept) return kept.waiting ? null : kept;
  state.lab[key] = { waiting: true };
  ask(route, body).then((found) => { state.lab[key] = found; }, (error) =>
    { state.lab[key] = { error: error.message }; }).then(render);
  return null;
}

// The same of a tool of `/v1/inside`, about the translation shown.
export const inside = (context, trace, question) => answered(context, "inside",
  { question: { ...context.about(trace), ...question } });

export const waiting = html`<p class="soft">Working it out…</p>`;
export const failed = (answer) => html`<p>${answer.error}</p>`;

// A text with the words marked that another has not.
export function marked(before, after) {
  const out = []; let at = 0;
  for (const [start, end] of changed(before, after)) { out.push(after.slice(at, start),
    html`<mark>${after.slice(start, end)}</mark>`); at = end; }
  return html`${out}${after.slice(at)}`;
}
