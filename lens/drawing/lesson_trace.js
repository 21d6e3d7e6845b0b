// What lessons read from an answer of `look`: its trace, made once, and the words of a step.

import { figure, text } from "./lesson_parts.js";
import { html, isNarrow } from "./markup.js";
import { Trace, headOf, nameOf } from "./trace.js";
import { TECHNICAL, placeOf } from "./wording.js";

const traces = new WeakMap();
export function traceIn(answer) {
  if (!traces.has(answer)) traces.set(answer, new Trace(answer.traces[0], answer.measured));
  return traces.get(answer);
}

// The step that writes a word of the translation.
export const stepOf = (trace, word) => trace.words("target").find((one) => one.text === word).pieces[0];
// The chance of the word of a step, with every head and with one of them off.
export const chanceAt = (trace, step) => trace.chance(trace.unitAt("target", step));
export const chanceWithout = (trace, head, step) => trace.effect(head, step).chance;

export const headTitle = (head) => `${TECHNICAL[head.kind]}, ${placeOf(head)}`;

// One control: every head of these kinds as a button, a row for each layer.  What it sets is the head's name.
export function headButtons(trace, kinds, chosen) {
  const button = (head) => html`<button class="pick" data-set="head" data-value="${JSON.stringify(nameOf(head))}"
    data-k="head-${nameOf(head)}" aria-pressed="${nameOf(head) === nameOf(chosen)}"
    aria-label="${headTitle(head)}">${head.head + 1}</button>`;
  const blockOf = ({ kind, layer }) => `${isNarrow() ? kind : TECHNICAL[kind]}, layer ${layer + 1}`;
  const row = (heads) => html`<tr><th scope="row">${blockOf(heads[0])}</th><td
    class="picks">${heads.map(button)}</td></tr>`;
  return html`<table class="head-picks"><caption>Choose a head</caption>${
    kinds.flatMap((kind) => trace.layers(kind)).map(row)}</table>`;
}
export const chosenHead = (name, otherwise) => name ? headOf(name) : otherwise;

// A text that takes a line of its own in a picture, and the y below it.
export const heading = (y, words, how = "soft") => text(0, y, words, { how });
export const one = (value) => figure(value, 1);
