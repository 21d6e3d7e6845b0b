// The large map: its cells, a grid that can be walked with the keyboard; or the same as lines.

import { headColour, headDashes, inkOn, shade } from "../common/colour.js";
import { html, isNarrow, isStill, paint, tipped } from "../common/markup.js";
import { FONT, SHOWN, draw, pixels } from "../common/small_map.js";
import { lookOf, looking, traceOf } from "../common/state.js";
import { hasHeads, isAttribution } from "../common/trace.js";
import { mapOf, rowOf } from "./difference.js";
import { inLanguage } from "../common/languages.js";
import { amount, direction, elided, nats, number, percent } from "../common/wording.js";

export const CAVEAT = "A map shows where a head looked, not why the word was chosen.";

export const overlaid = (state) => state.as === "lines" && state.overlay === "all" && hasHeads(state.view)
  ? traceOf(state).layers(state.head.kind)[state.head.layer] : null;
export const scaleOf = (map, { scale }) => scale === "highest" ? map.highest : map.most;
export const toneOf = (state) => hasHeads(lookOf(state).view) ? traceOf(state).tone(state.head, state.word) : "blue";

// --- the cells: coloured by one canvas; an element each for those with a number, and for all once the reader rests

const MANY = 1600, REST = 300;  // so many cells get no elements; milliseconds
const isDense = (map) => map.rows.length * map.columns.length >= MANY;

const meter = document.createElement("canvas").getContext("2d");
meter.font = `13px ${FONT}`;

export function drawMap(box, given, width) {
  const state = lookOf(given), map = mapOf(state);
  if (state.as === "lines") return drawLineMap(box, state, map);
  const narrow = isNarrow(), label = narrow ? 78 : 88, room = width - label - 1, { length } = map.columns;
  const needs = map.columns.map((one) => Math.max(22, meter.measureText(elided(one.label, 16)).width + 6));
  const spare = room - needs.reduce((a, b) => a + b, 0), flat = spare >= 0 && !narrow;
  const whole = flat ? room : Math.max(room, (narrow ? 12 : 22) * length);
  let end = 0;
  const ends = [0, ...needs.map((need) => (end += flat ? need + spare / length : whole / length))];
  const grid = paintGrid(box, state, map, { flat, label, ends });
  recolour(grid.querySelector("canvas"), map, { ...paletteOf(state, map), x: ends.map(Math.round), gap: 1 });
  clearTimeout(box.resting);
  box.resting = setTimeout(() => nameCells(box, state, map), REST);
}

// Cells that stay where they are go to their new colours in a moment.
const TURN = 600;  // milliseconds
function recolour(canvas, map, choice) {
  const paintIt = (at) => draw(canvas, pixels({ ...map, at }, choice)), { at: to } = map, { of: from } = canvas;
  const isAlike = from?.length === to.length && from[0].length === to[0].length && from !== to;
  const start = performance.now(), tone = `${choice.tone} ${choice.theme} ${choice.scale} ${choice.x}`;
  const turns = isAlike && canvas.tone === tone && !isStill();
  Object.assign(canvas, { of: to, tone });
  cancelAnimationFrame(canvas.turning);
  if (!turns) return paintIt(to);
  const step = (now) => {
    const share = Math.min(1, Math.max(0, (now - start) / TURN));
    const between = (value, i, j) => value === null || from[i][j] === null ? value : from[i][j] + (value - from[i][j]) * share;
    paintIt(share < 1 ? to.map((row, i) => row.map((value, j) => between(value, i, j))) : to);
    if (share < 1) canvas.turning = requestAnimationFrame(step);
  };
  step(start);
}

// Scrolls the chosen row into the box.
export function showRow(box) {
  const row = box.querySelector(".row.sel");
  if (!row?.offsetParent) return;  // none is chosen, or a narrow page hides the map
  const top = row.offsetParent.offsetTop + row.offsetTop, { scrollTop, clientHeight } = box;  // below the labels
  const isSeen = row.offsetTop >= scrollTop && top + row.offsetHeight <= scrollTop + clientHeight;
  if (!isSeen) box.scrollTop = top - clientHeight / 2;
}

const MARK = "This is a special token, not a word. It marks the beginning, the end or the language of the text.";
const GRID = html`<div class="grid2" role="grid" tabindex="0" data-k="grid"><div class="row cols" role="row"></div><div
  class="rows" role="rowgroup"><canvas aria-hidden="true"></canvas><div class="lines" role="none"></div></div></div>`;

