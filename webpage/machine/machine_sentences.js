// The sentences of the machine that are made from numbers; each stands in an element with its kind in `data-says`.
// “Adds” is a direct path, exact as a sum; “without” is an effect: an average takes the place of a head or a block.

import { language, inLanguage } from "../common/languages.js";
import { html, listed } from "../common/markup.js";
import { factor, largestAt, plain, signed, sumOf } from "./machine_figures.js";
import { goal, leadOf, mostSeen, readWord, runnerUp, sourceWord, writtenWord } from "./machine_names.js";
import { blockOf, decisive, withoutBlock } from "./machine_sums.js";
import { bare } from "../common/trace.js";
import { capital, chance, count, percent, placeOf } from "../common/wording.js";

const MENTIONED = 0.5;  // points from which a part is named

// The attributes of something that says this sentence while the pointer or the focus is on it.
export const tooltip = (kind, sentence) => html`data-tell="${String(sentence)}" data-kind="machine-${kind}"`;
export const paragraph = (kind, sentence) => html`<p data-says="machine-${kind}">${sentence}</p>`;

const reads = ({ languages }) => language(languages[0], "the source");
const writes = ({ languages }) => language(languages[1], "the translation");
// Of a word or token of the source.
const readName = ({ languages }) => language(languages[0], "source");
const figure = (value) => html`<b>${signed(value)}</b>`;

// --- what carried the word

export function carried(f, data, trace) {
  const alone = f.blocks.filter((one) => one.kind === "feed_forward");
  const parts = [
    ...alone.map(({ layer, value }) => [value, html`feed-forward layer ${layer + 1}`]),
    ...f.source.map((value, i) => [value, html`${reads(trace)} ${sourceWord(trace, i)}`]),
    ...f.inputs.map((value, j) => [value, html`${writes(trace)} ${readWord(trace, j)}`]),
    [f.own.value, html`${writes(trace)} ${readWord(trace, data.step)} itself`],
  ].filter(([value]) => value >= MENTIONED).sort((a, b) => b[0] - a[0]).slice(0, 3);
  if (!parts.length) return html`No single part adds much. Many small parts add up.`;
  const last = parts.pop()[1], rest = parts.map((one) => one[1]);
  return html`Most comes from ${rest.length ? html`${listed(rest, (one) => one)} and ` : ""}${last}.`;
}

// What becomes of the word's lead without the head that it depends on most; and how that head does it.  Figures on the
// lead's scale belong to the view that counts the lead.
export function effect({ mode }, data, trace) {
  const head = decisive(data), [word, runner] = [writtenWord(trace, data.step), runnerUp(data, trace)];
  if (!head) return html`The heads were not switched off here, because that would take too long.`;
  if (data.margin <= 0) return html`The model itself prefers ${runner}, which leads ${word} by ${plain(-data.margin)}.`;
  if (head.margin > data.margin / 2) return html`No single head decides between ${word} and ${
    runner}. With any one head off, ${word} still leads ${runner} by at least ${plain(head.margin, data.margin < MENTIONED ? 2 : 1)}.`;
  const digits = data.margin < MENTIONED ? 2 : 1;
  const falls = html`falls from ${plain(data.margin, digits)} to ${plain(head.margin, digits)}`;
  const becomes = head.margin < 0 ? html`${runner} would be ahead. The lead of ${word} ${falls}`
    : html`the lead of ${word} over ${runner} ${falls}`;
  return html`Without the head that ${looks(head, data, trace)}, ${becomes}.${steering(mode, head, data, trace)}`;
}
const looks = (head, data, trace) => {
  if (head.kind === "encoder") return html`mixes ${readName(trace)} words (${placeOf(head)})`;
  const [column] = mostSeen(trace, head, data.step);
  return head.kind === "cross" ? html`looks at ${sourceWord(trace, column)}`
    : html`looks back at ${readWord(trace, column)}`;
};
const isSame = (one, other) => one.kind === other.kind && one.layer === other.layer && one.head === other.head;
// The link between the direct path and the effect: of the lead, the head adds this itself, and that through a block.
function steering(mode, head, { steers, parts }) {
  if (!steers || !isSame(steers, head)) return "";
  const number = steers.feed_forward + 1;
  if (mode === "for") return html` That head also steers feed-forward layer ${number}.`;
  const itself = head.kind === "encoder" ? "" : html` The head itself adds ${
    figure(sumOf(parts.over[head.kind][head.layer][head.head]))}.`;
  return html`${itself} Feed-forward layer ${number} ${adding(steers)}`;
}
// What a block adds to the lead with the head that steers it, and without that head.
const adding = ({ before, after }, to = "") => html`adds ${figure(before)}${to} with the head and ${
  figure(after)} without it.`;
