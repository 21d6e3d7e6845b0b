// Lesson 15: one row of one head, step by step: of the example by hand, or of the trained model.

import { best, buttons, figure, mostOf, picture, share, slider, strip, text } from "./lesson_parts.js";
import { recorded } from "./lesson_recorded.js";
import { html, isNarrow, listed } from "../common/markup.js";

const STEPS = ["query", "products", "scale", "mask", "softmax", "sum"];
const [QUERY, PRODUCTS, SCALE, MASK, SOFTMAX, SUM] = STEPS.keys();
const INPUTS = ["start", "to French", "Le", "chat", "n'", "a", "pas"], FROM = 2;  // of the model's rows, the first offered
const BEGUN = "Le chat n'a pas", HEAD = { kind: "decoder", layer: 0, head: 1 };
const ASKS = 2;  // *brown*

const placeOf = ({ row }) => [row.startsWith("hand"), +row.split("-")[1]];

// All numbers of the chosen row: { words, row, query, keys, values, products, size, scaled, allowed, weights, mixed }.
function numbers(state, [answer], lesson) {
  const [byHand, row] = placeOf(state);
  if (!byHand) {
    const { query, keys, values, products, allowed, weights, mixed } = answer, root = Math.sqrt(query.length);
    return { words: INPUTS, row, query, keys, values, products, allowed, weights, mixed, size: query.length,
      scaled: products.map((one) => one / root) };
  }
  const { hand, words } = recorded(lesson, "hand", "words");
  return { words, row, query: hand.query_NE[row], keys: hand.key_NE, values: hand.value_NE, products: hand.score_NN[row],
    scaled: hand.scaled_NN[row], allowed: hand.masked_NN[row].map((one) => one !== null), weights: hand.weight_NN[row],
    mixed: hand.mixed_NE[row], size: hand.query_NE[row].length };
}
const two = (value) => figure(value, 2), vector = (all) => all.map(two).join(", ");
const byHand = (lesson) => numbers({ row: `hand-${ASKS}` }, [], lesson);

export const workedExample = {
  lead: html`This lesson follows one row of one head from the beginning to the end, with every number. First comes an
    example by hand: four words, whose vectors have five numbers each. You can follow it with a pocket calculator. Then
    come the same steps in the model.`,
  start: { row: `hand-${ASKS}`, step: QUERY },
  needs(state) {
    const [isHand, row] = placeOf(state);
    return isHand ? [] : [["inside", { tool: "arithmetic", ...HEAD, row, translation: BEGUN }]];
  },
  control(state, answers, lesson) {
    const { words } = recorded(lesson, "words");
    const rows = [...words.map((word, i) => [`hand-${i}`, word]),
      ...INPUTS.slice(FROM).map((word, i) => [`model-${i + FROM}`, html`<i>${word}</i>`])];
    return html`${slider("Step", "step", { most: SUM, value: state.step, valueText: STEPS[state.step] })}
      ${buttons("Row, by hand or in the model (in italics)", "row", rows, state.row)}`;
  },

  picture(state, answers, lesson, theme) {
    const all = numbers(state, answers, lesson), { words, row, step = state.step } = all;
    return html`${formula(step, all.size)}${picture(`The row of ${words[row]}, up to ${STEPS[step]}`, 66 + 26 * words.length
      + (step >= SUM ? 34 : 0), drawn(all, step, theme))}<p class="key">${all.size > 5 || isNarrow()
      ? "Cells: blue above zero, orange below." : "Every key and value has five numbers."}</p>`;
  },

  says(state, answers, lesson) {
    return SAID[state.step](numbers(state, answers, lesson));
  },

  predict: {
    question: html`In <i>The quick brown fox</i>, the query of <i>brown</i> has its largest product with the key of
      <i>fox</i>. Which word gets the largest share of the attention of <i>brown</i>?`,
    options: ["The", "quick", "brown", "fox"],
    right: (answers, lesson) => best(byHand(lesson).weights),
    because(answers, lesson) {
      const { words, row, products, weights } = byHand(lesson), most = best(products), chosen = best(weights);
      return html`<i>${words[most]}</i> has the largest product, <b>${two(products[most])}</b>. But it comes after
        <i>${words[row]}</i> and is masked, so its share is ${share(weights[most])}. <i>${words[chosen]}</i> gets
        <b>${share(weights[chosen])}</b>.`;
    },
    needs: [],
  },

  short: () => html`Every row of this head takes the same steps: products of query and keys, division, mask, softmax, and a
    sum of values. You can check each number by hand. The model takes the same steps, only with more numbers.`,
};