// Labels and numbers.  What another head leaves as it is, keeps its elements.
function paintGrid(box, state, map, { flat, label, ends }) {
  const trace = traceOf(state), { kind } = state.head, [rowCode, columnCode] = trace.codes(kind);
  const across = state.view === "left_out" ? "erased" : isAttribution(state.view) ? "adds" : "looks at";
  const down = kind === "encoder" || state.rows === "reads" ? "reads" : "writes";
  const column = (one, j) => html`<div role="columnheader" data-column="${j}" class="${one.special ? "sp" : ""}"
    aria-label="${one.label}" ${one.special && tipped(MARK)}><span ${inLanguage(columnCode)}>${
    elided(one.label, 16)}</span></div>`;
  const row = (one, i) => html`<div class="row" role="row" data-row="${i}"><div class="rl ${one.special ? "sp" : ""}"
    role="rowheader"><span ${inLanguage(rowCode)}>${elided(one.label, 14)}</span></div><div class="cells"
    role="none"></div></div>`;
  paint(box, GRID);
  const grid = box.querySelector(".grid2"), lines = grid.querySelector(".lines");
  const style = `--label:${label}px;--widths:${ends.slice(1).map((end, j) => px(end - ends[j])).join(" ")}`;
  if (grid.getAttribute("style") !== style) grid.setAttribute("style", style);
  Object.assign(grid, { ends, dir: map.mirrored ? "rtl" : "", className: flat ? "grid2" : "grid2 tilt" });
  grid.setAttribute("aria-label", `${direction(kind, trace.languages)}: ${map.rows.length} rows, ${
    map.columns.length} columns. Use the arrow keys to move.`);
  paint(grid.querySelector(".cols"), html`<div class="axis" role="columnheader" aria-label="Word"><span>${across} ${
    map.mirrored ? "←" : "→"}</span><span>${down} ↓</span></div>${map.columns.map(column)}`);
  paint(lines, html`${map.rows.map(row)}`);
  lines.querySelectorAll(".cells").forEach((cells, i) =>
    paint(cells, html`${map.columns.map((_, j) => hasNumber(state, map, i, j) && cell(state, map, i, j, ends))}`));
  return grid;
}

const px = (length) => `${length.toFixed(2)}px`;
const hasNumber = (state, map, i, j) => !isDense(map) && Math.abs(map.at[i][j]) >= SHOWN * scaleOf(map, state);
const isFaded = ({ fade }, { special, label }) => fade && (special || /^[^\p{L}\p{N}]+$/u.test(label));
const paletteOf = (state, map) =>
  ({ tone: toneOf(state), theme: state.theme, scale: scaleOf(map, state), isFaded: (one) => isFaded(state, one) });

function cell(state, map, i, j, ends) {
  const value = map.at[i][j], { tone, theme, scale } = paletteOf(state, map);
  const ink = isFaded(state, map.columns[j]) ? "var(--soft)" : inkOn(shade(value / scale, tone, theme));
  return html`<div class="c" role="gridcell" data-column="${j}" aria-label="${nameOfCell(state, map, i, j)}"
    style="inset-inline-start:${px(ends[j])};width:${px(ends[j + 1] - ends[j])};color:${ink}">${
    hasNumber(state, map, i, j) && (map.isDifference ? points(value) : number(state.view, value))}</div>`;
}

// The element of a cell, made when first needed.
function cellOf(row, state, map, j) {
  const there = () => row.querySelector(`.c[data-column="${j}"]`), { ends } = row.closest(".grid2");
  if (!there()) {
    row.lastElementChild.insertAdjacentHTML("beforeend", cell(state, map, +row.dataset.row, j, ends));
    row.lastElementChild.painted = null;
  }
  return there();
}

// An element with a name for every cell, in order, for screen readers; row by row, so that nothing has to wait.
function nameCells(box, state, map, i = 0) {
  const row = box.querySelector(`.row[data-row="${i}"]`);
  if (!row || isDense(map) || !traceOf(state)) return;
  row.lastElementChild.append(...map.columns.map((_, j) => cellOf(row, state, map, j)));
  box.resting = setTimeout(() => nameCells(box, state, map, i + 1), 40);
}

