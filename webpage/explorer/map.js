// The large map: its heading, sentence, tools and cells, a grid that can be walked with the keyboard.

import { gradient, headColour, headDashes, inkOn, shade } from "../common/colour.js";
import { VIEWS } from "../data.js";
import { html, icon, isNarrow, opener, paint, segment, tipped } from "../common/markup.js";
import { FONT, SHOWN, draw, pixels } from "../common/small_map.js";
import { isOld, looking, traceOf } from "../common/state.js";
import { hasHeads, isAttribution, nameOf } from "../common/trace.js";
import { same } from "./texts.js";
import { inLanguage } from "../common/languages.js";
import { SUPERVISED, TECHNICAL, amount, averageOf, capital, columnSentence, count, direction, elided, nats,
  number, outcome, percent, placeOf, quoted, reading, roleName, roleTip, rowSentence } from "../common/wording.js";

export function mapTools(state) {
  const choice = (label, name, options, tip) => segment(label, "set", name, options, state[name], tip);
  const menu = (name, label) => opener(state, name, html`${label}${icon("down")}`, html`class="tool second box"`);
  const view = VIEWS[state.view].title.toLowerCase().replace("(alti+)", "(ALTI+)");
  return html`${menu("show", html`<span>Show: <b>${view}</b></span>`)}
    ${choice("Display", "as", [["map", "Map"], ["lines", "Lines"]])}
    ${state.as === "lines" && hasHeads(state.view) && choice("Heads drawn", "overlay", [["one", "This head"],
      ["all", "All heads"]], tipped("All heads of this layer overlaid, as BertViz draws them."))}
    ${choice("Unit", "unit", [["words", "Words"], ["tokens", "Tokens"]],
      tipped("The model reads tokens, which may be parts of words. “Words” combines the tokens of each word."))}
    ${menu("export", "Export ")}
    ${legend(state)}`;
}

const overlaid = (state) => state.as === "lines" && state.overlay === "all" && hasHeads(state.view)
  ? traceOf(state).layers(state.head.kind)[state.head.layer] : null;

function legend(state) {
  const trace = traceOf(state), heads = overlaid(state);
  if (!trace) return "";
  if (heads) {
    return html`<span class="legend">Head ${heads.map((one) => html`<button class="line-key" data-head="${nameOf(one)}"
      data-k="key-${one.head}" aria-pressed="${same(one, state.head)}"><svg viewBox="0 0 18 4" aria-hidden="true"><path
      d="M0 2H18" ${inColour(one, state)}/></svg>${one.head + 1}</button>`)}</span>`;
  }
  const top = scaleOf(trace.map(state.head, state), state);
  return html`<span class="legend"><span>${amount(state.view, 0)}</span><span class="ramp"
    style="background:${gradient(toneOf(state), state.theme)}"></span><span>${amount(state.view, top)}</span></span>`;
}

const scaleOf = (map, { scale }) => scale === "highest" ? map.highest : map.most;
export const toneOf = (state) => hasHeads(state.view) ? traceOf(state).tone(state.head, state.word) : "blue";

// Which head, and its role.
export function eyebrow(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view), many = state.traces.length;
  const role = merged ? null : trace.role(head), tone = toneOf(state);
  const step = (by, key, label, name) => html`<button class="icon" data-part="${(state.part + by + many) % many}"
    data-k="part-${key}" aria-label="${label}">${icon(name)}</button>`;
  const parts = html`<span class="parts">${step(-1, "back", "Previous part", "left")}
    Part <b>${state.part + 1}</b> of ${many}${step(1, "on", "Next part", "right")}</span>`;
  const onCommandLine = tipped(html`${capital(TECHNICAL[head.kind])}. On the command line: --layer ${head.layer}
    --head ${head.head}`);
  const which = html`<span ${onCommandLine} tabindex="0">${placeOf(head)}</span>`;
  return html`${many > 1 ? parts : ""}
    <span><b>${direction(head.kind, trace.languages)}</b> · ${merged ? "all layers and heads together" : which}</span>
    ${role && tone !== "slate" ? html`<span class="badge tone-${tone}" tabindex="0"
      ${tipped(roleTip(role))}>${roleName(role)}</span>` : ""}<span class="trust">${
    isOld(state) ? html`<span class="badge plain">Outdated</span>` : state.moment === null ? badge(state) : ""}</span>`;
}

