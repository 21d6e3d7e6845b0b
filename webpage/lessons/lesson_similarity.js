// Lesson 14: a word and two of its neighbours as arrows, and two ways to compare them while one of them is made longer.

import { bars, dot, figure, picture, roomOf, slider, text, toneOf } from "./lesson_parts.js";
import { html, isNarrow } from "../common/markup.js";
import { bare } from "../common/trace.js";

const WORD = "cat", NEIGHBOURS = [0, 3];  // by rank: the nearest, and the one whose length is moved
const MOST = 3;  // times its length
const TONES = ["blue", "orange"];

// The two neighbours, the second `times` as long as it is: { name, cosine, length, dot }.
function neighbours({ near, vectors: [own, ...vectors] }, times) {
  return NEIGHBOURS.map((rank, i) => {
    const vector = vectors[rank].map((one) => one * (i ? times : 1)), length = Math.hypot(...vector);
    return { name: bare(near[rank][0]), cosine: dot(own, vector) / Math.hypot(...own) / length, length,
      dot: dot(own, vector) };
  });
}
const winner = ([one, other], by) => one[by] >= other[by] ? one : other;

export const similarity = {
  lead: html`How alike are two words? Each is a vector: an arrow with a direction and a length. The <b>cosine</b> compares
    only the directions. The <b>dot product</b> also grows with the lengths, and attention uses the dot product.`,
  start: { times: 1 },
  needs: () => [["inside", { tool: "near", word: WORD }]],
  control: ({ times }, [answer]) => slider(html`Length of <i>${neighbours(answer, 1)[1].name}</i>`, "times",
    { least: 0.5, most: MOST, step: 0.25, value: times, valueText: `× ${figure(times, 2)}` }),

  picture({ times }, [answer]) {
    const both = neighbours(answer, times), high = isNarrow() ? 130 : 230, row = isNarrow() ? 22 : 28;
    const compared = (by, title, most, y) => html`${text(0, y, title, { how: "soft" })}${bars(both.map((one, i) => ({
      label: one.name, value: one[by], valueText: figure(one[by], 3), tone: TONES[i],
      how: one === winner(both, by) ? "bold" : "" })), { y: y + 6, most, height: row })}`;
    return html`${picture(`The vectors of ${WORD} and two neighbours, their cosines and dot products`, high + 68 + 4 * row,
      html`${arrows(answer, both, high)}${compared("cosine", `cosine with ${WORD}`, 1, high + 24)}${
        compared("dot", `dot product with ${WORD}`, neighbours(answer, MOST)[1].dot, high + 56 + 2 * row)}`)}<p class="key">
      Lengths and angles to “${WORD}” are true. Dashed: the projection of “${both[1].name}” onto “${WORD}”. The dot
      product is the projection’s length times the length of “${WORD}”.</p>`;
  },

  says({ times }, [answer]) {
    const [, before] = neighbours(answer, 1), both = neighbours(answer, times), [, now] = both;
    return html`The vector of <i>${now.name}</i> is <b>${figure(times, 2)}</b> times as long. Its dot product with
      <i>${WORD}</i> is <b>${figure(now.dot, 3)}</b> (before: ${figure(before.dot, 3)}). Its cosine is
      <b>${figure(now.cosine, 3)}</b>. By the dot product, <i>${winner(both, "dot").name}</i> is more like <i>${WORD}</i>.
      By the cosine, <i>${winner(both, "cosine").name}</i> is more like it.`;
  },

  predict: {
    question: html`We make a word’s vector twice as long, in the same direction. What happens to its cosine with
      <i>${WORD}</i>?`,
    options: ["It doubles", "It stays as it is", "It halves"],
    right: ([answer]) => {
      const gain = neighbours(answer, 2)[1].cosine / neighbours(answer, 1)[1].cosine;
      return gain > 1.5 ? 0 : gain < 0.75 ? 2 : 1;
    },
    because: ([answer]) => {
      const [before, after] = [1, 2].map((times) => neighbours(answer, times)[1]);
      return html`The cosine of <i>${after.name}</i> and <i>${WORD}</i> is <b>${figure(before.cosine, 3)}</b> before and
        <b>${figure(after.cosine, 3)}</b> after. The dot product goes from <b>${figure(before.dot, 3)}</b> to
        <b>${figure(after.dot, 3)}</b>.`;
    },
  },

  short: () => html`The cosine compares directions only. The dot product grows with the lengths too, so the two can
    disagree about which word is more alike. Attention uses the dot product: a key twice as long makes a score
    twice as large.`,
};

// The word, and a neighbour on each side of it at its true angle, with the shadow of the one that is moved.
function arrows(answer, [still, moved], height) {
  const own = Math.hypot(...answer.vectors[0]), [, longest] = neighbours(answer, MOST), turn = Math.acos(moved.cosine);
  const left = isNarrow() ? 64 : 150, scale = Math.min((roomOf() - left - 60) / longest.length, (height - 30) / longest.length
    / (moved.cosine * Math.sin(turn)));
  const tip = (length, angle) => [left + length * scale * Math.cos(angle), height - 8 - length * scale * Math.sin(angle)]
    .map((one) => one.toFixed(1));
  const arrow = ([x, y], tone, name, how = "") => html`<path class="curve" d="M${left},${height - 8}L${x},${y}"
    stroke="${toneOf(tone)}"/><circle cx="${x}" cy="${y}" r="4" fill="${toneOf(tone)}"/>${text(x, y - 10, name,
    { how, anchor: "middle" })}`;
  const end = tip(moved.length, 0), shadow = tip(moved.length * moved.cosine, turn);
  return html`<path class="at" d="M${left},${height - 8}L${shadow.join()}L${end.join()}" fill="none"/>${arrow(tip(own, turn), "ink", WORD, "bold")}${
    arrow(tip(still.length, turn + Math.acos(still.cosine)), TONES[0], still.name)}${arrow(end, TONES[1], moved.name)}`;
}
