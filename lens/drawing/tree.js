// Which translations were considered?  The tree of a beam search: a column a step, what lived on joined to what came of it.

import { failed, inside, waiting } from "./answers.js";
import { html, paint } from "./markup.js";
import { traceOf } from "./state.js";
import { elided } from "./wording.js";

const LINE = 22, COLUMN = 92;

export const tree = {
  question: "Which translations were considered?", name: "Beam tree",
    about: "The translations that grew side by side; the weakest are dropped at every token.",

  draw(body, context) {
    const { state } = context, trace = traceOf(state), beams = state.lab.beams ??= 4,
      answer = inside(context, trace, { tool: "tree", num_beams: beams });
    paint(body, html`<div class="row2"><span class="soft">Beams</span><span class="seg" role="group"
      aria-label="Beams">${[2, 4, 8].map((n) => html`<button data-do="tree-beams" data-value="${n}" data-k="tree-${n}"
      aria-pressed="${beams === n}">${n}</button>`)}</span></div>${
      !answer ? waiting : answer.error ? failed(answer) : drawn(answer, trace.languages[1])}`);
  },

  actions: { "tree-beams"(button, { state, render }) { state.lab.beams = +button.dataset.value; render(); } },
};

// The nodes on the way to a hypothesis, as "step number".
function wayTo(steps, step, number) {
  const nodes = new Set();
  for (; step >= 0 && number !== null; step--) { nodes.add(`${step} ${number}`); number = steps[step][number][1]; }
  return nodes;
}

function drawn({ steps, hypotheses, length_penalty: penalty }, code) {
  const tall = Math.max(...steps.map((step) => step.length)), best = wayTo(steps, ...hypotheses[0].slice(0, 2)),
    width = steps.length * COLUMN + 20, height = (tall + 1) * LINE;
  const x = (step) => 10 + step * COLUMN, y = (number) => (number + 1) * LINE;
  return html`<div class="scrollx" tabindex="0" role="region" aria-label="Beam tree"><svg class="beams"
    width="${width}" height="${height}" role="img"
    aria-label="Beam tree of ${steps.length} steps; the list below has its translations.">${steps.map((nodes, step) =>
    nodes.map(([, parent], number) => { if (parent === null || !step) return "";
      const [a, b, c, d] = [x(step - 1) + 66, y(parent) - 4, x(step) - 6, y(number) - 4], half = (a + c) / 2;
      return html`<path class="${best.has(`${step} ${number}`) ? "best" : ""}"
        d="M${a} ${b}C${half} ${b} ${half} ${d} ${c} ${d}"/>`; }))}${steps.map((nodes, step) =>
        nodes.map(([text, , logProb, score], number) => html`<text x="${x(step)}" y="${y(number)}"
    class="${best.has(`${step} ${number}`) ? "best" : ""}">${elided(text,
      10)}<title>${text}: log-probability so far ${logProb.toFixed(3)}${score === null ? ""
      : `, score ${score.toFixed(4)}`}</title></text>`))}</svg></div>
    <ol class="found">${hypotheses.map(([, , text, score]) => html`<li><span lang="${code}">${text}</span><span
      class="soft">score ${score.toFixed(3)}</span></li>`)}</ol>
    <p class="fine">Bold is the way to the best translation. A score is the log-probability divided by the length to the power ${penalty}.</p>`;
}