// How far the map can be trusted, or what the model loses without the head.
function badge(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view), leftOut = view === "left_out";
  const pill = (kind, tip, text) =>
    html`<span class="badge plain" data-says="${kind}" tabindex="0" ${tipped(tip)}>${text} ${icon("info")}</span>`;
  if (head.kind === "cross" || leftOut) {
    const { shape } = trace.maps.cross[view];
    const place = !merged ? [head.layer, head.head] : shape.length === 2 ? [] : [shape[0] - 1];
    const all = trace.record.trust, found = all?.maps.find((one) => one.view === view && one.rows === state.rows
      && String(one.map) === String(place));
    if (found?.aer) {
      return pill("dictionary", trustTip(found, all), html`Alignment error ${percent(found.aer[0])}
        (random map ${percent(all.random.aer[0])})`);
    }
    return found?.tau ? pill("agreement", trustTip(found, all), html`Agreement with erasure ${two(found.tau[0])}
      (random map ${two(all.random.tau[0])})`)
      : pill("not-measured", "The faithfulness of this map was not measured for this model.", "Not measured");
  }
  const effect = merged ? null : trace.effect(head, state.word), { apart } = trace.measured;
  const average = apart?.heads[nameOf(head)];
  const isMeasured = average !== undefined && trace.languages[1] === "fr" && trace.isPronoun(state.word);
  if (!effect || (!isMeasured && trace.mattering(state.word).some((one) => same(one, head)))) return "";
  return pill(isMeasured ? "auc" : "head-off", neededTip(trace, head, isMeasured), html`Head off: ${isMeasured
    ? html`ROC AUC ${average.toFixed(2)}` : outcome(trace, effect)}`);
}

function neededTip(trace, head, isMeasured) {
  const { apart } = trace.measured, average = apart?.heads[nameOf(head)];
  const measured = !isMeasured ? "" : html` The test used ${apart.pronouns} held-out pronouns
    and gave the head’s average over other held-out sentences instead of its output. The model then ranks ${
    percent(average)} of pairs of one <i>il</i> and one <i>elle</i> correctly. With the head it ranks ${
    percent(apart.whole)} correctly, and guessing gives 50%. This is the area under the ROC curve (AUC), not the share
    of correct pronouns.`;
  return html`<b>Does the model need this head?</b>${measured || html` Here it gives ${averageOf(trace)} instead of
    its output.`}`;
}

const two = (value) => value.toFixed(2).replace("-0.00", "0.00");

// Without gold links there is no error, only the agreement.
function trustTip(found, all) {
  const range = ([, low, high], write) => `${write(low)} to ${write(high)}`;
  const agreement = !found.tau ? ""
    : ` Agreement with erasure: ${two(found.tau[0])} (Kendall’s tau; ${range(found.tau, two)}).`;
  const measured = ` Measured on ${all.sentences} sentences of ${all.measured_on}.`;
  if (!found.aer) {
    return html`<b>Does this map show the words that matter?</b> The map is compared with erasure, which removes one
      source word at a time. Agreement is 1 if both rank the source words in the same order, and 0 if they are
      unrelated.${agreement}${measured}`;
  }
  return html`<b>Does this map align the words correctly?</b> Each word is linked to the source word that it looks at
    most. The alignment error rate (AER) counts the wrong and the missing links: ${percent(found.aer[0])} (${
    range(found.aer, percent)}). A random map has ${percent(all.random.aer[0])} (${
    range(all.random.aer, percent)}).${agreement}${found.supervised ? SUPERVISED : ""}${measured}`;
}

