// The river: the vector of the next word, in bands by where it comes from, and the strands that flow into it.
// Thickness is what is added to the word that is followed, in points; what counts against it is dashed.

import { html } from "../common/markup.js";
import { growth } from "./machine_sums.js";
import { strand as aboutStrand, block as aboutBlock, mixing, river as aboutRiver, tooltip
  } from "./machine_sentences.js";

const POINT = 3.3;              // pixels of thickness for a point, where there is room
const LEAST = 0.12, SHARE = 0.01;  // points, and share of the sum, from which a path is drawn
const HOT = 0.18;        // points from which a row is marked
const THINNEST = 1.2;
const BANDS = ["cross", "decoder", "own", "feed_forward"];  // from top to bottom; what counts against lies below
const TONES = { cross: "blue", decoder: "green", own: "ochre", feed_forward: "slate", encoder: "blue",
  encoder_feed_forward: "blue", against: "orange" };
const toneOf = (kind, value) => value < 0 ? "orange" : TONES[kind];
// Of what a block adds, as a figure.
export const figureTone = (kind, value) => Math.abs(value) < 0.05 ? "soft" : toneOf(kind, value);
const positive = (value) => Math.max(0, value);

export const isUsed = (value) => Math.abs(value) >= HOT;
const isDrawn = (value, total) => Math.abs(value) >= Math.max(LEAST, SHARE * Math.abs(total));
// Whether a path of this row of the source is drawn.
export const hasPath = ({ cross, total }, i) => cross.some((layer) => isDrawn(layer[i], total));
const weightOf = (value, point) => Math.max(THINNEST, Math.abs(value) * point);
const dashed = (value) => value < 0 && html`stroke-dasharray="5 3"`;

const soft = (x0, y0, x1, y1) => `C${(x0 + x1) / 2},${y0} ${(x0 + x1) / 2},${y1} ${x1},${y1}`;
export const bend = (x0, y0, x1, y1) => `M${x0},${y0}${soft(x0, y0, x1, y1)}`;

// A filled band through [x, top, bottom], with soft steps.
function ribbon(points) {
  const ease = (x0, y0, x1, y1) => y0 === y1 ? `L${x1},${y1}` : soft(x0, y0, x1, y1);
  const way = (all, side) => all.slice(1).map((to, i) => ease(all[i][0], all[i][side], to[0], to[side])).join("");
  const back = [...points].reverse();
  return `M${points[0][0]},${points[0][1]}${way(points, 1)}L${back[0][0]},${back[0][2]}${way(back, 2)}Z`;
}

// What the river holds along its way: [x, bands], and how much a block adds where: { block, before, after, x0, x1 }.
function courseOf(f, place) {
  const bands = { cross: 0, decoder: 0, own: f.own.value, feed_forward: 0 }, course = [[place.river, { ...bands }]];
  const steps = place.blocks.map((block) => {
    const before = { ...bands };
    const isIn = (one) => block.kind === "fold" ? block.from <= one.layer && one.layer <= block.to
      : one.kind === block.kind && one.layer === block.layer;
    for (const one of f.blocks.filter(isIn)) bands[one.kind] += one.value;
    const width = block.x1 - block.x0, from = block.x0 + width * (block.kind === "feed_forward" ? 0.12 : 0.5);
    const step = { block, before, after: { ...bands }, from, to: block.x1 - Math.min(8, width / 6) };
    course.push([step.from, before], [step.to, step.after]);
    return step;
  });
  return { course, steps, bands };
}

const against = (bands) => BANDS.reduce((sum, one) => sum + positive(-bands[one]), 0);
// Pixels for a point, so that no part of the river leaves its bed.
function pointOf(course, { above, below }) {
  const most = (height) => Math.max(0.1, ...course.map(([, bands]) => height(bands)));
  return Math.min(POINT, above / most((one) => positive(one.cross) + positive(one.decoder)),
    below / most((one) => positive(one.feed_forward) + against(one)));
}

// [top, bottom] of each band; that of the last word is never invisible.
function edges(bands, line, point) {
  const own = Math.max(1.6, positive(bands.own) * point), found = { own: [line - own / 2, line + own / 2] };
  found.decoder = [found.own[0] - positive(bands.decoder) * point, found.own[0]];
  found.cross = [found.decoder[0] - positive(bands.cross) * point, found.decoder[0]];
  found.feed_forward = [found.own[1], found.own[1] + positive(bands.feed_forward) * point];
  found.against = [found.feed_forward[1], found.feed_forward[1] + against(bands) * point];
  return found;
}

