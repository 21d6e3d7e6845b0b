// How is this row computed?  The numbers behind one row of the chosen head: from the query to what the head hands over.

import { failed, inside, waiting } from "./answers.js";
import { css, shade } from "./colour.js";
import { html, paint, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { direction, placeOf, quoted } from "./wording.js";

export const arithmetic = {
  question: "How is this row computed?", name: "Row arithmetic",
    about: "Number by number, from the query to what the head hands over.",

  draw(body, context) {
    const { state } = context, trace = traceOf(state), { head } = state, side = head.kind === "encoder" ? "source"
      : "target", row = side === "source" ? state.read : state.word;
    const answer = inside(context, trace, { tool: "arithmetic", kind: head.kind, layer: head.layer, head: head.head,
      row });
    const code = trace.languages[side === "source" ? 0 : 1], columns = trace.units(head.kind === "decoder" ? "inputs"
      : "source", "tokens");
    paint(body, html`<p class="verdict">${direction(head.kind,
      trace.languages)}, ${placeOf(head)}: how ${quoted(trace.units(side, "tokens")[row].label,
      code)} came to its weights.</p>${
      !answer ? waiting : answer.error ? failed(answer) : table(answer, columns, state.theme)}`);
  },
};

const four = (value) => value.toFixed(Math.abs(value) >= 100 ? 1 : 3).replace("-", "−");
function strip(vector, most, theme) {
  return html`<span class="strip" role="img" aria-label="${vector.length} numbers"
    ${tipped(vector.slice(0, 64).map(four).join(", "))}>${vector.map((value) =>
    html`<i style="background:${css(shade(Math.abs(value) / most, value < 0 ? "orange" : "blue",
    theme))}"></i>`)}</span>`;
}

function table(found, columns, theme) {
  const most = (vectors) => Math.max(1e-6, ...vectors.flat().map(Math.abs)),
    keys = most([found.query, ...found.keys]), values = most([...found.values, found.mixed]);
  const biased = found.bias.some(Boolean), best = found.weights.indexOf(Math.max(...found.weights));
  const names = ["key k", "q · k", `× ${found.scale.toFixed(3)}`, ...(biased ? ["+ bias"] : []), "mask", "softmax",
    "value v"];
  return html`<p class="number">query q ${strip(found.query, keys, theme)}</p><div class="scrollx" tabindex="0"
    role="region" aria-label="The arithmetic, column by column"><table
    class="t"><thead><tr><td></td>${names.map((one) =>
    html`<th scope="col">${one}</th>`)}</tr></thead><tbody>${columns.map((one, c) =>
      html`<tr ${c === best ? html`class="best"` : ""}><th scope="row">${one.label}</th><td>${strip(found.keys[c],
      keys, theme)}</td><td>${
    four(found.products[c])}</td><td>${four(found.products[c] * found.scale)}</td>${biased
      ? html`<td>${four(found.bias[c])}</td>` : ""}<td>${found.allowed[c] ? "+ 0"
      : "− ∞"}</td><td>${four(found.weights[c])}</td><td>${
    strip(found.values[c], values, theme)}</td></tr>`)}</tbody></table></div><p
      class="number">Σ weight × v ${strip(found.mixed, values, theme)}</p><p
      class="fine">W_O times that is handed over, ${found.output.length} numbers of length ${
    four(Math.hypot(...found.output))}; all heads of the layer together hand over length ${four(found.length)}. Blue is above 0, orange below; point at a strip for its numbers.</p>`;
}
