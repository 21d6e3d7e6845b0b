// The machine's stage: rows are words, columns are blocks.  Rows, gates, the small maps of heads and the strips of
// numbers stand while the numbers are awaited; the flows come with them.

import { css, shade } from "../common/colour.js";
import { language } from "../common/languages.js";
import { html } from "../common/markup.js";
import { plain, signed } from "./machine_figures.js";
import { GUTTER, LOOKED, labelled } from "./machine_layout.js";
import { mostSeen, namesOf } from "./machine_names.js";
import { bend, blockAt, drawRiver, drawSource, figureTone, hasPath, isUsed, strandAt } from "./machine_river.js";
import { block as aboutBlock, candidateName, candidates, chanceOf, choice, fold as aboutFold, inputRow, lastRow,
  sourceRow, steered, tooltip } from "./machine_sentences.js";
import { imageOf } from "../common/small_map.js";
import { TECHNICAL, chance, count, elided } from "../common/wording.js";

const isFold = (block) => block.kind === "fold";
const LINE = 15;           // from one line of a name to the next
const LETTER = 7.1;        // pixels, at most, of a letter of a label
const ACTIVE = 5;          // pixels for one of the most active neurons
const EVERY = { encoder: "slate", decoder: "green", cross: "blue" };
const ALONE = { encoder_feed_forward: true, feed_forward: true };
const names = ({ languages }) => [language(languages[0], "Source"), language(languages[1], "Translation")];
// The same inside a sentence.
const reads = ({ languages }) => `the ${language(languages[0], "source")}`;
const writes = ({ languages }) => `the ${language(languages[1], "translation")}`;

// `shown`: { trace, data, f, theme, state }, data and f null while they are awaited; `at`: the layout; `rows`: those
// drawn.
export function stage(shown, at, rows) {
  const { data, f, trace } = shown;
  return html`<svg class="m-svg" viewBox="0 0 ${at.width} ${at.height}" width="${at.width}" height="${at.height}"
    role="group" aria-label="The whole machine"><defs><pattern id="m-against" width="6" height="6"
    patternUnits="userSpaceOnUse"><rect width="4" height="6" fill="var(--orange-f)"/></pattern></defs>
    ${readSide(shown, at, rows)}${writeSide(shown, at, rows)}${choosePanel(shown, at)}
    ${f && html`<g class="flows">${drawSource(f, data, trace, at, rows)}${
      drawRiver(f, data, trace, at, rows)}</g>${figures(shown, at, rows)}${steerLink(shown, at, rows)}`}</svg>`;
}

// --- the source

function readSide(shown, at, rows) {
  const { read } = at, { trace } = shown, memory = (read.memory + read.memoryEnd) / 2;
  return html`<g data-area="words">${zone(at.read.left, 30, `1 Read ${reads(trace)}`, "encoder")}${
    columnNames(read, at.cell, read.top - 28)}</g>
    <g data-area="encoder">${gates(shown, at, read)}</g>
    <g data-area="memory"><text class="b mid" x="${memory}" y="${read.top - 30}">what ${
      language(trace.languages[1], "the translation")} can look at</text><text class="s mid" x="${memory}" y="${
      read.top - 15}">encoder output</text><rect class="m-extent" x="${read.memory}" y="${read.top}"
      width="${read.memoryEnd - read.memory}" height="${read.end - read.top}"/></g>
    ${rowsOf(shown, at, rows, "source")}${looksIn(shown, at, rows)}`;
}

