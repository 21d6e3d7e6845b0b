// Lesson 6: which English words the heads look at while a French word is written, and its chance without each of them.

import { css, inkOn, shade } from "../common/colour.js";
import { best, buttons, figure, picture, text } from "./lesson_parts.js";
import { atLeast, part } from "./lesson_row.js";
import { traceIn } from "./lesson_trace.js";
import { matters } from "../common/effects.js";
import { changed, html, isNarrow, listed } from "../common/markup.js";
import { KINDS } from "../common/trace.js";
import { chance } from "../common/wording.js";

const EXAMPLE = 5;  // the number of *traversé* among the French words
const SHOWN = 0.1;  // a share that is written in its cell
const BANKS = ["The girl looked at the bank because it was muddy.",
  "The girl looked at the bank because it was closed."];

// The French word of this number, the English words ({ label, shares by head, without }), and what stands out of them.
function seen({ word: number }, look) {
  const trace = traceIn(look);
  const written = trace.words("target").filter((one) => /\p{L}/u.test(one.text));
  const unit = written.find(({ word }) => word === (number ?? EXAMPLE)) ?? written[0], [piece] = unit.pieces;
  const heads = trace.layers("cross").flat(), maps = heads.map((head) => trace.map(head)), [{ rows, columns }] = maps;
  const row = rows.findIndex((one) => one.pieces.includes(piece)), erased = trace.erased(piece);
  const english = columns.map(({ label, word }, i) => ({ label, shares: maps.map(({ at }) => at[row][i]),
    without: erased.find((one) => one.word.word === word) }));
  const tops = heads.map((_, h) => best(english.map(({ shares }) => shares[h])));
  const counts = english.map((_, i) => tops.filter((one) => one === i).length);
  const worst = english.filter(({ without }) => without).sort((a, b) => a.without.chance - b.without.chance)[0];
  const most = best(counts);
  const words = english.filter((_, i) => counts[i] === counts[most]).map(({ label }) => html`<i>${label}</i>`);
  const looked = html`<b>${counts[most]}</b> of ${heads.length} heads look most at ${
    words.length > 1 ? html`each of ${listed(words, (one) => one, " and ")}` : words}`;
  return { written, unit, heads, english, most, looked, worst, whole: trace.chance(unit) };
}

// What is written for *bank* in each of BANKS, and how similar its two lists are at first and after the encoder.
function banks([{ distances, read }, { translations }]) {
  const texts = translations.map(({ hypotheses: [one] }) => one.text), pair = "0 1";
  const own = texts.map((one, i) => {
    const [{ start, end } = { start: 0, end: one.length }] = changed(texts[1 - i], one);
    return one.slice(start, end);
  });
  return { own, first: 1 - distances[pair][0], last: 1 - read[pair] };
}

