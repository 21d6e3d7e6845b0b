// One head of the machine: its whole map, and one row of it step by step, from the query to what the head adds.

import { strip } from "../lab/arithmetic.js";
import { inside, scrollable, shown } from "../common/tool_parts.js";
import { inkOn, shade } from "../common/colour.js";
import { isRightToLeft } from "../common/languages.js";
import { percents, plain, restOf, signed, sumOf } from "./machine_figures.js";
import { columnName, countOf, mapOf, namesOf, rowName } from "./machine_names.js";
import { html } from "../common/markup.js";
import { SHOWN, imageOf } from "../common/small_map.js";
import { elided } from "../common/wording.js";

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

function steps(found, at, head, row) {
  const { trace } = at, { kind } = head, columns = columnsOf(found, at, head);
  const best = found.weights.indexOf(Math.max(...found.weights)), [, ...others] = columns;
  const title = ({ name, about, place }) => html`<th scope="col" class="${place}">${name}<small>${about}</small></th>`;
  const cells = (draw) => columns.map((one) => html`<td class="${one.place}">${draw(one)}</td>`);
  const line = (_, c) => html`<tr class="${c === best ? "best" : ""} ${found.allowed[c] ? "" : "masked"}"><th
    scope="row">${columnName(trace, kind, c)}</th>${cells((one) => one.each(c))}</tr>`;
  const rest = columns.at(-1).rest && html`<tr class="rest"><th scope="row">rounding</th>${
    cells((one) => one.rest)}</tr>`;
  return html`<table class="row-steps tone-${TONE[kind]}"><thead><tr><td></td>${columns.map(title)}</tr><tr
    class="query"><th scope="row">${rowName(trace, kind, row)} asks</th><td class="vector">${columns[0].query}</td><td
    class="left" colspan="${others.length}">query: what it looks for</td></tr></thead><tbody>${
    found.keys.map(line)}${rest}</tbody><tfoot><tr><th scope="row">sum</th>${
    cells((one) => one.sum)}</tr></tfoot></table>`;
}

// The columns of the table: what stands over each, in each line, and in the line of the sum.
function columnsOf(found, at, { kind, layer, head }) {
  const { state: { theme }, parts } = at, { query, keys, products, scale, bias, allowed, weights, mixed } = found;
  const size = query.length, shares = percents(weights);
  const most = (vectors) => Math.max(1e-6, ...vectors.flat().map(Math.abs));
  const taken = found.values.map((value, c) => value.map((one) => one * weights[c]));
  const [mostKey, mostTaken] = [most([query, ...keys]), most([...taken, mixed])];
  const given = kind === "encoder" ? null : parts[kind][layer][head], rest = given && restOf(sumOf(given), given);
  const bar = (c) => html`<i class="amount" style="--share:${weights[c].toFixed(4)}"></i>`;
  return [
    { name: "answers", about: "key", place: "vector", query: strip(query, mostKey, theme),
      each: (c) => strip(keys[c], mostKey, theme) },
    { name: "q · k", about: `${size} products`, each: (c) => plain(products[c]) },
    { ...scaleName(scale, size), each: (c) => plain(products[c] * scale) },
    bias.some(Boolean) && { name: "+ bias", about: "relative position", each: (c) => signed(bias[c]) },
    allowed.includes(false) && { name: "mask", about: "not yet written", each: (c) => !allowed[c] && "hidden" },
    { name: "share", about: "softmax", place: "left", each: (c) => html`${shares[c] > 0 && bar(c)}${shares[c]}%`,
      sum: "100%" },
    { name: "share × value", about: "value", place: "vector",
      each: (c) => shares[c] > 0 && strip(taken[c], mostTaken, theme), sum: strip(mixed, mostTaken, theme) },
    given && { name: "adds", about: `to ${countOf(at)}`, place: "adds", each: (c) => allowed[c] && signed(given[c]),
      rest: rest !== 0 && signed(rest), sum: signed(sumOf(given)) },
  ].filter(Boolean);
}

const scaleName = (scale, size) => Math.abs(scale * Math.sqrt(size) - 1) < 1e-4
  ? { name: `÷ ${Math.sqrt(size).toFixed(2)}`, about: `scale, √${size}` }
  : { name: `× ${+scale.toPrecision(3)}`, about: "scale" };
