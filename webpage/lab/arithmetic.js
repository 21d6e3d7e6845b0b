// How is this row computed?  The numbers behind one row of the chosen head: from the query to the head’s output.

import { inside, shown, table } from "../common/tool_parts.js";
import { css, shade } from "../common/colour.js";
import { html, tipped } from "../common/markup.js";
import { chosenOf, sideOf } from "../common/state.js";
import { headName, quoted } from "../common/wording.js";

export const arithmetic = {
  question: "How is this row computed?", name: "One row, computed",
  about: "Every number of the row, from the query to the head’s output.",

  draw(context, trace) {
    const { state } = context, { kind, layer, head } = state.head, side = sideOf(state), row = chosenOf(state);
    const answer = inside(context, trace, { tool: "arithmetic", kind, layer, head, row });
    const columns = trace.units(kind === "decoder" ? "inputs" : "source", "tokens");
    const word = quoted(trace.units(side, "tokens")[row].label, trace.codes(kind)[0]);
    return html`<p class="verdict">${headName(state.head, trace)}: how the weights of ${word} are computed.</p>${
      shown(answer, () => numbers(answer, columns, state.theme))}`;
  },
};

const four = (value) => value.toFixed(Math.abs(value) >= 100 ? 1 : 3).replace("-", "−");
export function strip(vector, most, theme) {
  const colour = (value) => css(shade(value / most, "blue", theme));
  return html`<span class="strip" role="img" aria-label="${vector.length} numbers"
    ${tipped(vector.slice(0, 64).map(four).join(", "))}>${
    vector.map((value) => html`<i style="background:${colour(value)}"></i>`)}</span>`;
}

function numbers(found, columns, theme) {
  const most = (vectors) => Math.max(1e-6, ...vectors.flat().map(Math.abs));
  const keys = most([found.query, ...found.keys]), values = most([...found.values, found.mixed]);
  const biased = found.bias.some(Boolean), best = found.weights.indexOf(Math.max(...found.weights));
  const names = ["key k", "q · k", `× ${found.scale.toFixed(3)}`, ...(biased ? ["+ bias"] : []), "mask", "softmax",
    "value v"];
  const row = (one, c) => html`<tr ${c === best ? html`class="best"` : ""}><th scope="row">${one.label}</th>${[
    strip(found.keys[c], keys, theme), four(found.products[c]), four(found.products[c] * found.scale),
    ...(biased ? [four(found.bias[c])] : []), found.allowed[c] ? "+ 0" : "− ∞", four(found.weights[c]),
    strip(found.values[c], values, theme)].map((cell) => html`<td>${cell}</td>`)}</tr>`;
  const head = html`<td></td>${names.map((one) => html`<th scope="col">${one}</th>`)}`;
  return html`<p class="number">query q ${strip(found.query, keys, theme)}</p>${
    table("The arithmetic, column by column", head, columns.map(row))}
    <p class="number">Σ weight × v ${strip(found.mixed, values, theme)}</p><p class="fine">The head’s
    output is W_O times this sum. It has ${found.output.length} numbers and length ${
    four(Math.hypot(...found.output))}. The output of all heads of the layer has length ${four(found.length)}. Blue is
    above 0 and orange is below. Point at a strip, or tap it, to see its numbers.</p>`;
}