export const crossAttention = {
  lead: html`<p>So far, the French looked back at itself. In <b>cross-attention</b>, it looks at the English. The query
    comes from the French word that is being written. Keys and values come from the English words. An <b>encoder</b>
    reads the English once, before the first French word. We look at <i>traversé</i> first, and then at any other word.</p>`,
  start: { word: null },
  needs: () => [["look", { maps: KINDS, evidence: true }]],
  control(state, [look]) {
    const { written, unit } = seen(state, look);
    return buttons("The French word being written", "word", written.map((one) => [one.word, one.text]), unit.word);
  },
  picture(state, [look], lesson, theme) {
    const { unit, heads, english, most, worst } = seen(state, look), narrow = isNarrow();
    const at = { left: narrow ? 66 : 88, cell: narrow ? 21 : 50, row: narrow ? 19 : 25, top: 46, narrow };
    const after = at.left + heads.length * at.cell + (narrow ? 8 : 18), down = (i) => at.top + (i + 0.66) * at.row;
    const names = heads.map(({ layer, head }, h) => html`${head ? "" : text(at.left + h * at.cell, 14,
      `layer ${layer + 1}`, { how: "soft" })}${text(at.left + (h + 0.5) * at.cell - 1, 36,
      narrow ? head + 1 : `head ${head + 1}`, { anchor: "middle", how: "soft" })}`);
    const lines = english.map(({ label, shares, without }, i) => html`${text(at.left - 8, down(i), label,
      { anchor: "end", how: i === most ? "bold" : "" })}${shares.map((share, h) => cell(share, h, i, at, theme))}${
      without ? outcome(without, after, down(i), { narrow, isWorst: english[i] === worst })
        : text(after, down(i), "not a word", { how: "soft" })}`);
    return html`${picture(`The share of each head on each English word while ${unit.text} is written`,
      at.top + english.length * at.row + 4, [names, lines,
        text(after, 14, narrow ? "chance" : `chance of ${unit.text}`, { how: "soft" }),
        text(after, 36, narrow ? "without" : "without this word", { how: "soft" })])}
      <p class="more fine">Each column shows the attention of one head, in per cent. On the right is the chance of
      <i>${unit.text}</i> if this English word is erased. The word in italics is then written instead. <i>end</i> is the
      mark after the last word, and it is never erased.</p>`;
  },
  says(state, [look]) {
    const { unit, looked, worst: { label, without }, whole } = seen(state, look), own = html`<i>${unit.text}</i>`;
    return html`While ${own} is written, ${looked}. ${matters(without) ? html`If <i>${label}</i> is erased, the chance of ${own} goes from
        <b>${chance(whole)}</b> to <b>${chance(without.chance)}</b>${without.instead ? html`, and
          <i>${without.instead}</i> is written instead` : ""}.`
      : html`Without any one of the English words, the chance of ${own} is still <b>${atLeast(without.chance)}</b>.
        So no single English word decides here. Does the French already written decide?
        <a href="#lesson-10">Lesson 10</a> tests this for <i>il</i>.`}`;
  },
  predict: {
    question: html`In the vocabulary, <i>bank</i> has one vector. Take the sentences <i>${BANKS[0]}</i> and
      <i>${BANKS[1]}</i> Does cross-attention read the same numbers for <i>bank</i> in both?`,
    options: ["Yes, the vector of bank", "No, other numbers in each"],
    needs: [["inside", { tool: "words", word: "bank", sentences: BANKS }], ["translate", { texts: BANKS }]],
    right: (answers) => banks(answers).last > 0.9995 ? 0 : 1,
    because(answers) {
      const { own, first, last } = banks(answers);
      return html`The encoder has attention of its own. It adds information about the whole sentence to each word’s
        vector. Before the encoder, the two vectors of <i>bank</i> have a similarity of <b>${figure(first, 3)}</b>. After
        its last layer and the norm that follows, it is <b>${figure(last, 3)}</b>. Cross-attention reads these vectors. The French is
        <i>${own[0]}</i> for the first sentence and <i>${own[1]}</i> for the second.`;
    },
  },
  short(state, [look], { result: { right } }) {
    const { unit, looked } = seen(state, look);
    return html`While <i>${unit.text}</i> is written, ${looked}. With the French so far alone,
      ${part(right["prefix alone"].value)} of the words are right. With the English too,
      ${part(right.unchanged.value)} are right. The result is a score for every word of the vocabulary. How do these
      scores become one word?`;
  },
};

function cell(share, h, i, { left, top, cell: wide, row, narrow }, theme) {
  const colour = shade(share, "blue", theme), x = left + h * wide, y = top + i * row;
  return html`<rect x="${x}" y="${y}" width="${wide - 2}" height="${row - 2}" rx="2" fill="${css(colour)}"/>${
    share < SHOWN ? "" : html`<text x="${x + wide / 2 - 1}" y="${y + row * 0.66}" text-anchor="middle"
    style="fill:${inkOn(colour)};font-size:${narrow ? 11 : 13}px">${Math.round(100 * share)}</text>`}`;
}

// The chance of the French word without an English one, and what would be written instead.
function outcome(effect, x, y, { narrow, isWorst }) {
  const { chance: p, instead } = effect, isLost = matters(effect);
  return html`${text(x, y, chance(p), { how: !isLost ? "soft" : isWorst ? "bold" : "" })}${
    instead ? text(x + (narrow ? 42 : 78), y, narrow ? instead : `${instead} is written instead`, { how: "slanted" })
      : ""}`;
}
