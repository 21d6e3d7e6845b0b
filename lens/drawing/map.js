// The large map: its heading, its sentence, its tools, and the cells, as a grid that the keyboard walks through.

import { css, gradient, inkOn, shade } from "./colour.js";
import { html, icon, paint, tipped } from "./markup.js";
import { looking, traceOf } from "./state.js";
import { hasHeads, nameOf } from "./trace.js";
import { isRightToLeft } from "./languages.js";
import { TECHNICAL, VIEW_NAMES, columnSentence, direction, effectLine, elided, nats, percent, placeOf, plainNumber,
  reading, roleName, roleTip, sentence } from "./wording.js";

export function mapTools(state) {
  const button = (name, value, label) => html`<button data-set="${name}" data-value="${value}"
    data-k="${name}-${value}" aria-pressed="${state[name] === value}">${label}</button>`;
  return html`<button class="tool box" data-menu="show" data-k="show" aria-haspopup="menu"
    aria-expanded="${state.menu === "show"}"><span>Show: <b>${
    VIEW_NAMES[state.view][0].toLowerCase().replace("(alti+)", "(ALTI+)")}</b></span>${icon("down")}</button>
    <span class="seg" role="group" aria-label="Picture">${button("as", "map", "Map")}${button("as", "lines",
      "Lines")}</span>
    <span class="seg" role="group" aria-label="Unit"
      ${tipped("The model reads tokens, which may be parts of words. Words add their tokens up.")}>${
      button("unit", "words", "Words")}${button("unit", "tokens", "Tokens")}</span>
    <button class="tool box" data-menu="export" data-k="export" aria-haspopup="menu"
      aria-expanded="${state.menu === "export"}">Export ${icon("down")}</button>
    ${legend(state)}`;
}

function legend(state) {
  const trace = traceOf(state);
  if (!trace) return "";
  const top = scaleOf(state), low = state.view === "left_out" ? "1×" : state.view === "norm" ? "0" : "0%";
  return html`<span class="legend"><span>${low}</span><span class="ramp"
    style="background:${gradient(toneOf(state), state.theme)}"></span><span>${
    state.view === "left_out" ? `${plainNumber(Math.exp(top))}×` : state.view === "norm" ? top.toFixed(1)
      : percent(top)}</span></span>`;
}

const scaleOf = (state) => { const map = traceOf(state).map(state.head, choice(state));
  return state.scale === "highest" ? map.highest : map.most; };
export const choice = ({ view, unit, rows }) => ({ view, unit, rows });
export const toneOf = (state) => hasHeads(state.view) ? traceOf(state).tone(state.head, state.word) : "blue";

// Which head, what it is for, and how far it is to be trusted.
export function eyebrow(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view), role = merged ? null
    : trace.role(head), tone = toneOf(state);
  const many = state.traces.length;
  return html`${many > 1 ? html`<span class="parts"><button class="step" data-part="${(state.part + many - 1) % many}"
    data-k="part-back" aria-label="Previous part">${icon("left")}</button>
    Part <b>${state.part + 1}</b> of ${many}<button class="step" data-part="${(state.part + 1) % many}"
      data-k="part-on" aria-label="Next part">${icon("right")}</button></span>` : ""}
    <span><b>${direction(head.kind, trace.languages)}</b> · ${merged ? "all layers and heads together"
      : html`${TECHNICAL[head.kind]} · <span ${
      tipped(`On the command line: --layer ${head.layer} --head ${head.head}`)}
        tabindex="0">${placeOf(head)}</span>`}</span>
    ${role && tone !== "slate" ? html`<span class="badge tone-${tone}" tabindex="0"
      ${tipped(roleTip(role))}>${roleName(role)}</span>` : ""}`;
}