// Where the heads of a layer look in the source, all of one width, the darker the more: words mix.
function looksIn({ trace }, at, rows) {
  const of = ({ layer, x0, x1 }) => {
    const maps = trace.layers("encoder")[layer].map((head) => trace.map(head, { unit: "tokens" }).at);
    const share = (to, from) => maps.reduce((sum, one) => sum + one[to][from], 0) / maps.length;
    const drawn = (to) => rows.source.filter((from) => from !== to && share(to, from) >= LOOKED)
      .map((from) => html`<path d="${bend(x0 + 4, at.read.y(from), x1 - 4, at.read.y(to))}" opacity="${
        Math.min(1, 0.12 + 0.8 * share(to, from)).toFixed(2)}"/>`);
    return rows.source.map(drawn);
  };
  return html`<g class="m-looks">${at.read.blocks.filter((one) => one.kind === "encoder").map(of)}</g>`;
}

// --- rows

function rowsOf(shown, at, rows, side) {
  const { trace, data, f } = shown, isSource = side === "source", place = isSource ? at.read : at.write;
  const step = rows.step, drawn = isSource ? rows.source : rows.inputs.filter((j) => j !== step);
  const y = (i) => isSource ? place.y(i) : place.y(rows.back(i));
  const value = (i) => f ? f[side][i] : 0, labels = namesOf(trace, side);
  const places = labelled([...drawn].sort((a, b) => y(a) - y(b)), y, place.row, (i) => isUsed(value(i)));
  const says = (i) => f ? tooltip("row", (isSource ? sourceRow : inputRow)(f, data, trace, i)) : "";
  const end = isSource ? place.memoryEnd : place.blocks.at(-1).x1;
  const row = (i, k) => html`<g class="hit m-row ${places.has(i) ? "" : "unlabelled"}" data-key="${
    isSource ? "cross" : "decoder"}:${i}" data-rove="${side}" tabindex="${k ? -1 : 0}" role="img"
    aria-label="${labels[i]}" data-k="row-${side}-${i}" ${says(i)}>
    <rect x="${place.left}" y="${y(i) - place.row / 2}" width="${place.river - place.left}" height="${place.row}"
      fill="transparent"/>${label(labels[i], trace.record[side][i], place, places.get(i) ?? y(i), value(i),
    isSource ? "blue" : "green")}${strips(shown, side, i, place, at.cell, y(i), Math.min(13, place.row - 3))}</g>`;
  return html`<path class="m-pale" d="${drawn.map((i) => `M${place.river},${y(i)}H${end}`).join("")}"/><g
    data-area="${isSource ? "words" : "written"}">${brackets(trace, side, drawn, y, place)}${drawn.map(row)}</g>`;
}

function label(text, { special }, { label: x, row }, y, value, tone) {
  const shown = elided(text, 12), used = isUsed(value);
  const [width, height] = [shown.length * LETTER + 10, Math.min(16, Math.max(13, row))];
  return html`${used && html`<rect x="${x - width + 5}" y="${y - height / 2}" width="${width}" height="${height}" rx="4"
    fill="var(--${value > 0 ? tone : "orange"}-t)"/>`}<text class="end ${used ? "b" : ""} ${special ? "i" : ""} ${
    row < 14.5 ? "small" : ""}" x="${x}" y="${y + 4.3}">${shown}</text>`;
}

// Tokens of one word are bracketed.
function brackets(trace, side, drawn, y, place) {
  const words = trace.units(side, "words").map((one) => one.pieces.filter((i) => drawn.includes(i)));
  return words.filter((all) => all.length > 1).map((all) => {
    const ends = [y(all[0]), y(all.at(-1))].sort((a, b) => a - b), x = place.label + 3;
    return html`<path class="m-bracket" d="M${x},${ends[0] - 4}h3V${ends[1] + 4}h-3"/>`;
  });
}

// The vector as 8 numbers, and its place as 4.
function strips({ data, theme }, side, i, place, cell, y, height) {
  if (!data) return "";
  const all = [...data.strips.source, ...data.strips.inputs].flat();
  const scale = data.strips.scale ??= 0.8 * Math.max(...all.map(Math.abs));
  const cells = (values, x, most) => values?.map((value, k) => html`<rect x="${x + k * cell}"
    y="${(y - height / 2).toFixed(1)}" width="${cell - 1}" height="${Math.max(2, height).toFixed(1)}" rx="1.5" fill="${
    css(shade(Math.max(-1, Math.min(1, value / most)) * 0.5, "slate", theme))}"/>`) ?? "";
  return html`${cells(data.strips[side][i], place.strip, scale)}${cells(data.positions?.[side][i], place.place, 1.3)}`;
}

