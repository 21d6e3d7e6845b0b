// The sentences of the machine that are made from numbers; each stands in an element with its kind in `data-says`.
// “Adds” is a direct path, exact as a sum; “without” is an effect: an average takes the place of a head or a block.

import { language, inLanguage } from "./languages.js";
import { html, listed } from "./markup.js";
import { factor, plain, signed, sumOf } from "./machine_figures.js";
import { mostSeen, namesOf, readWord, runnerUp, sourceWord, writtenWord } from "./machine_names.js";
import { blockOf, decisive, withoutBlock } from "./machine_sums.js";
import { bare } from "./trace.js";
import { capital, chance, count, percent, placeOf } from "./wording.js";

const MENTIONED = 0.5;  // points from which a part is named

// The attributes of something that says this sentence while the pointer or the focus is on it.
export const told = (kind, sentence) => html`data-tell="${String(sentence)}" data-kind="machine-${kind}"`;
export const said = (kind, sentence) => html`<p data-says="machine-${kind}">${sentence}</p>`;

const reads = ({ languages }) => language(languages[0], "the source");
const writes = ({ languages }) => language(languages[1], "the translation");
// Of a word or token of the source.
const readName = ({ languages }) => language(languages[0], "source");
const largestOf = (values) => values.reduce((best, one, i) => Math.abs(one) > Math.abs(values[best]) ? i : best, 0);
const figure = (value) => html`<b>${signed(value)}</b>`;

// What the figures count for.
export const goal = ({ mode }, data, trace) => mode === "for" ? writtenWord(trace, data.step)
  : html`${writtenWord(trace, data.step)} over ${runnerUp(data, trace)}`;

// --- what carried the word

export function carried(f, data, trace) {
  const alone = f.blocks.filter((one) => one.kind === "feed_forward");
  const parts = [
    ...alone.map(({ layer, value }) => [value, html`feed-forward layer ${layer + 1}`]),
    ...f.source.map((value, i) => [value, html`${reads(trace)} ${sourceWord(trace, i)}`]),
    ...f.inputs.map((value, j) => [value, html`${writes(trace)} ${readWord(trace, j)}`]),
    [f.own.value, html`${writes(trace)} ${readWord(trace, data.step)} itself`],
  ].filter(([value]) => value >= MENTIONED).sort((a, b) => b[0] - a[0]).slice(0, 3);
  if (!parts.length) return html`No single part adds much: many small ones do.`;
  const last = parts.pop()[1], rest = parts.map((one) => one[1]);
  return html`Most comes from ${rest.length ? html`${listed(rest, (one) => one)} and ` : ""}${last}.`;
}

// What becomes of the word's lead without the head that it depends on most; and how that head does it.  Figures on the
// lead's scale belong to the view that counts the lead.
export function effect({ mode }, data, trace) {
  const head = decisive(data), [word, runner] = [writtenWord(trace, data.step), runnerUp(data, trace)];
  if (!head) return html`What the heads do was not tried here: switching each off would take too long.`;
  if (data.margin <= 0) return html`The model itself prefers ${runner}, which leads ${word} by ${plain(-data.margin)}.`;
  if (head.margin > data.margin / 2) return html`No single head decides: with any one off, ${word} still leads ${
    runner} by ${plain(head.margin, data.margin < MENTIONED ? 2 : 1)} or more.`;
  const digits = data.margin < MENTIONED ? 2 : 1;
  const falls = html`falls from ${plain(data.margin, digits)} to ${plain(head.margin, digits)}`;
  const becomes = head.margin < 0 ? html`${runner} would be ahead: the lead of ${word} ${falls}`
    : html`its lead over ${runner} ${falls}`;
  return html`Without the head that ${looks(head, data, trace)}, ${becomes}${steering(mode, head, data, trace)}.`;
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
  if (mode === "for") return html`; that head also steers the feed-forward block of layer ${number}`;
  const itself = head.kind === "encoder" ? "" : html` the head itself adds ${
    figure(sumOf(parts.over[head.kind][head.layer][head.head]))}, and`;
  return html`;${itself} feed-forward layer ${number} adds ${figure(steers.before)} with it, ${
    figure(steers.after)} without`;
}
export function steered({ mode }, data, trace) {
  const { steers } = data, how = mode === "for" ? "" : html`: with it the block adds ${figure(steers.before)} to the
    lead over ${runnerUp(data, trace)}, without it ${figure(steers.after)}`;
  return html`The head that ${looks(steers, data, trace)} also steers this feed-forward block${how}.`;
}

// --- rows

export function sourceRow(f, data, trace, i) {
  const { encoder: lengths } = data.lengths;
  return html`${sourceWord(trace, i)} reaches ${goal(f, data, trace)} with ${figure(f.source[i])}, directly. Its vector
    is ${plain(lengths[0][i], 0)} long at first and ${plain(lengths.at(-1)[i], 0)} in the end.`;
}
export const inputRow = (f, data, trace, j) => html`${readWord(trace, j)} ${
  j > trace.record.given ? "is already written" : "was given to start from"}. Looking back at it adds ${
  figure(f.inputs[j])} to ${goal(f, data, trace)}.`;
