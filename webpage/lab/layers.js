// What would each layer write?  The word that each decoder layer would write if it were the last.

import { inside, shown, table } from "../common/tool_parts.js";
import { inLanguage } from "../common/languages.js";
import { html, tipped } from "../common/markup.js";
import { chance } from "../common/wording.js";

export const layers = {
  question: "What would each layer write?", name: "What each layer would write",
  about: "The word that each decoder layer would write if it were the last (logit lens).",

  draw(context, trace) {
    const answer = inside(context, trace, { tool: "layers" });
    return shown(answer, () => words(answer, trace, context.state.word));
  },
};

function words({ top, ranks, log_probs: logProbs }, trace, piece) {
  const [, code] = trace.languages;
  const cell = (step, layer, t) => {
    const [text, logProb] = step[0], rank = ranks[layer][t], own = chance(Math.exp(logProbs[layer][t]));
    const likeliest = step.map(([one, p]) => html`${trace.named(one)} ${chance(Math.exp(p))}<br>`);
    return html`<td class="${rank === 0 ? "best" : "soft"}" ${inLanguage(code)} ${tipped(
      html`${likeliest}Written token: ${own}, rank ${rank + 1}`)}>${trace.named(text)}
      <small>${chance(Math.exp(logProb))}</small></td>`;
  };
  const column = ({ pieces: [first], label }) =>
    html`<th scope="col" class="${first === piece ? "best" : ""}">${trace.named(label)}</th>`;
  const row = (steps, layer) => html`<tr><th scope="row">after layer ${layer + 1}${
    layer === top.length - 1 ? " (last)" : ""}</th>${steps.map((step, t) => cell(step, layer, t))}</tr>`;
  const head = html`<th scope="col">written</th>${trace.units("target", "tokens").map(column)}`;
  return html`${table("Layer by layer", head, top.map(row))}
    <p class="fine">Bold cells show the token that was written. Only the last layer is trained to predict tokens
    directly${trace.record.calibrated ? ", and the calibration of the chances was measured for it alone" : ""}.</p>`;
}
