// What the lessons' controls and pictures share: buttons, a slider; strips of numbers, bars, a map, curves, as SVG in
// the page's colours; and how numbers are written.  A picture is as wide as its place, `roomOf()` units; on a phone it
// has 400 pixels of height.

import { css, shade } from "../common/colour.js";
import { html, isNarrow } from "../common/markup.js";
import { cells } from "../common/small_map.js";
import { percent } from "../common/wording.js";

// The sentence of the lessons, as a question of `inside` and `look` takes it.
export const CAT = { text: "The cat did not cross the street because it was too tired.",
  translation: "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.", source: "en", target: "fr" };

// --- numbers

export const sum = (all) => all.reduce((total, one) => total + one, 0);
export const best = (all) => all.indexOf(Math.max(...all));  // the place of the largest
export const dot = (a, b) => sum(a.map((one, i) => one * b[i]));
export function softmax(scores) {
  const most = Math.max(...scores), powers = scores.map((one) => Math.exp(one - most)), total = sum(powers);
  return powers.map((one) => one / total);
}
export const figure = (value, digits = 1) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
export const share = percent;  // 0.416 as 42%

// --- controls: what they set is a field of the lesson's state

// A row of buttons, one for each value or [value, text]; values are JSON: numbers, texts, true, null.
export function buttons(label, name, options, chosen) {
  const button = ([value, text = String(value)], i) => html`<button class="pick" data-set="${name}"
    data-value="${JSON.stringify(value)}" data-k="${name}-${i}" aria-pressed="${value === chosen}">${text}</button>`;
  return html`<div class="picks" role="group" aria-label="${label}"><span class="ask-for">${label}</span>${
    options.map((one, i) => button([one].flat(), i))}</div>`;
}

// A slider over the numbers from `least` to `most`; `said` is what its value stands for, in words or with its unit.
export const slider = (label, name, { least = 0, most, step = 1, value, valueText = String(value) }) => html`<label
  class="slider"><span class="ask-for">${label}</span><input type="range" min="${least}" max="${most}" step="${step}"
  value="${value}" data-slide="${name}" data-k="slide-${name}" aria-valuetext="${valueText}"><output>${
  valueText}</output></label>`;

// --- pictures

export const roomOf = () => isNarrow() ? 340 : 760;
// The height of each of so many rows.
const rowOf = (count, most = 28) => isNarrow() ? Math.min(most, 340 / count) : most;

// A picture of this height; `label` says in words what it shows.
export const picture = (label, height, content) => html`<svg class="drawn" viewBox="0 0 ${roomOf()} ${
  Math.ceil(height)}" role="img" aria-label="${label}">${content}</svg>`;

export const toneOf = (name) => `var(--${name})`;  // of palette.py

// A text; `how` is "bold", "soft", "slanted", or several; `anchor` is start, middle or end.
export const text = (x, y, words, { how = "", anchor = "start" } = {}) =>
  html`<text x="${x}" y="${y}" class="${how}" text-anchor="${anchor}">${words}</text>`;

// Numbers as cells in a row: blue above 0, orange below, stronger further from 0; `most` is the strongest.
export function strip(numbers, { x = 0, y = 0, width, height = 16, most = mostOf(numbers), theme }) {
  const cell = width / numbers.length;
  const one = (value, i) => html`<rect x="${(x + i * cell).toFixed(1)}" y="${y}" width="${
    Math.max(1, cell - (cell > 4 ? 1 : 0)).toFixed(1)}" height="${height}" rx="${cell > 4 ? 1.5 : 0}"
    fill="${css(shade(value / most, "blue", theme))}"/>`;
  return html`<g>${numbers.map(one)}</g>`;
}
export const mostOf = (...vectors) => Math.max(1e-9, ...vectors.flat(Infinity).map(Math.abs));

// Vectors as strips under each other: rows are { label, numbers, said, how }; `said` stands at the right end.
export function strips(rows, { y = 0, most = mostOf(rows.map((one) => one.numbers)), left = labelRoom(rows),
  right = 0, height = rowOf(rows.length), theme }) {
  const size = { x: left, width: roomOf() - left - right, height: height * .68, most, theme };
  const row = ({ label, numbers, valueText = "", how = "" }, i) => html`${
    text(left - 8, y + (i + .68) * height, label, { how, anchor: "end" })}${
    strip(numbers, { ...size, y: y + (i + .16) * height })}${
    text(roomOf(), y + (i + .68) * height, valueText, { how: `${how} figure`, anchor: "end" })}`;
  return html`${rows.map(row)}`;
}

