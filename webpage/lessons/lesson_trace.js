// What the lessons about heads read from an answer of `look`, and the buttons that choose a head.

import { html, isNarrow } from "../common/markup.js";
import { Trace, headOf, nameOf } from "../common/trace.js";
import { TECHNICAL, capital, placeOf } from "../common/wording.js";

const traces = new WeakMap();
export function traceIn(answer) {
  if (!traces.has(answer)) traces.set(answer, new Trace(answer.traces[0], answer.measured));
  return traces.get(answer);
}

// The step that writes a word of the translation.
export const stepOf = (trace, word) => trace.words("target").find((one) => one.text === word).pieces[0];
// The chance of the word of a step, with every head and with one of them off.
export const chanceAt = (trace, step) => trace.chance(trace.unitAt("target", step));
export function chanceWithout(trace, head, step) {
  const effect = trace.effect(head, step);
  if (!effect) throw new Error("Switching heads off takes too long with this model, so this lesson has no numbers.");
  return effect.chance;
}
// The shares of a step's row, with the words that get them; `view` as in `Trace.map`.
export function rowAt(trace, head, step, view = "raw") {
  const { rows, columns, at } = trace.map(head, { view }), row = rows.findIndex((one) => one.pieces.includes(step));
  return columns.map(({ label, special }, i) => ({ label, special, value: at[row][i] }))
    .filter(({ value }) => value !== null);
}
export const largest = (row, name = "value") => row.reduce((best, one) => one[name] > best[name] ? one : best);

export const headTitle = (head) => `${TECHNICAL[head.kind]}, ${placeOf(head)}`;
export const HeadTitle = (head) => capital(headTitle(head));

// One control: every head of these kinds as a button, a row for each layer.  It sets `head` to the name of one.
export function headButtons(trace, kinds, chosen) {
  const button = (head) => html`<button class="pick" data-set="head" data-value="${JSON.stringify(nameOf(head))}"
    data-k="head-${nameOf(head)}" aria-pressed="${nameOf(head) === nameOf(chosen)}"
    aria-label="${headTitle(head)}">${head.head + 1}</button>`;
  const block = ({ kind, layer }) => `${isNarrow() ? kind : TECHNICAL[kind]}, layer ${layer + 1}`;
  const row = (heads) => html`<tr><th scope="row">${block(heads[0])}</th><td
    class="picks">${heads.map(button)}</td></tr>`;
  return html`<table class="head-picks"><caption>Choose a head</caption>${
    kinds.flatMap((kind) => trace.layers(kind)).map(row)}</table>`;
}
// The head of this name; without a name another one.
export const chosenHead = (name, otherwise) => name ? headOf(name) : otherwise;