// --- the translation

function writeSide(shown, at, rows) {
  const { write } = at, y = nameTop(at, false);
  return html`<g data-area="written">${columnNames(write, at.cell, y)}${
    zone(at.carried.x + at.carried.width + GUTTER, at.height - 24, `2 Write ${writes(shown.trace)}`, "decoder")}</g>
    <g data-area="decoder">${gates(shown, at, write)}</g>${rowsOf(shown, at, rows, "inputs")}
    <g data-area="written">${workRow(shown, at, rows)}</g>`;
}

// The row at work: the last word so far, and the word that is written from it.
function workRow(shown, at, { step }) {
  const { trace, data, f } = shown, { write } = at, y = write.line, labels = namesOf(trace, "inputs");
  const written = namesOf(trace, "target")[step], right = write.label + 5;
  const room = right - at.carried.x - at.carried.width - GUTTER;
  const [last, next] = fitted(labels[step], written, Math.floor(room / 6.7) - 3);
  const width = (last.length + next.length + 3) * 6.7 + 12;
  return html`<g class="hit m-row" data-key="own" data-rove="inputs" tabindex="-1" role="img" data-k="row-work"
    aria-label="${labels[step]}, from which ${written} is written" ${f && tooltip("last", lastRow(f, data, trace))}>
    <rect x="${right - width}" y="${y - 10}" width="${width}" height="20" rx="5" fill="var(--ochre-t)"/>
    <text class="b end" x="${write.label}" y="${y + 4.5}"><tspan>${last}</tspan><tspan class="s"> → </tspan><tspan>${
    next}</tspan></text>${strips(shown, "inputs", step, write, at.cell, y, 14)}</g>`;
}

// Two words that together have so many letters at most: the longer one is cut.
function fitted(one, other, most) {
  const cut = (text, length) => text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
  const half = Math.floor(most / 2), rest = Math.max(half, most - Math.min(other.length, half));
  const first = cut(one, rest);
  return [first, cut(other, most - first.length)];
}

// --- gates

const nameTop = (at, isRead) => isRead ? 18 + 14 : at.write.end + 6 + at.mapHeight + 13;

function gates(shown, at, place) {
  const isRead = place === at.read, { blocks } = place;
  const wide = blocks.every((one) => one.kind === "fold" || fits(one, shown.trace));
  const [top, bottom] = isRead ? [place.top - 5, place.end + 5] : [place.top - 4, place.end];
  const draw = (one) => one.kind === "fold" ? foldGate(shown, at, one, top, bottom)
    : gate(shown, at, one, top, bottom, isRead, wide);
  return html`${blocks.map(draw)}${!wide && staggered(shown, at, blocks, isRead)}${
    layerNumbers(shown, at, blocks, isRead)}`;
}

const linesOf = (kind, { languages }) => {
  const [from, to] = names({ languages });
  return { encoder: [`${from} looks`, `at ${from}`], decoder: [`${to} looks`, `back at ${to}`],
    cross: [`${to} looks`, `at ${from}`] }[kind] ?? ["each word", "on its own"];
};
const technical = (kind) => ALONE[kind] ? "feed-forward" : kind === "cross" ? TECHNICAL.cross : "self-attention";
const fits = ({ kind, x0, x1 }, trace) =>
  x1 - x0 + (ALONE[kind] ? 26 : 8) >= Math.max(...linesOf(kind, trace).map((one) => one.length)) * 6.9;

