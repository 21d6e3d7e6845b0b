// Lesson 6: which English words the heads look at while a French word is written, and what it is without each of them.

import { best, buttons, figure, picture, roomOf, text } from "./lesson_parts.js";
import { part } from "./lesson_row.js";
import { css, inkOn, shade } from "./colour.js";
import { changed, html, isNarrow } from "./markup.js";
import { KINDS, Trace } from "./trace.js";
import { chance } from "./wording.js";

const EXAMPLE = 5;  // *traversé*
const BANKS = ["The girl looked at the bank because it was muddy.", "The girl looked at the bank because it was closed."];
const LITTLE = 0.1;  // of the chance: what is lost beyond it matters

// The English words, each with its share by head and what the French word is without it (none of the end).
function seen({ word: number }, look) {
  const trace = new Trace(look.traces[0], look.measured), written = trace.words("target").filter(({ text: one }) => /\p{L}/u.test(one));
  const unit = written.find(({ word }) => word === (number ?? EXAMPLE)) ?? written[0], [piece] = unit.pieces;
  const heads = trace.layers("cross").flat(), maps = heads.map((head) => trace.map(head)), row = maps[0].rows.findIndex((one) => one.pieces.includes(piece));
  const lost = trace.erased(piece), words = maps[0].columns.map((one, i) => ({ label: one.label, shares: maps.map(({ at }) => at[row][i]),
    without: lost.find(({ word }) => word.word === one.word) ?? null }));
  const tops = heads.map((_, h) => best(words.map(({ shares }) => shares[h]))), count = words.map((_, i) => tops.filter((one) => one === i).length);
  const erasable = words.filter(({ without }) => without), worst = erasable[best(erasable.map(({ without }) => -without.chance))];
  return { written, unit, heads, words, tops, most: best(count), count: Math.max(...count), worst, whole: trace.chance(unit) };
}

// The two translations of BANKS, and how similar the lists of *bank* are in them.
function banks([layers, { translations }]) {
  const texts = translations.map(({ hypotheses: [{ text: one }] }) => one), similar = layers.distances["0 1"].map((one) => 1 - one);
  const own = texts.map((one, i) => { const [cut] = changed(texts[1 - i], one); return cut ? one.slice(cut.start, cut.end) : one; });
  return { own, similar, differ: texts[0] !== texts[1] };
}

export const crossAttention = {
  lead: html`<p>So far the French looked back at itself. In <b>cross-attention</b> it looks at the English: the query comes from the French
    word that is being written, keys and values come from the English words.</p><p>But not from their lists in the vocabulary. The
    <b>encoder</b> has read the whole English sentence before, with attention of its own, so that each word’s list already holds
    something of its sentence. Cross-attention reads what the encoder has made. We look at <i>traversé</i>; choose another word.</p>`,
  start: { word: null },
  needs: () => [["look", { maps: KINDS, evidence: true }]],
  control(state, [look]) {
    const { written, unit } = seen(state, look);
    return buttons("The French word being written", "word", written.map((one) => [one.word, one.text]), unit.word);
  },
  picture(state, [look], lesson, theme) {
    const { unit, heads, words, tops, most, worst, whole } = seen(state, look), narrow = isNarrow();
    const left = narrow ? 66 : 88, cell = narrow ? 21 : 50, row = narrow ? 19 : 25, top = 46, wide = heads.length * cell, after = left + wide + (narrow ? 8 : 18);
    const square = (share, h, i) => {
      const colour = shade(share, "blue", theme);
      return html`<rect x="${left + h * cell}" y="${top + i * row}" width="${cell - 2}" height="${row - 2}" rx="2" fill="${css(colour)}"/>${
        share < (narrow ? 0.995 : 0.1) && !(narrow && tops[h] === i) ? "" : html`<text x="${left + h * cell + cell / 2 - 1}" y="${top + i * row + row * .66}"
          text-anchor="middle" style="fill:${inkOn(colour)};font-size:${narrow ? 10 : 13}px">${Math.round(100 * share)}</text>`}`;
    };
    const lost = ({ chance: p, instead }, y, isWorst) => html`${text(after, y, chance(p), { how: isWorst ? "bold" : Math.abs(whole - p) < LITTLE ? "soft" : "" })}${
      instead ? text(after + (narrow ? 46 : 66), y, narrow ? instead.slice(0, 7) : `writes ${instead}`, { how: "slanted" }) : ""}`;
    return html`${picture(`The share of each head on each English word while ${unit.text} is written`, top + words.length * row + 4, html`${
      heads.map(({ layer, head }, h) => html`${head ? "" : text(left + h * cell, 14, `layer ${layer + 1}`, { how: "soft" })}${
        text(left + h * cell + cell / 2 - 1, 36, narrow ? head + 1 : `head ${head + 1}`, { anchor: "middle", how: "soft" })}`)}${
      text(after, 14, narrow ? "without it," : "without this word,", { how: "soft" })}${text(after, 36, narrow ? unit.text : `${unit.text} has`, { how: "soft" })}${
      words.map(({ label, shares, without }, i) => html`${text(left - 8, top + i * row + row * .66, label, { anchor: "end", how: i === most ? "bold" : "" })}${
        shares.map((share, h) => square(share, h, i))}${without ? lost(without, top + i * row + row * .66, words[i] === worst && whole - without.chance > LITTLE) : ""}`)}`)}
      <p class="soft" style="margin-top:8px">In each column one head’s attention, in percent. On the right what happens if that English word is erased
      from the sentence.</p>`;
  },
  says(state, [look]) {
    const { unit, heads, words, most, count, worst, whole } = seen(state, look), own = html`<i>${unit.text}</i>`, { chance: p, instead } = worst.without;
    const lost = whole - p > LITTLE ? html`Erase <i>${worst.label}</i>, and the chance of ${own} goes from <b>${chance(whole)}</b> to <b>${chance(p)}</b>${
      instead ? html`: <i>${instead}</i> is written instead` : ""}.`
      : html`Whichever English word is erased, the chance of ${own} stays at <b>${chance(p)}</b> or more.`;
    return html`While ${own} is written, <b>${count}</b> of ${heads.length} heads look most at <i>${words[most].label}</i>. ${lost}`;
  },
  predict: {
    question: html`<i>bank</i> has one list in the vocabulary. <i>${BANKS[0]}</i> <i>${BANKS[1]}</i> Can the French tell the two apart by what it
      reads at the place of <i>bank</i>?`,
    options: ["No: it reads the same list twice", "Yes: the encoder has made two lists of it"],
    needs: [["inside", { tool: "words", word: "bank", sentences: BANKS }], ["translate", { texts: BANKS }]],
    right: (answers) => banks(answers).similar.at(-1) < 0.9995 ? 1 : 0,
    because(answers) {
      const { own, similar } = banks(answers);
      return html`In the vocabulary the two are the same, with a similarity of <b>${figure(similar[0], 3)}</b>. After the encoder it is
        <b>${figure(similar.at(-1), 3)}</b>, and that is what cross-attention reads. The model writes <i>${own[0]}</i> for the first and
        <i>${own[1]}</i> for the second.`;
    },
  },
  short(state, [look], { result: { right } }) {
    const { unit, heads, words, most, count } = seen(crossAttention.start, look);
    return html`While <i>${unit.text}</i> is written, ${count} of ${heads.length} heads look most at <i>${words[most].label}</i>, as the encoder
      left it. With the French so far alone, ${part(right["prefix alone"].value)} of the words are right; with the English,
      ${part(right.unchanged.value)}. What comes out is a score for every word. How does one of them become the next word?`;
  },
};
