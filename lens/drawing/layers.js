// What would each layer have said?  The word that each decoder layer would have written, had it been the last.

import { failed, inside, waiting } from "./answers.js";
import { html, paint, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { bare } from "./trace.js";
import { chance } from "./wording.js";

export const layers = {
  question: "What would each layer have said?", name: "Logit lens",
    about: "What each decoder layer would have written, had it been the last.",

  draw(body, context) {
    const { state } = context, trace = traceOf(state), answer = inside(context, trace, { tool: "layers" });
    if (!answer || answer.error) return paint(body, answer ? failed(answer) : waiting);
    const [, code] = trace.languages, words = trace.units("target", "tokens"), last = answer.top.length - 1;
    return paint(body, html`<div class="scrollx" tabindex="0" role="region" aria-label="Layer by layer"><table
      class="t"><thead><tr><th scope="col">written</th>${words.map((one) =>
      html`<th scope="col" class="${one.pieces[0] === state.word ? "best"
        : ""}">${one.label}</th>`)}</tr></thead><tbody>${answer.top.map((steps, layer) =>
        html`<tr><th scope="row">after layer ${layer + 1}${layer === last ? ", the model"
        : ""}</th>${steps.map((step, t) => {
      const [text, logProb] = step[0], right = answer.ranks[layer][t] === 0;
      return html`<td class="${right ? "best" : "soft"}" lang="${code}"
        ${tipped(html`${step.map(([one, p]) =>
        html`${bare(one)} ${chance(Math.exp(p))}<br>`)}The written one: ${chance(Math.exp(answer.log_probs[layer][t]))}, number ${answer.ranks[layer][t] + 1}`)}>${
        bare(text)} <small>${chance(Math.exp(logProb))}</small></td>`; })}</tr>`)}</tbody></table></div><p
          class="fine">Bold: the token that was written. But for the last, no layer was trained to be read like this. These chances are the model’s own.</p>`);
  },
};