// How far the map is to be trusted, or what the model loses without the head.
export function badge(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view);
  if (head.kind === "cross" || view === "left_out") {
    const found = trust(trace, view, merged ? (view === "left_out" ? [] : [trace.sizes.cross[0] - 1])
      : [head.layer, head.head], state.rows);
    return found ? html`<span class="badge plain" tabindex="0" ${tipped(trustTip(found,
      trace.record.trust))}>Dictionary error ${percent(found.aer[0])}
      (random ${percent(trace.record.trust.random.aer[0])}) ${icon("info")}</span>`
        : html`<span class="badge plain" tabindex="0" ${
      tipped("How far the maps of this model can be read as a dictionary has not been measured.")}>Not measured ${icon("info")}</span>`;
  }
  const line = merged ? null : effectLine(trace, head, state.word), apart = trace.measured.apart;
  if (!line) return "";
  const average = apart?.heads[nameOf(head)];
  return html`<span class="badge plain" tabindex="0"
    ${tipped(html`<b>Does the model need this head?</b> Its average is put in its place. The margin is how much
    more probable the word is than its runner-up (log-probability).${average === undefined ? ""
      : html` Over ${apart.pronouns} held-out pronouns, <i>il</i> and <i>elle</i> are
    told apart ${percent(average)} of the time without this head, ${percent(apart.whole)} with it, 50% by guessing.`}`)}>${line} ${icon("info")}</span>`;
}

function trust(trace, view, place, rows) {
  const found = trace.record.trust?.maps.find((one) => one.view === view && one.rows === rows
    && String(one.map) === String(place));
  return found?.aer ? found : null;
}

function trustTip(found, all) {
  const range = ([, low, high], write) => `${write(low)} to ${write(high)}`, two = (value) => value.toFixed(2);
  return html`<b>Can you read this map as a dictionary?</b> Link each word to the source word it looks at most, and compare with the right links: wrong and missing
    links together, ${percent(found.aer[0])} (AER; ${range(found.aer,
      percent)}). A random map: ${percent(all.random.aer[0])} (${range(all.random.aer, percent)}).${
    found.tau ? html` Agreement with erasure: ${two(found.tau[0])} (Kendall’s tau; ${range(found.tau, two)}).`
      : ""}${found.supervised
    ? " This head was trained with known links." : ""} On ${all.sentences} held-out sentences of ${all.measured_on}.`;
}

// The sentence for where the pointer or the keyboard is.
export function headline(state) {
  const trace = traceOf(state), { hover, head } = state;
  if (hover?.column !== undefined && hover?.row !== undefined && hover.row !== null) {
    const row = trace.map(head, choice(state)).rows[hover.row];
    if (row) return sentence(trace, state, { piece: row.pieces[0], column: hover.column });
  }
  if (hover?.side === "source" && head.kind !== "encoder" && state.view === "raw") {
    const said = head.kind === "cross" ? columnSentence(trace, state, hover.piece) : null;
    if (said) return said;
  }
  const said = sentence(trace, state, { piece: looking(state) });
  return state.moment === null ? said
    : html`After <b>${state.replay.moments[state.moment].step.toLocaleString("en-GB")}</b> steps: ${said}`;
}
export const how = (state) => state.moment === null ? reading(state.head.kind, state.view, traceOf(state).languages,
  state.theme === "dark")
  : "The map is of what this model wrote at that moment.";

// --- the cells

const SHOWN = 0.095;  // of the scale, from which on a cell has its number
let meter = null;
function widthOf(text, font) {
  meter ||= document.createElement("canvas").getContext("2d");
  meter.font = font;
  return meter.measureText(text).width;
}