function gate(shown, at, { kind, layer, x0, x1 }, top, bottom, isRead, wide) {
  const { trace, data, f } = shown, middle = (x0 + x1) / 2, lines = linesOf(kind, trace), name = lines.join(" ");
  const y = nameTop(at, isRead), mapTop = isRead ? top - at.mapHeight : bottom + 4;
  const named = wide && html`${lines.map((one, i) => html`<text class="b mid" x="${middle}" y="${y + i * LINE}">${
    one}</text>`)}<text class="s mid" x="${middle}" y="${y + lines.length * LINE}">${technical(kind)}</text>`;
  return html`<g class="m-gate" role="button" tabindex="0" data-do="machine_open" data-value="${kind}.${layer}"
    data-k="gate-${kind}-${layer}" aria-label="${name}, ${technical(kind)}, layer ${layer + 1}" ${
    f && tooltip("block", aboutBlock(f, data, trace, kind, layer))}><rect class="gate" x="${x0}" y="${top}"
    width="${x1 - x0}" height="${bottom - top}" rx="${Math.min(10, (x1 - x0) / 4)}"/>
    ${ALONE[kind] ? bars(shown, kind, layer, x0, x1, mapTop, at) : heads(shown, kind, layer, x0, x1, mapTop, at)}
    ${named}</g>`;
}

// The heads as small maps; where these would be too small, as dots filled by what each adds.
function heads(shown, kind, layer, x0, x1, top, at) {
  const { trace, theme, f } = shown, [, all] = trace.sizes[kind], width = x1 - x0;
  if (at.maps) {
    const size = at.mapHeight - 6, gap = all > 1 ? (width - all * size) / (all - 1) : 0;
    const picture = (head) => imageOf(cut(trace.map({ kind, layer, head }, { unit: "tokens" }), trace, kind),
      { tone: EVERY[kind], theme });
    return Array.from({ length: all }, (_, head) => html`<image class="m-map" x="${x0 + head * (size + gap)}" y="${top}"
      width="${size}" height="${size}" preserveAspectRatio="none" href="${picture(head)}"/>`);
  }
  const columns = Math.ceil(all / 2), pitch = Math.min(13, (width - 2) / columns), r = Math.min(4.5, pitch / 2 - 0.6);
  const most = f ? Math.max(0.05, ...f.heads[kind].flat().map(Math.abs)) : 1, left = (x0 + x1 - pitch * columns) / 2;
  const dot = (head) => {
    const value = f ? f.heads[kind][layer][head] : 0, share = 0.75 * Math.max(-1, Math.min(1, value / most));
    return html`<circle cx="${left + pitch * (head % columns + 0.5)}" cy="${top + 6 + 11 * Math.floor(head / columns)}"
      r="${Math.max(1.5, r)}" class="m-dot" fill="${css(shade(share, EVERY[kind], theme))}"/>`;
  };
  return Array.from({ length: all }, (_, head) => dot(head));
}
// Of a map, the rows that write something, and what is drawn of a long sentence.
function cut(map, trace, kind) {
  const from = kind === "encoder" ? 0 : trace.record.given, most = 60;
  return { ...map, rows: map.rows.slice(from, most), at: map.at.slice(from, most) };
}

// The most active neurons of a feed-forward block, most active first.
function bars({ data }, kind, layer, x0, x1, top, at) {
  const found = kind === "feed_forward" && data?.parts.for.neurons?.[layer]?.activations;
  if (!found) return "";
  const all = data.parts.for.neurons.flatMap((one) => one?.activations ?? []);
  const most = all.reduce((max, one) => Math.max(max, one), 1e-6), height = at.mapHeight - 8;
  const shown = [...found].sort((a, b) => b - a).slice(0, Math.floor((x1 - x0) / ACTIVE));
  const pitch = (x1 - x0) / shown.length;
  return shown.map((value, k) => html`<rect class="m-neuron" x="${(x0 + k * pitch + 0.5).toFixed(1)}" rx=".8"
    width="${(pitch - 1).toFixed(1)}" y="${(top + height * (1 - value / most) + 1).toFixed(1)}"
    height="${Math.max(1, height * value / most).toFixed(1)}"/>`);
}