export const steeredBlock = (data, trace) => html`The block ${adding(data.steers, html` to ${leadOf(data, trace)}`)}`;
export const steered = ({ mode }, data, trace) => html`The head that ${
  looks(data.steers, data, trace)} also steers this feed-forward block.${
  mode === "over" && html` ${steeredBlock(data, trace)}`}`;

// --- rows

export function sourceRow(f, data, trace, i) {
  const { encoder: lengths } = data.lengths;
  return html`Looking at ${sourceWord(trace, i)} adds ${figure(f.source[i])} to ${goal(f, data, trace)}. The length of
    its vector is ${plain(lengths[0][i], 0)} before the first layer and ${plain(lengths.at(-1)[i], 0)} after the last.`;
}
export const inputRow = (f, data, trace, j) => html`${readWord(trace, j)} ${
  j > trace.record.given ? "is already written" : "was given to the model"}. Looking back at it adds ${
  figure(f.inputs[j])} to ${goal(f, data, trace)}.`;
export const lastRow = (f, data, trace) => html`${readWord(trace, data.step)} is the last word so far. The model
  writes ${writtenWord(trace, data.step)} from its vector. The word itself adds ${figure(f.own.figure)} to ${
  goal(f, data, trace)}. This includes a part that is the same at every step.`;
export const river = (f, data, trace) => html`The model writes the next word from this vector. Every block adds to
  it. In total, ${goal(f, data, trace)} is <b>${plain(f.total)}</b>.`;

// --- blocks and paths

export function block(f, data, trace, kind, layer) {
  const { figure: value, value: exact } = blockOf(f, kind, layer), for_ = goal(f, data, trace), n = layer + 1;
  if (kind === "encoder") return html`${capital(readName(trace))} words pass information to each other. What is
    passed on in layer ${n} adds ${figure(exact)} to ${for_}.`;
  if (kind === "encoder_feed_forward") return html`This block works on each ${readName(trace)} word alone.
    In layer ${n} it adds ${figure(exact)} to ${for_}.`;
  if (kind !== "feed_forward") {
    const values = f[kind][layer], most = largestAt(values);
    const name = kind === "cross" ? sourceWord(trace, most) : readWord(trace, most);
    const least = Math.abs(values[most]) >= 0.05 ? html` The largest part is from ${name}: ${
      figure(values[most])}.` : "";
    const where = kind === "cross" ? html`at ${reads(trace)}` : html`back at ${writes(trace)}`;
    return html`By looking ${where}, layer ${n} adds ${figure(value)} to ${for_}.${least}`;
  }
  const neurons = data.parts.for.neurons?.[layer], without = withoutBlock(data, layer);
  const on = neurons ? html` ${count(neurons.active)} of its ${count(neurons.count)} neurons are active.` : "";
  const lead = without === undefined ? "" : html` Without this block, ${leadOf(data, trace)} is ${
    plain(without)} instead of ${plain(data.margin)}.`;
  return html`The feed-forward block of layer ${n} adds ${figure(value)} to ${for_}.${on}${lead}`;
}

export const fold = (f, data, trace, { from, to, value }) => html`${to > from ? `Layers ${from + 1} to ${to + 1} add`
  : `Layer ${from + 1} adds`} only ${figure(value)} to ${goal(f, data, trace)}, and ${to > from ? "are" : "is"} folded.
  Select to unfold.`;

