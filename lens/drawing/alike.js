// Which words does it find alike?  Neighbours in the vocabulary, analogies, and one word in several sentences.

import { failed, inside, waiting } from "./answers.js";
import { html, paint } from "./markup.js";
import { traceOf } from "./state.js";
import { bare } from "./trace.js";
import { percent } from "./wording.js";

const BANKS = "The bank lent the man some money.\nThe bank was closed.\nThe boat lay by the bank of the river.\nThe duck sat on the bank.";

export const alike = {
  question: "Which words does it find alike?", name: "Word map",
    about: "Words whose vectors point the same way (1.00: the same direction).",

  draw(body, context) {
    const { state } = context, trace = traceOf(state), english = trace.languages[0] === "en";
    const lab = state.lab.alike ??= { word: trace.unitAt("source", state.read)?.text || trace.words("source")[0].text,
      minus: "", plus: "", of: english ? "bank" : "", sentences: english ? BANKS : "", layer: null, shown: false };
    const near = lab.word ? inside(context, trace, { tool: "near", word: lab.word, minus: lab.minus, plus: lab.plus })
      : { near: [] };
    const lines = lab.sentences.split("\n").map((one) => one.trim()).filter(Boolean), many = lab.shown
      && lines.length > 1 && lab.of ? inside(context, trace, { tool: "words", word: lab.of,
      sentences: lines.slice(0, 8) }) : undefined;
    const field = (name, label) => html`<label class="ask"><span>${label}</span><input type="text"
      value="${lab[name]}" data-do="alike" data-name="${name}" data-k="alike-${name}"></label>`;
    paint(body, html`<div class="offgrid"><div><div class="asks">${field("word", "Near to")}${field("minus",
      "less")}${field("plus", "and")}</div>${!near ? waiting : near.error ? failed(near)
      : html`<ol class="near">${near.near.map(([text, value, asked]) =>
      html`<li><span>${bare(text)}${asked ? html` <small class="soft">asked with</small>` : ""}</span><span
        class="soft">${value.toFixed(2)}</span></li>`)}</ol>`}<p
        class="fine">By cosine between rows of the embedding matrix. With “less” and “and”: what lies near to
      the first less the second and the third, as king less man and woman.</p></div>
      <div><div class="asks">${field("of", "One word in several sentences")}</div><label
        class="ask"><span>Sentences with it, one a line</span><textarea rows="4" data-do="alike" data-name="sentences"
        data-k="alike-sentences">${lab.sentences}</textarea></label>
      <p><button class="chip" data-do="alike-show"
        data-k="alike-show">See the word in each</button></p>${many === undefined ? "" : !many ? waiting : many.error
        ? failed(many) : plane(many, lines, lab)}</div></div>`);
  },

  actions: {
    alike(input, { state, render }) { Object.assign(state.lab.alike, { [input.dataset.name]: input.value.trim(),
      layer: null }); render(); },
    "alike-show"(_, { state, render }) { state.lab.alike.shown = true; render(); },
    "alike-layer"(input, { state, render }) { state.lab.alike.layer = +input.value; render(); },
  },
};

function plane({ points, shares, distances }, lines, lab) {
  const last = points.length - 1, layer = Math.min(lab.layer ?? last, last), at = points[layer],
    reach = Math.max(1e-9, ...at.flat().map(Math.abs));
  const apart = (i, j) => i === j ? "0" : distances[i < j ? `${i} ${j}` : `${j} ${i}`][layer].toFixed(3);
  return html`<label class="slide"><span>Layer</span><input type="range" min="0" max="${last}" value="${layer}"
    data-do="alike-layer" data-k="alike-layer"><output>${layer ? `after ${layer}` : "before"}</output></label>
    <div class="plane" role="img"
      aria-label="The word in ${at.length} sentences; the table has how far apart they are.">${at.map(([x, y], i) =>
      html`<b style="left:${50 + 42 * x / reach}%;top:${50 - 40 * y / reach}%">${i + 1}</b>`)}</div>
    <p class="fine">The plane shows ${percent(shares[layer][0]
      + shares[layer][1])} of how far apart they lie. The table: 1 less cosine; 0 is the same direction.</p>
    <div class="scrollx" tabindex="0" role="region" aria-label="How far apart"><table
      class="t"><thead><tr><td></td>${at.map((_, i) => html`<th scope="col">${i
      + 1}</th>`)}</tr></thead><tbody>${at.map((_, i) => html`<tr><th scope="row">${i
      + 1} ${lines[i]}</th>${at.map((_, j) =>
      html`<td>${apart(i, j)}</td>`)}</tr>`)}</tbody></table></div>`;
}
