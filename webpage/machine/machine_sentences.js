// The sentences of the machine that are made from numbers; each stands in an element with its kind in `data-says`.
// “Adds” is a direct path, exact as a sum; “without” is an effect: an average takes the place of a head or a block.

import { language, inLanguage } from "../common/languages.js";
import { html, listed } from "../common/markup.js";
import { largestAt, plain, signed, sumOf } from "./machine_figures.js";
import { goal, headWords, leadOf, mostSeen, readWord, runnerUp, sourceWord, writtenWord } from "./machine_names.js";
import { LOOKED } from "./machine_layout.js";
import { blockOf, mostOf, withoutBlock } from "./machine_sums.js";
import { bare } from "../common/trace.js";
import { becomes, capital, chance, chanceRange, count, percent, placeOf, quoted } from "../common/wording.js";

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
  const { most, isMost, against } = mostOf([
    ...alone.map(({ layer, value }) => ({ value, name: html`feed-forward layer ${layer + 1}` })),
    ...f.source.map((value, i) => ({ value, name: html`${reads(trace)} ${sourceWord(trace, i)}` })),
    ...f.inputs.map((value, j) => ({ value, name: html`${writes(trace)} ${readWord(trace, j)}` })),
    { value: f.own.value, name: html`${writes(trace)} ${readWord(trace, data.step)} itself` },
  ], { least: MENTIONED });
  const counts = against && html` Against it counts above all ${against.name}: ${figure(against.value)}.`;
  if (!most.length) return html`No single part adds much. Many small parts add up.${counts}`;
  const last = most.at(-1).name, rest = most.slice(0, -1);
  const all = html`${rest.length > 0 && html`${listed(rest, ({ name }) => name)} and `}${last}`;
  return html`${isMost ? "Most of what adds to it comes" : most.length > 1 ? "The largest parts come"
    : "The largest part comes"} from ${all}.${counts}`;
}

// What becomes of the word without the head that matters most for it, and how that head does it.  The same effects
// decide this as in Explore; figures on the lead's scale belong to the view that counts the lead.
export function effect({ mode }, data, trace) {
  const { step, margin } = data, [word, runner] = [writtenWord(trace, step), runnerUp(data, trace)];
  if (!trace.effectsKnown) return trace.evidence ? html`The heads were not switched off here, because that would take
    too long.` : html`Which heads matter is not known yet.`;
  const own = quoted(trace.unitAt("target", step).label, trace.languages[1]), [head] = trace.mattering(step);
  const behind = margin <= 0 && html`The model itself prefers ${runner}, which leads ${word} by ${plain(-margin)}. `;
  const without = mode === "over" && !behind ? data.without : null;
  if (!head) return html`${behind}No head matters alone for ${own}: with any one of the ${
    trace.heads.length} heads off, its chance is ${chanceRange(trace.effects(step))}.${without
      && html` The lead of ${word} over ${runner} is then at least ${lead(leastOf(without), margin)}.`}`;
  const off = without?.heads.find((one) => isSame(one, head));
  return html`${behind}Without the head ${headWords(head, { step: head.kind === "encoder" ? step : head.step }, trace)}, ${
    becomes(trace, step, head)}.${off && html` The lead of ${word} over ${runner} goes from ${
    lead(margin, margin)} to ${lead(off.margin, margin)}.`}${steering(mode, head, data, trace)}`;
}
const lead = (value, margin) => plain(value, margin < MENTIONED ? 2 : 1);
const leastOf = ({ heads }) => Math.min(...heads.map((one) => one.margin));
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

// One word's way through one attention block: with the heads that most of it came through, if they are one or two.
export function strand(f, data, trace, kind, layer, i) {
  const shares = sharesOf(trace, kind, layer, data.step, i), value = f[kind][layer][i];
  const { most, isMost } = mostOf(data.parts[f.mode][kind][layer].map((one, head) =>
    ({ value: Math.sign(value) * one[i], head })), { most: 2, all: Math.abs(value) });
  const isLast = kind === "decoder" && i === data.step, back = kind === "cross" ? "at" : "back at";
  const name = kind === "cross" ? sourceWord(trace, i) : readWord(trace, i);
  const head = ({ head: n }) => html`${most.length > 1 ? "" : "head "}${n + 1}: ${percent(shares[n])}`;
  return html`Layer ${layer + 1} ${looked(shares)} ${back} ${name}${isLast && ", the last word,"}${isMost
    && html` (${most.length > 1 && "heads "}${listed(most, head)})`}. This adds ${figure(value)} to ${goal(f, data, trace)}.`;
}
export function mixing(f, data, trace, layer, to, from) {
  const shares = sharesOf(trace, "encoder", layer, to, from);
  return html`In layer ${layer + 1}, ${sourceWord(trace, to)} ${looked(shares)} at ${sourceWord(trace, from)}. What was
    taken from there adds ${figure(f.read.attention[layer][to][from])} to ${goal(f, data, trace)}.`;
}
// What each head of a layer gives from a row to a column.
const sharesOf = (trace, kind, layer, row, column) => trace.layers(kind)[layer].map((head) =>
  trace.map(head, { unit: "tokens" }).at[row][column] ?? 0);
const looked = (shares) => Math.max(...shares) >= LOOKED ? "looked" : "hardly looked";

// --- the choice

export const chanceOf = ({ step, id, top }, trace) =>
  top.find((one) => one.id === id)?.chance ?? Math.exp(trace.shown.log_probs[step]);
export const candidates = ({ id, top }) => top.filter((one) => one.id !== id).slice(0, 5);
export const candidateName = ({ text }, trace) => text === "</s>" ? html`<i>end</i>`
  : html`<span ${inLanguage(trace.languages[1])}>${bare(text)}</span>`;
export const choice = (data, trace) => html`All ${count(data.vocabulary)} tokens of the model get a score. ${
  writtenWord(trace, data.step)} gets ${plain(data.logit)}, so its chance is ${chance(chanceOf(data, trace))}.${
  data.margin > 0 ? html` It leads ${runnerUp(data, trace)} by ${plain(data.margin)}. ${points(data, trace)}` : ""}`;
// What a lead means for the chances.
export function points(data, trace) {
  const runner = data.top.find((one) => one.id === data.runner.id);
  return runner && html`So the chance of ${runnerUp(data, trace)} is <b>${chance(runner.chance)}</b>.`;
}
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