// The sentence for the position of the pointer or the keyboard.
export function headline(state) {
  const trace = traceOf(state), { hover, head } = state;
  if (hover?.column !== undefined) return rowSentence(trace, state, { piece: looking(state), column: hover.column });
  if (hover?.side === "source" && head.kind === "cross" && state.view === "raw") {
    return columnSentence(trace, state, hover.piece);
  }
  const said = rowSentence(trace, state, { piece: looking(state) });
  return state.moment === null ? said
    : html`After <b>${count(state.replay.moments[state.moment].step)}</b> training steps: ${said}`;
}
// That the map has become another one, as the evidence came, until the reader points at something.
export function exchanged({ head, shown, touched, pinned, view, word, ...state }) {
  if (!shown || touched || pinned || state.moment !== null || !same(head, shown) || !hasHeads(view)) return "";
  const trace = traceOf(state), [, code] = trace.languages, own = quoted(trace.unitAt("target", word).label, code);
  return trace.mattering(word).length
    ? html`<span data-says="shown-head">Now shown: the head that matters most for ${own}</span>`
    : html`<span>Now shown: cross-attention, as no head matters alone for ${own}</span>`;
}
export const how = (state) => html`<span class="caveat">A map shows where a head looked, not why.</span> ${
  state.moment !== null ? "This map shows the translation that the model wrote at that step."
    : reading(state.head.kind, state.view, traceOf(state).languages, state.theme === "dark")}`;

// --- the cells: coloured by one canvas; an element each for those with a number, and for all once the reader rests

const MANY = 1600, REST = 300;  // so many cells get no elements; milliseconds
const isDense = (map) => map.rows.length * map.columns.length >= MANY;

const meter = document.createElement("canvas").getContext("2d");
meter.font = `13px ${FONT}`;

export function drawMap(box, state, width) {
  const map = traceOf(state).map(state.head, state);
  if (state.as === "lines") return drawLineMap(box, state, map);
  const narrow = isNarrow(), label = narrow ? 78 : 88, room = width - label - 1, { length } = map.columns;
  const needs = map.columns.map((one) => Math.max(22, meter.measureText(elided(one.label, 16)).width + 6));
  const spare = room - needs.reduce((a, b) => a + b, 0), flat = spare >= 0 && !narrow;
  const whole = flat ? room : Math.max(room, (narrow ? 12 : 22) * length);
  let end = 0;
  const ends = [0, ...needs.map((need) => (end += flat ? need + spare / length : whole / length))];
  const grid = paintGrid(box, state, map, { flat, label, ends });
  draw(grid.querySelector("canvas"), pixels(map, { ...paletteOf(state, map), x: ends.map(Math.round), gap: 1 }));
  clearTimeout(box.resting);
  box.resting = setTimeout(() => nameCells(box, state, map), REST);
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
    hasNumber(state, map, i, j) && number(state.view, value)}</div>`;
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

function nameOfCell({ view }, map, i, j) {
  const value = map.at[i][j], said = value === null ? "not yet written" : view === "norm" ? value.toFixed(2)
    : view === "left_out" || isAttribution(view) ? `${nats(value)} nats` : percent(value);
  return `${map.rows[i].label}, ${map.columns[j].label}: ${said}`;
}

// The row and column under the pointer, if a cell that a step can look at is there.
export function cellAt({ target, offsetX }, state) {
  const cells = target.closest(".cells"), cell = target.closest(".c");
  if (!cells) return null;
  const { at, mirrored } = traceOf(state).map(state.head, state), { row } = cells.parentElement.dataset;
  const x = mirrored ? cells.clientWidth - offsetX : offsetX, { ends } = cells.closest(".grid2");
  const column = cell ? +cell.dataset.column : ends.findLastIndex((end) => end <= x);
  return typeof at[row][column] === "number" ? { row: +row, column } : null;
}

// What changes while the pointer or the keyboard moves.
export function followMap(box, state) {
  const grid = box.querySelector(".grid2");
  if (!grid) return;
  const trace = traceOf(state), map = trace.map(state.head, state), { hover } = state;
  const at = map.rows.findIndex((one) => one.pieces.includes(looking(state)));
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

const inColour = ({ head }, { theme }) => html`style="stroke:${headColour(head, theme)}"
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