// The whole river with its strands; `rows` are the tokens drawn of both sides.
export function drawRiver(f, data, trace, at, rows) {
  const { write, choose } = at, { course, steps, bands } = courseOf(f, write), point = pointOf(course, write);
  const whole = [...course, [choose.x + 14, { ...bands }]];
  const path = (band) => ribbon(whole.map(([x, one]) => [x, ...edges(one, write.line, point)[band]]));
  const band = (name) => html`<path class="flow" data-key="${name}" d="${path(name)}" fill="${
    name === "against" ? "url(#m-against)" : `var(--${TONES[name]}-f)`}"/>`;
  const entering = steps.map((step) => step.block.kind === "feed_forward" ? fan(f, data, trace, step, at, point)
    : step.block.kind === "fold" ? "" : strandsOf(f, data, trace, step, at, point, rows));
  return html`<path class="m-vector" d="M${write.river},${write.line}H${choose.x + 8}" stroke-width="7"/>${
    entering}<g ${tooltip("river", aboutRiver(f, data, trace))}>${
    ["feed_forward", "own", "decoder", "cross", "against"].map(band)}</g>`;
}

// The strands of an attention block, each on its lane.  The lowest row turns first, so that no strand crosses another.
function placedStrands(f, { block, after }, at, point, rows) {
  const { kind, layer, x0, x1 } = block, isCross = kind === "cross", drawn = isCross ? rows.source : rows.inputs;
  const height = (i) => isCross ? at.read.y(i) : at.write.y(rows.back(i));
  const beside = (i) => isCross ? besideOthers(f, at, i, layer, point) : 0;
  const all = drawn.map((i) => ({ i, value: f[kind][layer][i], y: height(i) + beside(i) }))
    .filter(({ value }) => isDrawn(value, f.total)).sort((a, b) => b.y - a.y);
  const widths = all.map(({ value }) => weightOf(value, point)), room = (x1 - x0) * 0.55 - 8;
  const gap = Math.min(4, Math.max(0.5, (room - widths.reduce((sum, one) => sum + one, 0)) / all.length));
  const { [kind]: own } = edges(after, at.write.line, point);
  let lane = x0 + 8, end = own[0];
  const placed = all.map((one, k) => {
    const width = widths[k], x = lane + width / 2;
    lane += width + gap;
    return { ...one, width, x };
  });
  for (const one of [...placed].reverse()) {
    one.end = Math.min(end + one.width / 2, at.write.line);
    if (one.value > 0) end += one.width;
  }
  return placed;
}
// Strands of one row lie side by side: the one that turns down first lowest.
function besideOthers(f, at, i, layer, point) {
  const widths = at.write.blocks.filter((one) => one.kind === "cross" && isDrawn(f.cross[one.layer][i], f.total))
    .map((one) => [one.layer, weightOf(f.cross[one.layer][i], point)]);
  const sum = (some) => some.reduce((all, [, width]) => all + width, 0);
  const own = widths.find(([one]) => one === layer)?.[1] ?? 0;
  return sum(widths) / 2 - sum(widths.filter(([one]) => one < layer)) - own / 2;
}
const strandsOf = (f, data, trace, step, at, point, rows) => placedStrands(f, step, at, point, rows).map((one) =>
  drawStrand(f, data, trace, step.block, one, at, step.block.kind === "cross" ? at.read.memory : at.write.river));
// The strand of one row in a block, if it is drawn.
export function strandAt(f, at, rows, block, i) {
  const { course, steps } = courseOf(f, at.write), step = steps.find((one) => one.block === block);
  const all = block.kind === "fold" ? [] : placedStrands(f, step, at, pointOf(course, at.write), rows);
  return all.find((one) => one.i === i);
}

