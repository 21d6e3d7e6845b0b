// Lesson 5: the heads of one layer side by side, for one word; and each of them switched off.

import { best, buttons, picture, roomOf, text } from "./lesson_parts.js";
import { part } from "./lesson_row.js";
import { html, isNarrow, listed } from "./markup.js";
import { KINDS, Trace } from "./trace.js";
import { chance } from "./wording.js";

const KIND = "decoder", LAYER = 1, PIECE = 11;  // decoder self-attention, layer 2, where *il* is written

// Each head: where it looks, and the chance of the word without it.
function seen(look) {
  const trace = new Trace(look.traces[0], look.measured), unit = trace.unitAt("target", PIECE);
  const heads = trace.layers(KIND)[LAYER].map((head) => {
    const { rows, columns, at } = trace.map(head), row = at[rows.findIndex((one) => one.pieces.includes(PIECE))];
    const some = columns.filter((_, i) => row[i] !== null), shares = some.map((_, i) => row[i]);
    return { shares, words: some.map((one) => one.label), most: best(shares), without: trace.effect(head, PIECE).chance };
  });
  return { heads, word: unit.text, whole: trace.chance(unit) };
}
const writtenIn = ({ translation }) => translation.hypotheses[0].text;
const lookAt = ({ words, shares, most }) => html`<i>${words[most]}</i> (${part(shares[most])})`;

export const manyHeads = {
  lead: html`<p>A <b>head</b> is one attention: it has its own queries, keys and values, 32 numbers of each, and so its own way of
    looking. This layer has four, decoder self-attention in layer 2. They look side by side, each where it has learnt to, and what
    they hand on is added up.</p><p>We are back at the step that writes <i>il</i>. A head that is switched off hands on the same for
    every word: its average over some example sentences.</p>`,
  start: { off: null },
  needs: ({ off }) => [["look", { maps: KINDS, evidence: true }],
    ["look", { text: "The cat did not cross the street because it was too tired.", maps: [], ...off === null ? {} : { without: [[KIND, LAYER, off]] } }]],
  control: ({ off }, [look]) => buttons("Switch off", "off", [[null, "no head"], ...seen(look).heads.map((_, i) => [i, `head ${i + 1}`])], off),
  picture({ off }, [look, then]) {
    const { heads, word } = seen(look), left = isNarrow() ? 62 : 84, wide = (roomOf() - left) / heads.length, row = isNarrow() ? 18 : 25;
    const rest = isNarrow() ? 34 : 52, top = 30;
    const panel = ({ shares, most, without }, h) => {
      const x = left + h * wide, isOff = h === off, room = wide - rest - 6;
      return html`<g opacity="${isOff ? .35 : 1}">${text(x, 16, `head ${h + 1}`, { how: "bold" })}${shares.map((share, i) => html`<rect x="${x}" y="${
        top + i * row + 4}" width="${Math.max(1, share * room).toFixed(1)}" height="${row - 9}" rx="2" fill="var(--${i === most ? "green" : "slate"})"/>${
        share < 0.05 ? "" : text(x + Math.max(1, share * room) + 4, top + i * row + row * .66, isNarrow() ? `${Math.round(100 * share)}%` : part(share),
          { how: i === most ? "bold" : "soft" })}`)}</g>${
        text(x, top + shares.length * row + 18, isNarrow() ? "off:" : "switched off,", { how: "soft" })}${
        text(x, top + shares.length * row + 36, isNarrow() ? chance(without) : `${word} has ${chance(without)}`, { how: isOff ? "bold" : "" })}`;
    };
    const { words } = heads[0];
    return html`${picture(`Where the heads of the layer look while ${word} is written`, top + words.length * row + 48, html`${
      words.map((one, i) => text(left - 8, top + i * row + row * .66, one, { anchor: "end", how: i < 2 ? "slanted" : "" }))}${heads.map(panel)}`)}
      <p class="soft" style="margin-top:10px">Written ${off === null ? "with every head" : `without head ${off + 1}`}: <i>${writtenIn(then)}</i></p>`;
  },
  says({ off }, [look, then]) {
    const { heads, word, whole } = seen(look), same = writtenIn(then) === look.traces[0].target_text;
    if (off === null) return html`With every head, the chance of <i>${word}</i> is <b>${chance(whole)}</b>. The heads look at different words: ${
      listed(heads, lookAt)}.`;
    return html`Without head ${off + 1}, which looks at ${lookAt(heads[off])}, the chance of <i>${word}</i> is
      <b>${chance(heads[off].without)}</b>; with it, <b>${chance(whole)}</b>. The translation ${same ? "stays the same" : "changes"}.`;
  },
  predict: {
    question: html`The picture shows where each head looks while <i>il</i> is written. One head is switched off. Without which one does the
      chance of <i>il</i> fall most?`,
    options: ["Head 1", "Head 2", "Head 3", "Head 4"],
    right: ([look]) => best(seen(look).heads.map(({ without }) => -without)),
    because([look], { result: { exact: [four, one] } }) {
      const { heads, word } = seen(look), least = best(heads.map(({ without }) => -without));
      return html`Head ${least + 1}, which looks at ${lookAt(heads[least])}: without it, the chance of <i>${word}</i> is
        <b>${chance(heads[least].without)}</b>. Without another one it stays at <b>${chance(Math.min(...heads.filter((_, i) => i !== least)
          .map(({ without }) => without)))}</b> or more. Does it pay to have several? Trained alike, a small model with four heads translates
        <b>${part(four.value)}</b> of new sentences exactly, one with a single head as large as all four <b>${part(one.value)}</b>.`;
    },
    shows: { off: 0 },
  },
  short(state, [look]) {
    const { heads, word } = seen(look), least = best(heads.map(({ without }) => -without));
    return html`A layer has ${heads.length} heads, each with its own way of looking; for <i>${word}</i>, head ${least + 1} matters most. All
      of them look at the French so far. But where does the English come in?`;
  },
};
