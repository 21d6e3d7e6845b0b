// Which translations were considered?  The tree of a beam search: a column a step, each node joined to its parent.

import { inside, scrollable, shown } from "../common/tool_parts.js";
import { inLanguage } from "../common/languages.js";
import { html, segment } from "../common/markup.js";
import { TAG, bare } from "../common/trace.js";
import { elided } from "../common/wording.js";

const LINE = 22, COLUMN = 92;

export const tree = {
  question: "Which translations were considered?", name: "Beam tree",
  about: "The search extends several translations at once and drops the weakest after every token.",

  draw(context, trace) {
    const beams = +(context.state.lab.beams ?? 4), answer = inside(context, trace, { tool: "tree", num_beams: beams });
    return html`<div class="row2"><span class="second">Beams</span>${
      segment("Beams", "note", "beams", [2, 4, 8], beams)}</div>${
      shown(answer, () => drawn(answer, trace))}`;
  },
};

// The nodes on the path to a hypothesis, as "step number".
function wayTo(steps, step, number) {
  const nodes = new Set();
  for (; step >= 0 && number !== null; step--) { nodes.add(`${step} ${number}`); number = steps[step][number][1]; }
  return nodes;
}

function drawn({ steps, hypotheses, length_penalty: penalty }, trace) {
  const [, code] = trace.languages, isSpecial = (text) => TAG.test(text) || /^<.*>$/.test(text);
  const nameOf = (text) => bare(trace.label({ text, special: isSpecial(text) }, "target", 0));
  const mostNodes = Math.max(...steps.map((step) => step.length)), path = wayTo(steps, ...hypotheses[0].slice(0, 2));
  const width = steps.length * COLUMN + 20, height = (mostNodes + 1) * LINE;
  const x = (step) => 10 + step * COLUMN, y = (number) => (number + 1) * LINE;
  const best = (step, number) => path.has(`${step} ${number}`) ? "best" : "";
  const edge = ([, parent], step, number) => {
    if (parent === null || !step) return "";
    const [a, b, c, d] = [x(step - 1) + 66, y(parent) - 4, x(step) - 6, y(number) - 4], half = (a + c) / 2;
    return html`<path class="${best(step, number)}" d="M${a} ${b}C${half} ${b} ${half} ${d} ${c} ${d}"/>`;
  };
  const node = ([text, , logProb, score], step, number) => html`<text x="${x(step)}" y="${y(number)}"
    class="${best(step, number)}">${elided(nameOf(text), 10)}<title>${nameOf(text)}: log-probability so far ${
    logProb.toFixed(3)}${
    score === null ? "" : `, score ${score.toFixed(4)}`}</title></text>`;
  const each = (draw) => steps.map((nodes, step) => nodes.map((one, number) => draw(one, step, number)));
  const picture = html`<svg class="beams" width="${width}" height="${height}" role="img"
    aria-label="Beam tree of ${steps.length} steps; its translations follow.">${each(edge)}${each(node)}</svg>`;
  return html`${scrollable("Beam tree", picture)}
    <ol class="found">${hypotheses.map(([, , text, score]) => html`<li><span ${inLanguage(code)}>${text}</span><span
      class="soft">score ${score.toFixed(3)}</span></li>`)}</ol>
    <p class="fine">The bold path leads to the best translation. A score is the log-probability divided by
    the length${penalty === 1 ? "" : html` to the power ${penalty}`}.</p>`;
}