// Bars under each other, each with its number beside it: rows are { label, value, said, tone, how }; values below 0
// point to the left of `zero`.
export function bars(rows, { y = 0, most = mostOf(rows.map((one) => one.value)), left = labelRoom(rows), right = 84,
  height = rowOf(rows.length) }) {
  const isMixed = rows.some((one) => one.value < 0), all = roomOf() - left - right, room = isMixed ? all / 2 : all;
  const zero = left + all - room, scale = room / most;
  const bar = ({ label, value, valueText = figure(value), tone = value < 0 ? "orange" : "blue", how = "" }, i) => {
    const middle = y + i * height + height / 2, wide = Math.min(room, Math.abs(value) * scale);
    const x = (value < 0 ? zero - wide : zero).toFixed(1), width = Math.max(1, wide).toFixed(1);
    return html`${text(left - 8, middle + 5, label, { how, anchor: "end" })}<rect x="${x}" y="${middle - 6}"
      width="${width}" height="12" rx="2" fill="${toneOf(tone)}"/>${
      text((zero + (value < 0 ? 0 : wide) + 8).toFixed(1), middle + 5, valueText, { how: `${how} figure` })}`;
  };
  return html`${rows.map(bar)}`;
}
// Pixels that the labels of rows take.
export const labelRoom = (rows) => 16 + 7.6 * Math.max(4, ...rows.map((one) => one.label.length));

// A map: `rows` and `columns` are labels, `values` [row][column] shares (null: cannot be seen); `marked` is a row.
export function map(rows, columns, values, { y = 0, theme, tone = "blue", marked = null, most = 1, written = share }) {
  const names = (all) => all.map((label) => ({ label })), left = labelRoom(names(rows)), top = y + 72;
  const size = Math.min(isNarrow() ? 20 : 30, (roomOf() - left - 30) / columns.length);
  const shares = values.map((row) => row.map((value) => value === null ? null : value / most));
  const options = { size, left, top, theme, tone, written: (value) => written(value * most), numbers: size > 26 };
  return { height: top + rows.length * size + 4, drawn: html`${
    cells({ rows: names(rows), columns: names(columns) }, shares, options)}${
    marked === null ? "" : html`<rect class="marked" x="${left - 2}" y="${top + marked * size - 2}"
    width="${columns.length * size + 3}" height="${size + 3}" rx="4"/>`}` };
}

// Lines over `x`: each { label, values, tone }, null where there is no value; `at` marks a place of x.
export function curves(x, lines, { y = 0, height = 260, at = null, bottom = "", side = "", least = null, most = null,
  log = false, written = (value) => figure(value, 0) }) {
  const all = lines.flatMap((one) => one.values).filter((value) => value !== null), scale = log ? Math.log : Number;
  const low = scale(least ?? Math.min(...all)), high = scale(most ?? Math.max(...all));
  const left = 52, right = 14, foot = 40;
  const across = (i) => left + (x[i] - x[0]) / (x.at(-1) - x[0]) * (roomOf() - left - right);
  const down = (value) => y + 18 + (1 - (scale(value) - low) / (high - low || 1)) * (height - 18 - foot);
  const path = ({ values }) => values.map((value, i) => value === null ? ""
    : `${i && values[i - 1] !== null ? "L" : "M"}${across(i).toFixed(1)},${down(value).toFixed(1)}`).join("");
  const back = log ? Math.exp : Number, ends = [back(high), back(low)];
  return html`<path class="axis" d="M${left},${y + 12}V${y + height - foot}H${roomOf() - right}"/>${
    ends.map((value) => text(left - 8, down(value) + 5, written(value), { how: "soft", anchor: "end" }))}${
    text(left, y + height - 22, x[0], { how: "soft" })}${
    text(roomOf() - right, y + height - 22, x.at(-1), { how: "soft", anchor: "end" })}${
    text((left + roomOf()) / 2, y + height - 6, bottom, { how: "soft", anchor: "middle" })}${
    text(left + 8, y + 16, side, { how: "soft" })}${
    at === null ? "" : html`<path class="at" d="M${across(at)},${y + 12}V${y + height - foot}"/>`}${
    lines.map((one) => html`<path class="curve" d="${path(one)}" stroke="${toneOf(one.tone)}"/>${
      at === null || one.values[at] === null ? "" : html`<circle cx="${across(at)}" cy="${down(one.values[at])}" r="5"
        fill="${toneOf(one.tone)}"/>`}`)}`;
}

// What colours or marks mean: [tone, words] each, on one line of a picture.
export const legend = (all) => html`<p class="key">${all.map(([tone, words]) => html`<span><i style="background:${
  toneOf(tone)}"></i>${words}</span>`)}</p>`;
