// The machine's numbers added up: what each block, each word and each head adds to the word that is followed.  In
// points of its logit (mode "for"), or of its lead over the best other word (mode "over").  Draws nothing.

import { sumOf } from "./machine_figures.js";

const SMALL = 0.3;    // points under which a layer's blocks are folded
const FEW = 4;        // layers that are never folded
const OPEN = 6;       // layers that stand open at most: those that add most
const columnSums = (rows) => rows[0].map((_, i) => sumOf(rows.map((row) => row[i])));
const largest = (values) => Math.max(...values.map(Math.abs));

export function sums(data, mode) {
  const parts = data.parts[mode], { encoder: read } = parts, { bias } = parts;
  const total = mode === "for" ? data.logit : data.margin;
  const [decoder, cross] = [parts.decoder.map(columnSums), parts.cross.map(columnSums)];
  const own = parts.embedding + parts.position + parts.constant;
  const values = decoder.flatMap((back, layer) => [
    { kind: "decoder", layer, value: sumOf(back) + bias[layer][0] },
    { kind: "cross", layer, value: sumOf(cross[layer]) + bias[layer][1] },
    { kind: "feed_forward", layer, value: parts.feed_forward[layer] },
  ]);
  const figures = tenths([own, ...values.map((one) => one.value)], total);
  return { mode, total, decoder, cross, own: { value: own, figure: figures[0] },
    blocks: values.map((one, i) => ({ ...one, figure: figures[i + 1] })),
    source: columnSums(cross), inputs: columnSums(decoder),
    heads: { encoder: read.heads, decoder: parts.decoder.map((layer) => layer.map(sumOf)),
      cross: parts.cross.map((layer) => layer.map(sumOf)) },
    read: { ...read, blocks: read.feed_forward.flatMap((alone, layer) => [
      { kind: "encoder", layer, value: sumOf(read.attention_rows[layer]) },
      { kind: "encoder_feed_forward", layer, value: sumOf(alone) }]) } };
}
export const blockOf = ({ blocks, read }, kind, layer) =>
  [...blocks, ...read.blocks].find((one) => one.kind === kind && one.layer === layer);

// Values rounded to tenths so that they add up to the total as it is shown: those that a tenth suits best take it.
function tenths(values, total) {
  const exact = values.map((one) => 10 * one), figures = exact.map(Math.round);
  const missing = Math.round(10 * total) - sumOf(figures), by = Math.sign(missing);
  const gain = (i) => by * (exact[i] - figures[i]);
  const order = [...figures.keys()].sort((a, b) => gain(b) - gain(a));
  for (const i of order.slice(0, Math.abs(missing))) figures[i] += by;
  return figures.map((one) => one / 10);
}

// What a row of the source holds of what the translation takes from it: before the first block, and after each.
export function growth({ read, source }, i) {
  const steps = read.attention_rows.flatMap((rows, layer) => [rows[i], read.feed_forward[layer][i]]);
  let sum = read.start[i];
  return [sum, ...steps.map((step, k) => (sum = k === steps.length - 1 ? source[i] : sum + step))];
}

// The layers that stand open, and the runs of those folded: [{ layer }] or [{ from, to, value }], in order.
export function folded(blocks, layers) {
  const all = [...Array(layers).keys()], of = (layer) => blocks.filter((one) => one.layer === layer);
  const most = all.map((layer) => largest(of(layer).map((one) => one.value)));
  const kept = [...all].sort((a, b) => most[b] - most[a]).slice(0, OPEN)
    .filter((layer, i) => !i || most[layer] >= SMALL);  // one always shows what a layer is
  const groups = [];
  for (const layer of all) {
    const value = sumOf(of(layer).map((one) => one.figure ?? one.value)), last = groups.at(-1);
    if (layers <= FEW || kept.includes(layer)) groups.push({ layer });
    else if (last?.to === layer - 1) Object.assign(last, { to: layer, value: last.value + value });
    else groups.push({ from: layer, to: layer, value });
  }
  return groups;
}

// Of parts of a sum, [{ value }, ...], the fewest, and the largest of those that add, which make more than half of `all`
// that adds; at most so many, and none below `least`.  `isMost`: whether they do; `against`: the part that takes most, if
// that is more than one of these adds.
export function mostOf(parts, { most: count = 3, least = 0, all } = {}) {
  const adding = parts.filter(({ value }) => value > least).sort((a, b) => b.value - a.value), most = [];
  const half = (all ?? sumOf(parts.map(({ value }) => Math.max(0, value)))) / 2, soFar = () => sumOf(most.map(valueOf));
  while (most.length < Math.min(count, adding.length) && soFar() <= half) most.push(adding[most.length]);
  const against = parts.reduce((found, one) => one.value < found.value ? one : found);
  return { most, isMost: soFar() > half, against: -against.value > (most.at(-1)?.value ?? least) ? against : null };
}
const valueOf = ({ value }) => value;

export const withoutBlock = ({ without }, layer) => without?.feed_forward.find((one) => one.layer === layer)?.margin;