export function drawMap(box, state) {
  const trace = traceOf(state), map = trace.map(state.head, choice(state)),
    narrow = box.closest(".s2s").clientWidth <= 760;
  if (state.as === "lines" || box.closest(".s2s").querySelector(".texts.lines-instead")) return drawAsLines(box,
    state, map);
  const label = narrow ? 78 : 96, room = box.clientWidth - label - 4, font = `13px ${getComputedStyle(box).fontFamily}`;
  const needs = map.columns.map((one) => Math.max(22, widthOf(elided(one.label, 16), font) + 8)),
    total = needs.reduce((a, b) => a + b, 0);
  const flat = total <= room && !narrow, least = Math.max(22, Math.floor(room / map.columns.length));
  const template = `${label}px ${flat
    ? needs.map((need) => `${(need + (room - total) / needs.length).toFixed(2)}px`).join(" ")
    : `repeat(${map.columns.length},minmax(${narrow ? 12 : Math.min(least, 22)}px,1fr))`}`;
  const key = [state.head.kind, state.unit, state.rows, state.view === "left_out", map.rows.length, template,
    trace.source, trace.target, state.moment].join("|");
  if (box.key !== key) {
    box.innerHTML = String(frame(state, map, flat));
    box.key = key;
    box.painted = null;
  }
  const grid = box.querySelector(".grid2");
  grid.style.setProperty("--template", template);
  grid.style.setProperty("--label", `${label}px`);
  fill(grid, state, map);
  followMap(box, state);
  const row = grid.querySelector(".row.sel"), top = grid.querySelector(".cols").offsetHeight;
  if (row && (row.offsetTop < box.scrollTop + top || row.offsetTop + row.offsetHeight > box.scrollTop
    + box.clientHeight)) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

function frame(state, map, flat) {
  const trace = traceOf(state), [source, target] = trace.languages, { kind } = state.head;
  const rowCode = kind === "encoder" ? source : target, columnCode = kind === "decoder" ? target : source;
  const axis = html`<span>${state.view === "left_out" ? "erased" : "looks at"} →</span><span>${kind === "encoder"
    || state.rows === "reads" ? "reads" : "writes"} ↓</span>`;
  return html`<div class="grid2 ${flat ? "" : "tilt"}" role="grid" tabindex="0" data-k="grid"
    aria-label="${direction(kind, trace.languages)}: ${
    map.rows.length} rows, ${map.columns.length} columns. Arrow keys move."
      ${isRightToLeft(columnCode) ? html`dir="rtl"` : ""}>
    <div class="row cols" role="row"><div class="axis" role="columnheader"
      aria-label="Word">${axis}</div>${map.columns.map((one, j) => html`<div role="columnheader" data-column="${j}"
      class="${one.special ? "sp" : ""}" aria-label="${one.label}"><span lang="${columnCode}"
        dir="auto">${elided(one.label, 16)}</span></div>`)}</div>
    ${map.rows.map((one, i) => html`<div class="row" role="row" data-row="${i}"><div
      class="rl ${one.special ? "sp" : ""}" role="rowheader"><span lang="${rowCode}" dir="auto">${
      elided(one.label, 14)}</span></div>${map.columns.map((_, j) => html`<div class="c" role="gridcell"
        data-column="${j}"></div>`)}</div>`)}</div>`;
}

function fill(grid, state, map) {
  const tone = toneOf(state), scale = state.scale === "highest" ? map.highest : map.most, marks = /^[^\p{L}\p{N}]+$/u;
  const rows = grid.querySelectorAll("[data-row]");
  map.at.forEach((row, i) => {
    const cells = rows[i].querySelectorAll(".c");
    row.forEach((value, j) => {
      const cell = cells[j], masked = value === null, names = `${map.rows[i].label}, ${map.columns[j].label}: `;
      const share = masked ? 0 : value / scale, colour = shade(Math.abs(share), value < 0 ? "orange" : tone,
        state.theme);
      const said = masked ? "not yet written" : state.view === "norm" ? value.toFixed(2)
        : state.view === "left_out" ? `${nats(value)} nats` : percent(value);
      const faded = state.fade && (map.columns[j].special || marks.test(map.columns[j].label));
      const key = `${masked} ${colour} ${said} ${faded}`;
      if (cell.key === key) return;  // most cells of two heads are alike
      cell.key = key;
      cell.classList.toggle("masked", masked);
      cell.classList.toggle("faded", faded);
      cell.style.cssText = masked ? "" : `background:${css(colour)};color:${inkOn(colour)}`;
      cell.textContent = !masked && Math.abs(share) >= SHOWN ? numberOf(state.view, value) : "";
      cell.setAttribute("aria-label", names + said);
    });
  });
}
const numberOf = (view, value) => view === "left_out" ? plainNumber(Math.exp(value)) : view === "norm"
  ? value.toFixed(1) : Math.round(100 * value);

// What changes while the pointer or the keyboard moves.
export function followMap(box, state) {
  const grid = box.querySelector(".grid2");
  if (!grid) return;
  const trace = traceOf(state), map = trace.map(state.head, choice(state)),
    at = map.rows.findIndex((one) => one.pieces.includes(looking(state)));
  const { hover } = state; let column = hover?.column ?? -1;
  if (hover?.side && column < 0) {
    const side = state.head.kind === "decoder" ? "target" : "source";
    if (hover.side === side && !(state.head.kind === "encoder")) column = map.columns.findIndex((one) =>
      one.word !== null && one.word === trace.unitAt(side, hover.piece)?.word);
  }
  const rows = grid.querySelectorAll("[data-row]"), shown = map.at[Math.max(0, at)];
  rows.forEach((row, i) => row.classList.toggle("sel", i === at));
  grid.querySelectorAll(".hov").forEach((one) => one.classList.remove("hov"));
  grid.querySelectorAll(".cols [data-column]").forEach((head, j) => {
    head.classList.toggle("hov", j === column);
    head.classList.toggle("hot", Math.abs(shown[j] || 0) / map.most >= 0.3);
  });
  grid.dataset.tone = toneOf(state);
  const cell = hover?.row !== undefined && hover.row !== null && rows[hover.row]?.querySelectorAll(".c")[column];
  cell?.classList?.add("hov");
  for (const row of hover?.side && column >= 0 && hover.side === "source" ? rows
    : []) row.querySelectorAll(".c")[column]?.classList.add("hov");
  grid.querySelector("#s2s-cell")?.removeAttribute("id");
  if (cell) { cell.id = "s2s-cell"; grid.setAttribute("aria-activedescendant", "s2s-cell");
    } else grid.removeAttribute("aria-activedescendant");
}

// The same map as lines from the words that look to those looked at.
function drawAsLines(box, state, map) {
  const trace = traceOf(state), tone = toneOf(state), width = box.clientWidth,
    height = Math.max(box.clientHeight, 22 * Math.max(map.rows.length, map.columns.length));
  const [source, target] = trace.languages, rowCode = state.head.kind === "encoder" ? source : target,
    columnCode = state.head.kind === "decoder" ? target : source;
  const y = (i, n) => 12 + (height - 24) * (i + 0.5) / n, left = Math.min(150, width * 0.3),
    right = width - Math.min(190, width * 0.36), middle = (left + right) / 2;
  const at = map.rows.findIndex((one) => one.pieces.includes(looking(state)));
  const strokes = map.at.flatMap((row, i) => row.map((value, j) => [i, j,
    Math.abs(value || 0) / map.most])).filter(([, , share]) => share >= 0.06)
    .sort((a, b) => (a[0] === at) - (b[0] === at));
  box.key = null;
  paint(box, html`<svg class="lined" width="${width}" height="${height}" role="img"
    aria-label="${direction(state.head.kind, trace.languages)}, as lines">${strokes.map(([i, j, share]) => {
    const a = y(i, map.rows.length), b = y(j, map.columns.length), on = i === at;
    return html`<path d="M${left} ${a}C${middle} ${a} ${middle} ${b} ${right} ${b}" fill="none"
      style="stroke:var(--${on ? tone : "edge"})"
      stroke-width="${(on ? 1.5 + 3.5 * share : 0.6 + 2 * share).toFixed(2)}"
        opacity="${on ? 1 : (0.16 + 0.34 * share).toFixed(2)}"/>`;
  })}${map.rows.map((one, i) => html`<g data-row="${i}" class="${i === at ? "sel" : ""}"><rect x="0"
    y="${y(i, map.rows.length) - 11}" width="${left - 6}" height="22" rx="5"/><text
    x="${left - 12}" y="${y(i, map.rows.length) + 5}" text-anchor="end"
      lang="${rowCode}">${elided(one.label, 16)}</text></g>`)}${map.columns.map((one, j) => {
    const value = map.at[Math.max(0, at)][j], hot = Math.abs(value || 0) / map.most >= 0.3;
    return html`<text x="${right + 12}" y="${y(j, map.columns.length) + 5}" lang="${columnCode}"
      class="${one.special ? "sp" : ""}" ${hot ? html`style="fill:var(--${tone});font-weight:700"` : ""}>${
      elided(one.label, 16)}${Math.abs(value || 0) / map.most >= 0.1 ? ` ${state.view === "left_out"
        || state.view === "norm" ? value.toFixed(1) : percent(value)}` : ""}</text>`;
  })}</svg>`);
}