// Layers that add little, as one gate; a click unfolds them.
function foldGate({ f, data, trace }, at, group, top, bottom) {
  const { x0, x1, from } = group, name = foldName(group);
  const side = at.read.blocks.includes(group) ? "encoder" : "decoder";
  return html`<g class="m-gate m-fold" role="button" tabindex="0" data-do="machine_unfold" data-value="${side}"
    data-k="fold-${side}-${from}" aria-label="${name}, folded" ${
    f && tooltip("fold", aboutFold(f, data, trace, group))}>
    <rect class="gate" x="${x0}" y="${top}" width="${x1 - x0}" height="${bottom - top}" rx="7"/></g>`;
}
const foldName = ({ from, to }) => to > from ? `layers ${from + 1}–${to + 1}` : `layer ${from + 1}`;
// Its name and figure, over the lines that pass.
function foldLabel(group, top, bottom) {
  const { x0, x1, value } = group, name = foldName(group), length = (name.length + 6) * 6.6;
  return html`<g transform="translate(${(x0 + x1) / 2 + 4} ${(top + bottom) / 2}) rotate(-90)"><rect class="m-folded"
    x="${-length / 2}" y="-13" width="${length}" height="18"/><text class="mid">${name}: <tspan class="b">${
    signed(value)}</tspan></text></g>`;
}

// Names of narrow blocks: once, at the first layer that stands open, one below the other, each from its own block.
function staggered({ trace }, at, blocks, isRead) {
  const first = blocks.find((one) => one.kind !== "fold")?.layer, own = blocks.filter((one) => one.layer === first);
  const y = (i) => isRead ? 30 + i * 15 : nameTop(at, false) - 2 + (own.length - 1 - i) * 15;
  const edge = isRead ? at.read.top - at.mapHeight - 8 : at.write.end + 4 + at.mapHeight - 6;
  return own.map((one, i) => html`<path class="m-leader" d="M${one.x0 + 4},${edge}V${y(i) - 4}h5"/><text
    x="${one.x0 + 12}" y="${y(i)}"><tspan class="b">${linesOf(one.kind, trace).join(" ")}</tspan><tspan class="s"> ${
    technical(one.kind)}</tspan></text>`);
}

function layerNumbers({ state }, at, blocks, isRead) {
  const layers = [...new Set(blocks.filter((one) => one.kind !== "fold").map((one) => one.layer))];
  const y = isRead ? 14 : at.height - 10, side = isRead ? "encoder" : "decoder";
  const number = (layer) => {
    const own = blocks.filter((one) => one.layer === layer), [x0, x1] = [own[0].x0, own.at(-1).x1];
    const middle = (x0 + x1) / 2;
    const text = x1 - x0 < 56 ? `${layer + 1}` : `layer ${layer + 1}`, half = text.length * 3.4 + 4;
    return html`<path class="m-leader" d="M${x0},${y - 4}H${middle - half}M${middle + half},${y - 4}H${x1}"/><text
      class="s mid" x="${middle}" y="${y}">${text}</text>`;
  };
  const refold = state.machine.unfolded?.includes(side) && html`<text class="m-refold" role="button" tabindex="0"
    data-do="machine_fold" data-value="${side}" data-k="refold-${side}"
    x="${isRead ? at.read.left : at.write.left}" y="${
    isRead ? 62 : at.height - 54}">fold again</text>`;
  return html`${layers.map(number)}${refold}`;
}