// A sentence about the row for each step. If a step takes one word as an example, it is the word with the largest share.
const SAID = {
  [QUERY]: ({ words, row, query, size }) => html`<i>${words[row]}</i> asks with the ${size} numbers of its query${
    size > 5 ? "" : html`: <b>${vector(query)}</b>`}. Every word answers with its key.`,
  [PRODUCTS]({ words, row, query, keys, products, weights, size }) {
    const at = best(weights), terms = query.map((one, i) => `${two(one)} × ${two(keys[at][i])}`).join(" + ");
    return html`<i>${words[row]}</i> with <i>${words[at]}</i>: ${size > 5 ? `the sum of ${size} products is` : `${terms} =`}
      <b>${two(products[at])}</b>.`;
  },
  [SCALE]({ words, products, scaled, weights, size }) {
    const at = best(weights);
    return html`Every product is divided by √${size} = ${two(Math.sqrt(size))}. The product with <i>${words[at]}</i> goes from
      ${two(products[at])} to <b>${two(scaled[at])}</b>.`;
  },
  [MASK]({ words, row, allowed }) {
    const later = words.filter((_, i) => !allowed[i]);
    return later.length ? html`<b>${later.length}</b> ${later.length > 1 ? "words come" : "word comes"} after
      <i>${words[row]}</i> and ${later.length > 1 ? "are" : "is"} masked: ${listed(later, (one) => html`<i>${one}</i>`)}.`
      : html`No word comes after <i>${words[row]}</i>, so <b>0</b> are masked.`;
  },
  [SOFTMAX]({ words, weights }) {
    const at = best(weights);
    return html`The softmax turns these numbers into shares. <i>${words[at]}</i> gets <b>${share(weights[at])}</b>, and all
      shares together are ${share(weights.reduce((total, one) => total + one, 0))}.`;
  },
  [SUM]: ({ words, row, mixed, size }) => html`Each value is multiplied by its share, and the results are added up. The output for
    <i>${words[row]}</i> ${size > 5 ? html`has ${size} numbers, and the first is <b>${two(mixed[0])}</b>`
    : html`is <b>${vector(mixed)}</b>`}.`,
};

// The formula: what has come is in ink, this step stands out, the rest is still pale.
function formula(step, size) {
  const parts = ["q", "· k", `÷ √${size}`, "+ mask", "→ softmax", "× v"];
  return html`<p class="formula" aria-hidden="true">${parts.map((one, i) => html`<span ${
    i === step ? html`class="now"` : i > step ? html`class="later"` : ""}>${one}</span>`)}</p>`;
}

// Where columns stand, in units of the picture: the right end of numbers, the left end and width of vectors.
const columns = () => isNarrow() ? { word: 62, key: [68, 54], product: 164, scaled: 206, mask: 242, share: 282, value: [288, 52] }
  : { word: 76, key: [84, 220], product: 362, scaled: 422, mask: 470, share: 524, value: [530, 228] };

function drawn({ words, row, query, keys, values, products, scaled, allowed, weights, mixed, size }, step, theme) {
  const at = columns(), most = mostOf(query, keys), strongest = mostOf(values, mixed), chosen = best(weights);
  const cells = (numbers, [x, width], y, limit) => size > 5 || isNarrow()
    ? strip(numbers, { x, y: y - 13, width, height: 17, most: limit, theme })
    : numbers.map((one, i) => text(x + (i + 1) * width / size, y, two(one), { how: "figure", anchor: "end" }));
  const number = (name, y, value, how = "") => text(at[name], y, value, { how: `figure ${how}`, anchor: "end" });
  const head = (name, caption, from) => step >= from ? number(name, 44, caption, "soft") : "";
  const line = (word, i) => {
    const y = 68 + i * 26, how = i === row ? "bold" : allowed[i] || step < MASK ? "" : "soft", strong = i === chosen ? "bold" : "";
    return html`${text(at.word, y, word, { how, anchor: "end" })}${cells(keys[i], at.key, y, most)}${
      step >= PRODUCTS ? number("product", y, two(products[i])) : ""}${step >= SCALE ? number("scaled", y, two(scaled[i])) : ""}${
      step >= MASK ? number("mask", y, allowed[i] ? "+ 0" : "− ∞") : ""}${
      step >= SOFTMAX ? number("share", y, share(weights[i]), strong) : ""}${
      step >= SUM ? cells(values[i], at.value, y, strongest) : ""}`;
  };
  const foot = 68 + words.length * 26 + 6;
  return html`${text(at.word, 18, words[row], { how: "bold", anchor: "end" })}${cells(query, at.key, 18, most)}${
    text(at.key[0] + at.key[1] + 8, 18, "its query", { how: "soft" })}${text(at.key[0], 44, "keys", { how: "soft" })}${
    head("product", "q·k", PRODUCTS)}${head("scaled", `÷√${size}`, SCALE)}${head("mask", "mask", MASK)}${
    head("share", "share", SOFTMAX)}${step >= SUM ? text(at.value[0], 44, "values", { how: "soft" }) : ""}${words.map(line)}${
    step >= SUM ? html`<path class="axis" d="M${at.value[0]},${foot - 18}H${at.value[0] + at.value[1]}"/>${
      text(at.value[0] - 8, foot, "sum", { how: "bold", anchor: "end" })}${cells(mixed, at.value, foot, strongest)}` : ""}`;
}