function drawStrand(f, data, trace, { kind, layer, x1 }, { i, value, width, x, y, end }, at, from) {
  const r = Math.min(12, Math.max(2, (x1 - x) / 3)), isLast = kind === "decoder" && i === data.step;
  const { line } = at.write, loop = `c0,-22 ${2.5 * r},-22 ${2.5 * r},${(end - line).toFixed(1)}`;
  const way = isLast ? `M${x},${line - 3}${loop}H${x1 - 5}`
    : `M${from},${y}H${x - r}Q${x},${y} ${x},${y + r}V${end - r}Q${x},${end} ${x + r},${end}H${x1 - 5}`;
  return html`<g class="flow hit" data-key="${kind}:${i}" data-do="machine_open" data-value="${kind}.${layer}"
    ${tooltip("strand", aboutStrand(f, data, trace, kind, layer, i))}><path d="${way}" fill="none" stroke="transparent"
    stroke-width="${Math.max(9, width)}"/><path d="${way}" fill="none" stroke="var(--${toneOf(kind, value)}-f)"
    stroke-width="${width.toFixed(1)}" ${dashed(value)}/></g>`;
}

// What a feed-forward block adds comes from its neurons, which stand under it.
function fan(f, data, trace, { block, before, after, from, to }, at, point) {
  const { layer, x0, x1 } = block, count = Math.max(4, Math.floor((x1 - x0) / 5)), foot = at.write.end + 6;
  const value = after.feed_forward - before.feed_forward;
  const [[, top], [, bottom]] = [before, after].map((one) => edges(one, at.write.line, point).feed_forward);
  const thread = (_, k) => {
    const x = x0 + 2 + (k + 0.5) * (x1 - x0 - 4) / count, share = (k + 0.5) / count;
    const goal = from + (to - from) * share, y = top + (bottom - top) * share * share * (3 - 2 * share);
    return `M${x.toFixed(1)},${foot}C${x.toFixed(1)},${foot - 12} ${goal.toFixed(1)},${(y + 16).toFixed(1)} ${
      goal.toFixed(1)},${(y - 1).toFixed(1)}`;
  };
  return html`<g class="flow hit" data-key="feed_forward:${layer}" data-do="machine_open"
    data-value="feed_forward.${layer}" ${tooltip("block", aboutBlock(f, data, trace, "feed_forward", layer))}><path
    d="${Array.from({ length: count }, thread).join("")}" fill="none" stroke="var(--${toneOf("feed_forward", value)}-f)"
    stroke-width="1" opacity=".55"/></g>`;
}

// The paths through the source's rows: what each row in use holds of what reaches the word, and took from others.
export function drawSource(f, data, trace, at, rows) {
  const { read } = at, steps = read.blocks, point = pointOf(courseOf(f, at.write).course, at.write);
  const used = rows.source.filter((i) => hasPath(f, i));
  const layersOf = (block) => block.kind === "fold" ? 2 * (block.to + 1)
    : 2 * block.layer + (block.kind === "encoder" ? 1 : 2);
  const row = (i) => {
    const sizes = growth(f, i).map((one) => weightOf(one, point)), y = read.y(i);
    const half = (size) => [y - size / 2, y + size / 2];
    const points = [[read.river, ...half(sizes[0])]];
    for (const block of steps) {
      const middle = (block.x0 + block.x1) / 2;
      points.push([middle, ...half(points.at(-1)[2] * 2 - 2 * y)], [block.x1, ...half(sizes[layersOf(block)])]);
    }
    points.push([read.memory, ...half(weightOf(f.source[i], point))]);
    return html`<path class="flow" data-key="cross:${i}" d="${ribbon(points)}" fill="${
      f.source[i] < 0 ? "url(#m-against)" : "var(--blue-f)"}"/>`;
  };
  const taken = (block) => block.kind !== "encoder" || !f.read.attention ? []
    : used.flatMap((to) => rows.source.filter((from) => from !== to
      && Math.abs(f.read.attention[block.layer][to][from]) >= 0.05).map((from) => mixed(block, to, from)));
  const mixed = ({ x0, x1, layer }, to, from) => {
    const value = f.read.attention[layer][to][from], way = bend(x0 + 4, read.y(from), x1 - 4, read.y(to));
    return html`<path class="flow hit" data-key="cross:${to}" d="${way}" fill="none" stroke="var(--${
      toneOf("cross", value)}-f)" stroke-width="${weightOf(value, point).toFixed(1)}" ${dashed(value)} ${
      tooltip("mixing", mixing(f, data, trace, layer, to, from))}/>`;
  };
  return html`${steps.map(taken)}${used.map(row)}`;
}

// The block of a layer, or the fold that holds it.
export const blockAt = (place, kind, layer) => place.blocks.find((one) => one.kind === kind
  ? one.layer === layer : one.kind === "fold" && one.from <= layer && layer <= one.to);
