// Lesson 3: one row of scores, and what the softmax makes of them as they are divided by more or less.

import { bars, best, figure, picture, rowOf, share, slider, softmax } from "./lesson_parts.js";
import { html } from "./markup.js";

const WORDS = ["start", "to French", "Le", "chat", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'", "il",
  "était"];
const ROW = 13;  // writes *trop*
const sharesAt = ({ products, allowed }, divisor) => {
  const seen = allowed.flatMap((one, i) => one ? [i] : []);
  return softmax(seen.map((i) => products[i] / divisor));
};
const root = ({ query }) => Math.sqrt(query.length);

export const scaling = {
  lead: html`A score is a sum of products: one for each of the numbers that a query and a key have. The more numbers,
    the larger the scores, and softmax turns large scores into all or nothing. So each score is divided by the square
    root of how many numbers there are.`,
  start: { divisor: null },
  needs: () => [["inside", { tool: "arithmetic", kind: "decoder", layer: 1, head: 0, row: ROW }]],
  control(state, [row]) {
    const divisor = state.divisor ?? root(row);
    return slider("Divide the scores by", "divisor", { least: 1, most: 32, step: 0.5, value: divisor,
      said: figure(divisor, 1) });
  },
  picture(state, [row], lesson, theme) {
    const shares = sharesAt(row, state.divisor ?? root(row)), most = best(shares);
    const rows = shares.map((value, i) => ({ label: WORDS[i], value, said: share(value), tone: "green",
      how: i === most ? "bold" : "" }));
    return picture("The share of attention that each word so far gets", rows.length * rowOf(rows.length),
      bars(rows, { most: 1 }));
  },
  says(state, [row]) {
    const divisor = state.divisor ?? root(row), shares = sharesAt(row, divisor), most = best(shares);
    return html`Divided by <b>${figure(divisor, 1)}</b>, <i>${WORDS[most]}</i> gets <b>${share(shares[most])}</b> of the
      attention.`;
  },
  predict: {
    question: "If the scores were not divided at all, what would the largest share become?",
    options: ["About the same", "Smaller", "Nearly all of it"],
    right: ([row]) => {
      const gain = Math.max(...sharesAt(row, 1)) - Math.max(...sharesAt(row, root(row)));
      return Math.abs(gain) < 0.1 ? 0 : gain < 0 ? 1 : 2;
    },
    because: ([row]) => html`Divided by ${figure(root(row), 2)}, the largest share is <b>${
      share(Math.max(...sharesAt(row, root(row))))}</b>; not divided, <b>${share(Math.max(...sharesAt(row, 1)))}</b>.`,
    shows: { divisor: 1 },
  },
  short: (state, [row]) => html`The scores are divided by ${figure(root(row), 2)}, so that more than one word is
    heard.`,
};