// One word's way through one attention block.
export function strand(f, data, trace, kind, layer, i) {
  const shares = f.heads[kind][layer].map((_, head) =>
    trace.map({ kind, layer, head }, { unit: "tokens" }).at[data.step][i] ?? 0);
  const head = shares.indexOf(Math.max(...shares)), isLast = kind === "decoder" && i === data.step;
  const name = kind === "cross" ? sourceWord(trace, i) : readWord(trace, i);
  return html`Layer ${layer + 1} looked ${kind === "cross" ? "at" : "back at"} ${name}${isLast && ", the last word,"}
    (head ${head + 1}: ${percent(shares[head])}). This adds ${figure(f[kind][layer][i])} to ${goal(f, data, trace)}.`;
}
export function mixing(f, data, trace, layer, to, from) {
  const value = f.read.attention[layer][to][from];
  return html`In layer ${layer + 1}, ${sourceWord(trace, to)} looked at ${sourceWord(trace, from)}. What was taken from
    there adds ${figure(value)} to ${goal(f, data, trace)}.`;
}

// --- the choice

export const chanceOf = ({ step, id, top }, trace) =>
  top.find((one) => one.id === id)?.chance ?? Math.exp(trace.shown.log_probs[step]);
export const candidates = ({ id, top }) => top.filter((one) => one.id !== id).slice(0, 5);
export const candidateName = ({ text }, trace) => text === "</s>" ? html`<i>end</i>`
  : html`<span ${inLanguage(trace.languages[1])}>${bare(text)}</span>`;
export const choice = (data, trace) => html`All ${count(data.vocabulary)} tokens of the model get a score. ${
  writtenWord(trace, data.step)} gets ${plain(data.logit)}, so its chance is ${chance(chanceOf(data, trace))}.${
  data.margin > 0 ? html` It leads ${runnerUp(data, trace)} by ${plain(data.margin)}. ${points(data, trace)}` : ""}`;
// What a lead means for the chances, of which these are raw.
export const points = (data, trace) => html`Each point is a factor of 2.7, so ${runnerUp(data, trace)} is <b>${
  factor(data.margin)}</b> times less likely by the raw chances.`;
export const sumsTo = (f, data, trace) => html`All parts add up to <b>${plain(f.total)}</b>, ${
  goal(f, data, trace)}.`;

// What of a long sentence is not drawn.
export function leftOut(drawn, trace, f) {
  const { source, left } = drawn, { source: all } = trace.record, rest = all.length - source.length;
  const unseen = f && rest > 0 ? sumOf(f.source.filter((_, i) => !source.includes(i))) : 0;
  const says = [];
  if (rest > 0) says.push(html`Only the first ${source.length} of ${all.length} ${readName(trace)} tokens are drawn.${
    f ? html` The other ${rest} add ${figure(unseen)}.` : ""}`);
  const name = language(trace.languages[1], "translation");
  if (left) says.push(html`${left} of the ${name} tokens before this word are not drawn.`);
  return says;
}

// The largest parts, as they are shown.
export function largestParts(f, data, trace, most) {
  const [from, to] = [reads(trace), writes(trace)], layerOf = (kind, i) => largestAt(f[kind].map((one) => one[i]));
  const all = [
    ...f.source.map((value, i) => ({ value, key: `cross:${i}`, tone: "blue", name: sourceWord(trace, i),
      about: `looking at ${from}`, open: { kind: "cross", layer: layerOf("cross", i) } })),
    ...f.inputs.map((value, j) => ({ value, key: `decoder:${j}`, tone: "green", name: readWord(trace, j),
      about: j === data.step ? "the last word, looking at itself" : `looking back at ${to}`,
      open: { kind: "decoder", layer: layerOf("decoder", j) } })),
    ...f.blocks.filter((one) => one.kind === "feed_forward").map(({ layer, figure: value }) => ({ value, tone: "slate",
      key: `feed_forward:${layer}`, name: "each word on its own", about: `feed-forward, layer ${layer + 1}`,
      open: { kind: "feed_forward", layer } })),
    { value: f.own.figure, key: "own", tone: "ochre", name: html`${readWord(trace, data.step)} itself`,
      about: "the last word so far", open: null },
  ];
  return all.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, most);
}