export const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(Math.round(100 * value))}`;

function nameOfCell({ view }, map, i, j) {
  const value = map.at[i][j], nothing = map.isDifference ? "not in both" : "not yet written";
  const said = value === null ? nothing : map.isDifference ? `${points(value)} points` : view === "norm" ? value.toFixed(2)
    : view === "left_out" || isAttribution(view) ? `${nats(value)} nats` : percent(value);
  return `${map.rows[i].label}, ${map.columns[j].label}: ${said}`;
}

// The row and column under the pointer, if a cell that a step can look at is there.
export function cellAt({ target, offsetX }, given) {
  const cells = target.closest(".cells"), cell = target.closest(".c");
  if (!cells) return null;
  const { at, mirrored } = mapOf(given), { row } = cells.parentElement.dataset;
  const x = mirrored ? cells.clientWidth - offsetX : offsetX, { ends } = cells.closest(".grid2");
  const column = cell ? +cell.dataset.column : ends.findLastIndex((end) => end <= x);
  return typeof at[row][column] === "number" ? { row: +row, column } : null;
}

// What changes while the pointer or the keyboard moves.
export function followMap(box, given) {
  const grid = box.querySelector(".grid2"), state = lookOf(given);
  if (!grid) return;
  const trace = traceOf(state), map = mapOf(state), { hover } = state, at = rowOf(state, map);
  let column = hover?.column ?? -1;
  if (hover?.side && hover.side === { cross: "source", decoder: "target" }[state.head.kind]) {
    column = trace.columnOf(map, hover.side, hover.piece);
  }
  const rows = grid.querySelectorAll("[data-row]"), shown = map.at[Math.max(0, at)];
  rows.forEach((row, i) => row.classList.toggle("sel", i === at));
  grid.querySelectorAll(".hov").forEach((one) => one.classList.remove("hov"));
  grid.querySelector("#s2s-cell")?.removeAttribute("id");
  grid.querySelectorAll(".cols [data-column]").forEach((head, j) => {
    head.classList.toggle("hov", j === column);
    head.classList.toggle("hot", Math.abs(shown[j] || 0) / map.most >= 0.3);
  });
  grid.dataset.tone = toneOf(state);
  const mark = (row) => cellOf(row, state, map, column).classList.add("hov");
  if (column >= 0 && hover.side === "source") rows.forEach(mark);
  const cell = column >= 0 && rows[hover.row] && cellOf(rows[hover.row], state, map, column);
  if (!cell) return grid.removeAttribute("aria-activedescendant");
  cell.classList.add("hov");
  cell.id = "s2s-cell";
  grid.setAttribute("aria-activedescendant", "s2s-cell");
}

export const inColour = ({ head }, { theme }) => html`style="stroke:${headColour(head, theme)}"
  stroke-dasharray="${headDashes(head)}"`;

// The same map as lines from the looking words to those looked at; or the maps of the layer, each in its own colour.
function drawLineMap(box, state, map) {
  const trace = traceOf(state), tone = toneOf(state), width = box.clientWidth, { kind, layer } = state.head;
  const height = Math.max(box.clientHeight, 22 * Math.max(map.rows.length, map.columns.length));
  const [rowCode, columnCode] = trace.codes(kind), heads = overlaid(state);
  const y = (i, n) => 12 + (height - 24) * (i + 0.5) / n;
  const left = Math.min(150, width * 0.3), right = width - Math.min(190, width * 0.36), middle = (left + right) / 2;
  const at = map.rows.findIndex((one) => one.pieces.includes(looking(state)));
  const share = (value) => Math.min(1, Math.abs(value || 0) / map.most);
  const strokesOf = (head) => trace.map(head, state).at.flatMap((row, i) =>
    row.map((value, j) => [i, j, share(value), head]));
  const strokes = (heads || [state.head]).flatMap(strokesOf).filter(([, , share]) => share >= 0.06)
    .sort((a, b) => (a[0] === at) - (b[0] === at));
  const stroke = ([i, j, share, head]) => {
    const a = y(i, map.rows.length), b = y(j, map.columns.length), on = i === at;
    return html`<path d="M${left} ${a}C${middle} ${a} ${middle} ${b} ${right} ${b}" fill="none"
      ${heads ? inColour(head, state) : html`style="stroke:var(--${on ? tone : "edge"})"`}
      opacity="${on ? 1 : (0.16 + 0.34 * share).toFixed(2)}"
      stroke-width="${(on ? 1.5 + 3.5 * share : 0.6 + 2 * share).toFixed(2)}"/>`;
  };
  const row = (one, i) => html`<g data-row="${i}" class="${i === at ? "sel" : ""}"><rect x="0"
    y="${y(i, map.rows.length) - 11}" width="${left - 6}" height="22" rx="5"/><text x="${left - 12}"
    y="${y(i, map.rows.length) + 5}" text-anchor="end" ${inLanguage(rowCode)}>${elided(one.label, 16)}</text></g>`;
  const column = (one, j) => {
    const value = map.at[Math.max(0, at)][j];
    const written = heads || share(value) < 0.1 ? "" : ` ${amount(state.view, value)}`;
    const style = heads || share(value) < 0.3 ? "" : html`style="fill:var(--${tone});font-weight:700"`;
    return html`<text x="${right + 12}" y="${y(j, map.columns.length) + 5}" ${inLanguage(columnCode)} ${style}
      class="${one.special ? "sp" : ""}">\u2068${elided(one.label, 16)}\u2069${written}</text>`;
  };
  paint(box, html`<svg class="lined" width="${width}" height="${height}" role="img"
    aria-label="${direction(kind, trace.languages)}, as lines${heads ? `: all heads of layer ${layer + 1}` : ""}">${
    strokes.map(stroke)}${map.rows.map(row)}${map.columns.map(column)}</svg>`);
}