export const lastRow = (f, data, trace) => html`${readWord(trace, data.step)} is the last word so far; ${
  writtenWord(trace, data.step)} is written from its vector. By itself it adds ${figure(f.own.figure)} to ${
  goal(f, data, trace)}, what the model adds at every step included.`;
export const river = (f, data, trace) => html`The vector from which the next word is written. Every block adds to it;
  together they give ${goal(f, data, trace)} <b>${plain(f.total)}</b>.`;

// --- blocks and paths

export function block(f, data, trace, kind, layer) {
  const { figure: value, value: exact } = blockOf(f, kind, layer), for_ = goal(f, data, trace), n = layer + 1;
  if (kind === "encoder") return html`${capital(readName(trace))} words pass information to each other. What layer ${
    n} passes on adds ${figure(exact)} to ${for_}.`;
  if (kind === "encoder_feed_forward") return html`Each ${readName(trace)} word is worked on alone. Layer ${n} adds ${
    figure(exact)} to ${for_}.`;
  if (kind !== "feed_forward") {
    const values = f[kind][layer], most = largestOf(values);
    const name = kind === "cross" ? sourceWord(trace, most) : readWord(trace, most);
    const least = Math.abs(values[most]) >= 0.05 ? html`; most from ${name}: ${figure(values[most])}` : "";
    const where = kind === "cross" ? html`at ${reads(trace)}` : html`back at ${writes(trace)}`;
    return html`Looking ${where}, layer ${n} adds ${figure(value)} to ${for_}${least}.`;
  }
  const neurons = data.parts.for.neurons?.[layer], without = withoutBlock(data, layer);
  const on = neurons ? html` ${count(neurons.active)} of its ${count(neurons.count)} neurons are on.` : "";
  const lead = without === undefined ? "" : html` Without it the lead over ${runnerUp(data, trace)} is ${
    plain(without)}, not ${plain(data.margin)}.`;
  return html`The feed-forward block of layer ${n} adds ${figure(value)} to ${for_}.${on}${lead}`;
}

export const fold = (f, data, trace, { from, to, value }) => html`${to > from ? `Layers ${from + 1} to ${to + 1} add`
  : `Layer ${from + 1} adds`} ${figure(value)} to ${goal(f, data, trace)} in all: little, so it is folded. Click to
  unfold.`;

// One word's way through one attention block.
export function strand(f, data, trace, kind, layer, i) {
  const shares = f.heads[kind][layer].map((_, head) =>
    trace.map({ kind, layer, head }, { unit: "tokens" }).at[data.step][i] ?? 0);
  const head = shares.indexOf(Math.max(...shares)), isLast = kind === "decoder" && i === data.step;
  const name = kind === "cross" ? sourceWord(trace, i) : readWord(trace, i);
  return html`Layer ${layer + 1} looked ${kind === "cross" ? "at" : "back at"} ${name}${isLast && ", the last word,"}
    (head ${head + 1}: ${percent(shares[head])}). That adds ${figure(f[kind][layer][i])} to ${goal(f, data, trace)}.`;
}
export function mixing(f, data, trace, layer, to, from) {
  const value = f.read.attention[layer][to][from];
  return html`Layer ${layer + 1}: ${sourceWord(trace, to)} looked at ${sourceWord(trace, from)}. What it took there
    adds ${figure(value)} to ${goal(f, data, trace)}.`;
}

// --- the choice

export const chanceOf = ({ step, id, top }, trace) =>
  top.find((one) => one.id === id)?.chance ?? Math.exp(trace.shown.log_probs[step]);
export const candidates = ({ id, top }) => top.filter((one) => one.id !== id).slice(0, 5);
export const candidateName = ({ text }, trace) => text === "</s>" ? html`<i>end</i>`
  : html`<span ${inLanguage(trace.languages[1])}>${bare(text)}</span>`;
export const choice = (data, trace) => html`All ${count(data.vocabulary)} tokens of the model get a score. ${
  writtenWord(trace, data.step)} gets ${plain(data.logit)}, so its chance is ${chance(chanceOf(data, trace))}.${
  data.margin > 0 ? html` It leads ${runnerUp(data, trace)} by ${plain(data.margin)}: each point is a factor of 2.7,
    so ${runnerUp(data, trace)} is ${factor(data.margin)} times less likely, as the model computes it.` : ""}`;
export const sumsTo = (f, data, trace) => html`Everything adds up to <b>${plain(f.total)}</b>, the ${
  f.mode === "for" ? "score" : "lead"} of ${goal(f, data, trace)}.`;

// What of a long sentence is not drawn.
export function leftOut(drawn, trace, f) {
  const { source, left } = drawn, { source: all } = trace.record, rest = all.length - source.length;
  const unseen = f && rest > 0 ? sumOf(f.source.filter((_, i) => !source.includes(i))) : 0;
  const says = [];
  if (rest > 0) says.push(html`The first ${source.length} of ${all.length} ${readName(trace)} tokens are drawn${
    f ? html`; the other ${rest} add ${figure(unseen)}` : ""}.`);
  const name = language(trace.languages[1], "translation");
  if (left) says.push(html`${left} of the ${name} tokens before this one are not drawn.`);
  return says;
}

// The largest parts, as they are shown.
export function largestParts(f, data, trace, most) {
  const [from, to] = [reads(trace), writes(trace)], layerOf = (kind, i) => largestOf(f[kind].map((one) => one[i]));
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
