// One head of the machine: its whole map, and one row of it step by step, from the query to what the head adds.

import { strip } from "./arithmetic.js";
import { inside, scrollable, shown } from "./answers.js";
import { inkOn, shade } from "./colour.js";
import { isRightToLeft } from "./languages.js";
import { percents, plain, restOf, signed, sumOf } from "./machine_figures.js";
import { columnName, goalOf, mapOf, namesOf, rowName } from "./machine_names.js";
import { html } from "./markup.js";
import { SHOWN, imageOf } from "./small_map.js";
import { elided } from "./wording.js";

export const TONE = { encoder: "blue", decoder: "green", cross: "blue" };

// The whole map; a click on a row chooses it.
export function wholeMap({ trace, state: { theme } }, head, chosen) {
  const map = mapOf(trace, head), { kind } = head, tone = TONE[kind], { length } = map.columns;
  const names = namesOf(trace, kind === "decoder" ? "inputs" : "source");
  const column = (name, c) => html`<span class="to" style="grid-column:${c + 2}">${elided(name, 14)}</span>`;
  const number = (value, r, c) => value >= SHOWN && html`<span class="n" style="grid-area:${r + 2}/${c + 2};color:${
    inkOn(shade(value, tone, theme))}">${Math.round(100 * value)}</span>`;
  const row = (values, r) => html`<button class="from" style="grid-row:${r + 2}" data-do="machine_row"
    data-value="${map.first + r}" data-k="machine-row-${r}" aria-pressed="${map.first + r === chosen}">${
    rowName(trace, kind, map.first + r)}</button>${values.map((value, c) => number(value, r, c))}`;
  const rightToLeft = isRightToLeft(trace.codes(kind)[1]);
  return html`<div class="whole" role="group" aria-label="The whole map, ${map.rows.length} rows and ${length} columns"
    style="--columns:${length};--rows:${map.rows.length}" dir="${rightToLeft ? "rtl" : "ltr"}"><img alt=""
    class="${rightToLeft ? "turned" : ""}" src="${imageOf(map, { tone, theme })}"><i class="ruled"></i>${
    names.map(column)}${map.at.map(row)}</div>`;
}

// The row step by step, once its numbers have arrived.
export function rowSteps(at, head, row) {
  const answer = inside(at.context, at.trace, { tool: "arithmetic", ...head, row });
  return shown(answer, () => scrollable("The row, step by step", steps(answer, at, head, row)));
}

function steps(found, at, { kind, layer, head }, row) {
  const { trace, state: { theme }, parts } = at, given = kind === "encoder" ? null : parts[kind][layer][head];
  const size = found.query.length, shares = percents(found.weights), best = found.weights.indexOf(Math.max(...found.weights));
  const most = (vectors) => Math.max(1e-6, ...vectors.flat().map(Math.abs));
  const keys = most([found.query, ...found.keys]), biased = found.bias.some(Boolean), masked = found.allowed.includes(false);
  const taken = found.values.map((value, c) => value.map((one) => one * found.weights[c]));
  const values = most([...taken, found.mixed]), draw = (vector, scale) => strip(vector, scale, theme);
  const titles = [["answers", "key", "vector"], ["q · k", `add ${size} products`], scaleName(found.scale, size),
    biased && ["+ place", "relative position"], masked && ["mask", "not yet written"], ["share", "softmax", "left"],
    ["share × value", "value", "vector"], given && ["adds", html`to ${goalOf(at)}`]].filter(Boolean);
  const line = (name, c, hidden = !found.allowed[c]) => html`<tr class="${c === best ? "best" : ""} ${
    hidden ? "masked" : ""}"><th scope="row">${name}</th><td class="vector">${draw(found.keys[c], keys)}</td>
    <td>${plain(found.products[c])}</td><td>${plain(found.products[c] * found.scale)}</td>${
    biased && html`<td>${signed(found.bias[c])}</td>`}${masked && html`<td>${hidden ? "hidden" : ""}</td>`}
    <td class="left">${hidden ? "" : html`<i class="amount" style="--share:${found.weights[c].toFixed(4)}"></i>`}${
    shares[c]}%</td><td class="vector">${hidden ? "" : draw(taken[c], values)}</td>${
    given && html`<td class="adds">${hidden ? "" : signed(given[c])}</td>`}</tr>`;
  const columns = found.keys.map((_, c) => columnName(trace, kind, c)), gap = html`<td></td>`;
  const blank = [biased, masked].filter(Boolean).map(() => gap);
  const rest = given ? restOf(sumOf(given), given) : 0;
  return html`<table class="row-steps tone-${TONE[kind]}"><thead><tr><td></td>${titles.map(([name, about, place = ""]) =>
    html`<th scope="col" class="${place}">${name}<small>${about}</small></th>`)}</tr><tr class="query"><th
    scope="row">${rowName(trace, kind, row)} asks</th><td class="vector">${draw(found.query, keys)}</td><td
    class="left" colspan="${titles.length - 1}">query: what it looks for</td></tr></thead><tbody>${columns.map((name, c) => line(name, c))}${
    rest !== 0 && html`<tr class="rest"><th scope="row">rounding</th><td class="vector"></td>${gap}${gap}${blank}${
      gap}<td class="vector"></td><td class="adds">${signed(rest)}</td></tr>`}</tbody><tfoot><tr><th scope="row">sum</th><td
    class="vector"></td>${gap}${gap}${blank}<td class="left">100%</td><td class="vector">${draw(found.mixed, values)}</td>${
    given && html`<td class="adds">${signed(sumOf(given))}</td>`}</tr></tfoot></table>`;
}

const scaleName = (scale, size) => Math.abs(scale * Math.sqrt(size) - 1) < 1e-4
  ? [`÷ ${Math.sqrt(size).toFixed(2)}`, `scale, √${size}`] : [`× ${+scale.toPrecision(3)}`, "scale"];
