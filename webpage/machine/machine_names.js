// What the machine's words, blocks and heads are called, and where a head looks.

import { LOOKED } from "./machine_layout.js";
import { html } from "../common/markup.js";
import { bare } from "../common/trace.js";
import { direction, placeOf, quoted } from "../common/wording.js";

// The tokens of a side: source, target, or inputs, which are what the translation's steps read.
export const namesOf = (trace, side) => trace.once(`names ${side}`, () => trace.record[side].map((one, i) =>
  one.special ? trace.label(one, side, i) : trace.record.labels[side][i]));
export const sourceWord = (trace, i) => quoted(namesOf(trace, "source")[i], trace.languages[0]);
export const readWord = (trace, i) => quoted(namesOf(trace, "inputs")[i], trace.languages[1]);
export const writtenWord = (trace, i) => quoted(namesOf(trace, "target")[i], trace.languages[1]);
export const runnerUp = ({ runner }, trace) => quoted(bare(runner.text), trace.languages[1]);

// What the figures add to: the score of the word written, or its lead over the runner-up.
export const goal = ({ mode }, data, trace) => mode === "for" ? html`the score of ${writtenWord(trace, data.step)}`
  : leadOf(data, trace);
export const goalOf = ({ data, trace, state }) => goal(state.machine, data, trace);

// The same over a column of figures.
export const countOf = ({ state }) => state.machine.mode === "for" ? "the score" : "the lead";

// A row of a head's map: the word that is read, and the one that is written from it.
export const rowName = (trace, kind, i) => kind === "encoder" ? sourceWord(trace, i)
  : html`${readWord(trace, i)} → ${writtenWord(trace, i)}`;
// A column: the word that is looked at.
export const columnName = (trace, kind, i) => kind === "decoder" ? readWord(trace, i) : sourceWord(trace, i);

export const isAttention = (kind) => ["encoder", "decoder", "cross"].includes(kind);
const ALONE = "Each word on its own";
export const blockName = (kind, { languages }) => isAttention(kind) ? direction(kind, languages)
  : { choose: "Choose the word", lens: "What would each layer write?" }[kind] ?? ALONE;
export const FAMILY = { encoder: "self-attention", decoder: "masked self-attention", cross: "cross-attention",
  feed_forward: "feed-forward block", encoder_feed_forward: "encoder feed-forward block", choose: "logits → softmax",
  lens: "logit lens" };

// The rows of a head's map that write something, from `first` on, and its columns, by token.
export function mapOf(trace, head) {
  const { rows, columns, at, most } = trace.map(head, { unit: "tokens" });
  const first = head.kind === "encoder" ? 0 : trace.record.given;
  return { first, rows: rows.slice(first), columns, at: at.slice(first), most };
}

// Where a row of a head looks most: [column, share].
export function mostSeen(trace, head, row) {
  const { first, at } = mapOf(trace, head), shares = at[row - first].map((one) => one ?? 0), most = Math.max(...shares);
  return [shares.indexOf(most), most];
}

// A head by what it does at this step: "that looks back at chat".
export function headWords(head, { step }, trace) {
  if (head.kind === "encoder") return html`within the source (${placeOf(head)})`;
  const [column, share] = mostSeen(trace, head, step), looks = head.kind === "decoder" ? "looks back at" : "looks at";
  return html`that ${looks} ${share < LOOKED ? "many words" : columnName(trace, head.kind, column)} (${placeOf(head)})`;
}
export const leadOf = (data, trace) =>
  html`the lead of ${writtenWord(trace, data.step)} over ${runnerUp(data, trace)}`;
