// The questions of the lab’s tools: each is asked once, and the tool is drawn again when the answer arrives.

import { html, stretches } from "./markup.js";
import { changed } from "./diff.js";

// The answer to this question, null while it is awaited; `error` is a line for the reader.
export function answered(context, route, body) {
  const { state, ask, render } = context, key = JSON.stringify([route, body]), kept = state.lab[key];
  if (kept) return kept.waiting ? null : kept;
  state.lab[key] = { waiting: true };
  ask(route, body).catch((error) => ({ error: error.message }))
    .then((found) => { state.lab[key] = found; render(); });
  return null;
}

// The same of a tool of `/v1/inside`, about the translation shown.
export const inside = (context, trace, question) => answered(context, "inside",
  { question: { ...context.about(trace), ...question } });

// The answer as `draw` draws it, once it is there.
export const shown = (answer, draw) => !answer ? html`<p class="soft">Working it out…</p>`
  : answer.error ? html`<p>${answer.error}</p>` : draw(answer);

// A text with the words marked that another has not.
export const marked = (before, after) =>
  stretches(after, changed(before, after), (one) => html`<mark>${one}</mark>`);