function zone(x, y, title, about) {
  return html`<text class="m-zone" x="${x}" y="${y}">${title}</text><text class="s" x="${x}" y="${y + 16}">${
    about}</text>`;
}
function columnNames({ strip, place }, cell, y) {
  const name = (x, text, about) => html`<text class="b mid" x="${x}" y="${y}">${text}</text><text class="s mid" x="${x}"
    y="${y + 15}">${about}</text>`;
  return html`${name(strip + 4 * cell - 5, "numbers", "embedding")}${
    name(place + 2 * cell + 7, "position", "added")}`;
}

// --- figures and links over the flows

// What each block adds, in one row above the blocks; and what each source row adds, at its end.
function figures({ f }, at, rows) {
  const { write, read } = at, y = write.top - 12;
  const figure = (x, value, kind) => {
    const text = signed(value), width = text.length * 7.6 + 4;
    return html`<rect class="m-back" x="${x - width / 2}" y="${y - 13}" width="${width}" height="17" rx="3"/><text
      class="m-figure mid in-${figureTone(kind, value)}" x="${x}" y="${y}">${text}</text>`;
  };
  const own = (block) => f.blocks.find((one) => one.kind === block.kind && one.layer === block.layer);
  const of = (block) => {
    const x = (block.x0 + block.x1) / 2, room = block.x1 - block.x0;
    if (block.kind === "fold") return "";  // has its figure inside
    const { figure: value, kind } = own(block);
    return room < 26 && Math.abs(value) < 0.3 ? "" : figure(room > 90 ? block.x1 - 24 : x, value, kind);
  };
  const end = ([i, place]) => html`<text class="b in-${f.source[i] > 0 ? "blue" : "orange"}"
    x="${read.memoryEnd + 6}" y="${(place + 4.5).toFixed(1)}">${signed(f.source[i])}</text>`;
  const isAgainst = (i) => f.source[i] <= -0.05 && hasPath(f, i);
  const ends = labelled(rows.source.filter((i) => isUsed(f.source[i]) || isAgainst(i)), read.y, read.row, () => true);
  return html`<g class="figures" aria-hidden="true">${figure((write.strip + write.river) / 2, f.own.figure, "own")}${
    write.blocks.map(of)}${read.blocks.filter(isFold).map((one) => foldLabel(one, read.top, read.end))}${
    write.blocks.filter(isFold).map((one) => foldLabel(one, write.top, write.end))}${[...ends].map(end)}</g>`;
}

// From the head that the word depends on most to the feed-forward block that it steers.
function steerLink({ f, data, trace }, at, rows) {
  const { steers } = data;
  if (!steers) return "";
  const isRead = steers.kind === "encoder", from = blockAt(isRead ? at.read : at.write, steers.kind, steers.layer);
  const to = blockAt(at.write, "feed_forward", steers.feed_forward), y = at.write.top + 12;
  if (!from || !to || to.kind === "fold") return "";
  const middle = (from.x0 + from.x1) / 2, right = to.x0 + 2;
  const strand = isRead ? null : strandAt(f, at, rows, from, mostAttended(steers, data.step, trace));
  const start = isRead ? [middle, at.read.end + 6]
    : strand ? [strand.x, steers.kind === "cross" ? y : strand.y] : [middle, y];
  const way = `M${start[0]},${start[1]}V${y}H${right}`;
  const lines = steerLines(f, data, trace), width = to.x1 - to.x0 - 8, x = (to.x0 + to.x1) / 2;
  const isWide = width >= 66 && at.write.line - y > 20 + lines.length * 14;
  return html`<g class="hit m-steer" data-key="steer" ${
    tooltip("steers", steered(f, data, trace))}><path d="${way}"/><circle
    cx="${start[0]}" cy="${start[1]}" r="3"/><path class="m-arrow" d="M${right},${y}l-7,-4v8z"/>${
    isWide ? html`<rect class="m-note" x="${to.x0 + 4}" y="${y - 9}" width="${width}" height="${lines.length * 14 + 8}"
      rx="6"/>${lines.map((line, i) => html`<text class="mid" x="${x}" y="${y + 5 + i * 14}">${line}</text>`)}`
      : ""}</g>`;
}
function steerLines(f, { steers, step }, trace) {
  const names = namesOf(trace, steers.kind === "decoder" ? "inputs" : "source");
  const who = steers.kind === "encoder" ? "this layer" : elided(names[mostAttended(steers, step, trace)], 11);
  const change = f.mode === "over" ? [html`<tspan class="b">${signed(steers.before)}</tspan>, without`,
    html`<tspan class="b">${signed(steers.after)}</tspan>`] : [];
  return [html`<tspan class="b i">${who}</tspan>`, "also steers", "this block", ...change];
}
const mostAttended = (head, step, trace) => mostSeen(trace, head, step)[0];

