// Which words are similar?  Neighbours in the vocabulary, analogies, and one word in several sentences.

import { inside, noted, notedText, shown, table } from "../common/tool_parts.js";
import { html, slide } from "../common/markup.js";
import { bare } from "../common/trace.js";
import { percent } from "../common/wording.js";

const BANKS = ["The bank lent the man some money.", "The bank was closed.", "The boat lay by the bank of the river.",
  "The duck sat on the bank."].join("\n");

export const alike = {
  question: "Which words are similar?", name: "Similar words",
  about: "Words whose vectors point in a similar direction (1.00: the same direction).",

  draw(context, trace) {
    const { state } = context, english = trace.languages[0] === "en";
    const first = trace.unitAt("source", state.read)?.text || trace.words("source")[0].text;
    const lab = { word: first, minus: "", plus: "", of: english ? "bank" : "", sentences: english ? BANKS : "",
      ...state.lab };
    const { word, minus, plus, of } = lab, near = word ? inside(context, trace, { tool: "near", word, minus, plus })
      : { near: [] };
    const lines = lab.sentences.split("\n").map((one) => one.trim()).filter(Boolean);
    const many = lab.compared && lines.length > 1 && of
      ? inside(context, trace, { tool: "words", word: of, sentences: lines.slice(0, 8) }) : undefined;
    const field = (name, label) => notedText(name, label, lab[name]);
    const sentences = (on) => html`<textarea rows="4" ${on}>${lab.sentences}</textarea>`;
    return html`<div class="offgrid"><div><div class="asks">${field("word", "Near")}${field("minus", "minus")}${
      field("plus", "plus")}</div>${shown(near, neighbours)}<p class="fine">Similarity is the cosine between rows
      of the embedding matrix. “minus” subtracts a word and “plus” adds one, as in king − man + woman.</p></div>
      <div><div class="asks">${field("of", "One word in several sentences")}</div>${
        noted("sentences", "Sentences with this word, one per line", sentences)}
      <p><button class="chip" data-note="compared" data-value="yes" data-k="compared">Compare the word
        in each</button></p>${many === undefined ? "" : shown(many, () => plane(many, lines, lab))}</div></div>`;
  },
};

const neighbours = ({ near }) => html`<ol class="near">${near.map(([text, value, isEntered]) => html`<li><span>${
  bare(text)}${isEntered ? html` <small class="soft">entered</small>` : ""}</span><span
  class="soft">${value.toFixed(2)}</span></li>`)}</ol>`;

function plane({ points, shares, distances }, lines, lab) {
  const last = points.length - 1, layer = Math.min(+(lab.layer ?? last), last), at = points[layer];
  const reach = Math.max(1e-9, ...at.flat().map(Math.abs)), [across, down] = shares[layer];
  const apart = (i, j) => i === j ? "0" : distances[i < j ? `${i} ${j}` : `${j} ${i}`][layer].toFixed(3);
  const dot = ([x, y], i) => html`<b style="left:${50 + 42 * x / reach}%;top:${50 - 40 * y / reach}%">${i + 1}</b>`;
  const row = (_, i) => html`<tr><th scope="row">${i + 1} ${lines[i]}</th>${
    at.map((_, j) => html`<td>${apart(i, j)}</td>`)}</tr>`;
  const attributes = html`data-note="layer" data-k="layer"`;
  return html`${slide("Layer", last, layer, attributes, layer ? `after ${layer}` : "before")}
    <div class="plane" role="img" aria-label="The word in ${at.length} sentences; the table gives the distances.">${
      at.map(dot)}</div>
    <p class="fine">The plot shows ${percent(across + down)} of the variance. The table shows cosine distances.</p>
    ${table("Distances", html`<td></td>${at.map((_, i) => html`<th scope="col">${i + 1}</th>`)}`, at.map(row))}`;
}