// --- the choice

// The word that is written, its chance and its score: a long word has a line of its own.
function chosenWord(word, likely, score, left, right, y) {
  const isLong = 15.5 * word.length > right - left - 66;
  const size = Math.max(12, Math.min(isLong ? 22 : 26, (right - left) / (0.62 * word.length))).toFixed(1);
  const at = isLong ? [y - 5, y + 18, y + 18] : [y + 8, y - 5, y + 14];
  return html`<text class="m-on b" x="${left}" y="${at[0]}" style="font-size:${size}px">${word}</text>
    <text class="m-on b ${isLong ? "" : "end"}" x="${isLong ? left : right}" y="${at[1]}">${likely}</text>
    <text class="m-on end" x="${right}" y="${at[2]}">${score}</text>`;
}

function choosePanel(shown, at) {
  const { data, trace } = shown, { x, width } = at.choose, { top, line, end } = at.write, right = x + width;
  const middle = x + width / 2, named = nameTop(at, false), others = data ? candidates(data) : [];
  const step = Math.min(31, (line - 36 - (top + 22)) / 5);
  const most = Math.max(1, data?.logit ?? 1, ...others.map(({ logit }) => logit));
  const row = (one, i) => {
    const y = top + 22 + (i + 0.7) * step;
    return html`<foreignObject x="${x + 12}" y="${y - 13}" width="${width - 118}" height="17"><div class="m-other">${
      candidateName(one, trace)}</div></foreignObject><text class="end" x="${right - 78}" y="${y}">${
      plain(one.logit)}</text><text class="s end" x="${right - 10}" y="${y}">${chance(one.chance)}</text>${
      step >= 24 && html`<rect class="m-neuron" x="${x + 12}" y="${y + 6}" rx="1.5" height="3" width="${
      Math.max(1, one.logit / most * (width - 24))}"/>`}`;
  };
  const word = data && namesOf(trace, "target")[data.step];
  const chosen = data && html`<rect class="m-chosen" x="${x + 10}" y="${line - 32}" width="${width - 20}" height="62"
    rx="10"/>${chosenWord(elided(word, 18), chance(chanceOf(data, trace)), `score ${plain(data.logit)}`, x + 22,
      right - 20, line)}`;
  return html`<g data-area="choose" class="m-gate" role="button" tabindex="0" data-do="machine_open" data-value="choose"
    data-k="gate-choose" aria-label="Choose the word: scores become chances" ${
      data && tooltip("choice", choice(data, trace))}>
    <rect class="gate" x="${x}" y="${top - 4}" width="${width}" height="${end - top + 4}" rx="10"/>
    <text class="s" x="${x + 12}" y="${top + 15}">token</text>
    <text class="s end" x="${right - 78}" y="${top + 15}">score</text>
    <text class="s end" x="${right - 10}" y="${top + 15}">chance</text>${others.map(row)}${chosen}
    <text class="b mid" x="${middle}" y="${named}">best of ${
      data ? `${count(data.vocabulary)} tokens` : "all tokens"}</text>
    <text class="s mid" x="${middle}" y="${named + LINE}">logits → softmax</text>
    <text class="m-zone mid" x="${middle}" y="${at.height - 24}">3 Choose the word</text></g>`;
}
