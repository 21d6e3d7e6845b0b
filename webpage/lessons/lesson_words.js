// Lesson 1: the numbers of a word beside those of the words nearest to it, and its vectors in two sentences.

import { bars, buttons, dot, figure, picture, roomOf, strips, text } from "./lesson_parts.js";
import { part } from "./lesson_row.js";
import { html, isNarrow, listed } from "../common/markup.js";

const NEAREST = 5, FAR = "because";  // neighbours that are drawn, and a word to compare with
const STILL = 0.99;  // a similarity above it is hardly a change
const CROSSING = ["The cat did not cross the street because it was too tired.",
  "The cat did not cross the street because it was too wide."];
// By word, two sentences that have it in the same place; *bat* and *bank* mean something else in each.
const SENTENCES = {
  bank: ["The girl looked at the bank because it was muddy.", "The girl looked at the bank because it was closed."],
  bat: ["The boy looked at the bat because it was hungry.", "The boy looked at the bat because it was broken."],
  tired: [CROSSING[0], "The dog did not read the letter because it was too tired."],
  cat: CROSSING,
  street: CROSSING,
};

const near = (word) => ["inside", { tool: "near", word }];
const inSentences = (word) => ["inside", { tool: "words", word, sentences: SENTENCES[word] }];
const spoken = (token) => token.replace("▁", "");
// The neighbours that are words, not pieces of words: pieces begin without a space, or are as short as *li*.
const wordsOf = ({ near: found, vectors: [, ...others] }) => found
  .map(([token, value], i) => ({ token, word: spoken(token), value, numbers: others[i] }))
  .filter(({ token, word }) => token !== word && word.length > 2);
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
// How alike the two vectors of a word are: at first, and after each layer.
const alike = ({ distances }) => distances["0 1"].map((one) => 1 - one);
const stages = (all) => all.map((_, layer) => layer ? `after layer ${layer}` : "at first");

export const words = {
  lead: html`<p>A model can only calculate. So each word of its vocabulary is a list of numbers, a <b>vector</b>. In this
    model, a vector has well over a hundred numbers. Nobody wrote them: they were random before training. Now, words
    that are used in similar ways tend to have similar vectors. This is a tendency, not a rule.</p>
    <p>The model works in <b>layers</b>. Each layer rewrites every word’s vector, using the words around it.</p>`,
  start: { word: "bank" },
  needs: ({ word }) => [near(word), inSentences(word), near(FAR), inSentences("bank")],
  control: ({ word }) => buttons("Choose a word", "word", Object.keys(SENTENCES), word),
  picture({ word }, [found, layers, { vectors: [far] }], { result: { overlap, overlap_chance: guessed } }, theme,
    isAnswered) {
    const { vectors: [own] } = found;
    const order = own.map((_, i) => i).sort((a, b) => own[b] - own[a]), sorted = (one) => order.map((i) => one[i]);
    const nearest = wordsOf(found).slice(0, NEAREST).map((one) =>
      ({ label: one.word, numbers: sorted(one.numbers), valueText: figure(one.value, 2) }));
    const rows = [{ label: word, numbers: sorted(own), valueText: "1.00", how: "bold" }, ...nearest,
      { label: FAR, numbers: sorted(far), valueText: figure(cosine(own, far), 2), how: "soft" }];
    const similar = isAnswered ? alike(layers) : [], names = stages(similar), y = 26;
    const [height, left] = isNarrow() ? [20, 92] : [25, 108];
    const below = y + rows.length * height + 34, stage = (value, i) =>
      ({ label: names[i], value, valueText: figure(value, 3), tone: "green" });
    const titles = isNarrow() ? [`${own.length} numbers, by size`, "in the sentences below"]
      : [`the ${own.length} numbers of ${word}, sorted by size; other words in the same order`,
        `the two vectors of ${word} in the sentences below`];
    const heads = [14, below - 12].slice(0, isAnswered ? 2 : 1).map((at, i) => [text(0, at, titles[i], { how: "soft" }),
      text(roomOf(), at, "similarity", { how: "soft", anchor: "end" })]);
    const sentences = html`The sentences: ${listed(SENTENCES[word], (one) => html`<i>${one}</i>`, " ")}`;
    return html`${picture(`The numbers of ${word} and of other words${isAnswered ? ", and its vectors in two sentences"
      : ""}`, (isAnswered ? below : below - 30) + similar.length * height + 4,
    [heads, strips(rows, { y, right: 56, left, height, theme }),
      bars(similar.map(stage), { y: below, most: 1, left, right: 56, height })])}
      <p class="fine">Blue is above zero, orange below. <i>${FAR}</i> is for comparison. Similarity: 1 is the same
      direction, 0 is nothing in common. Of the ten words with the most similar use, ${part(overlap.value)} are among
      the ten nearest. By chance it would be ${part(guessed)}. ${isAnswered ? sentences : ""}</p>`;
  },
  says({ word }, [found, layers]) {
    const similar = alike(layers), [{ word: nearest, value }] = wordsOf(found);
    return html`<i>${word}</i> is a vector of <b>${found.vectors[0].length}</b> numbers. The nearest word is
      <i>${nearest}</i>, with a similarity of <b>${figure(value, 2)}</b>. Compare <i>${word}</i> in the two sentences.
      Its two vectors have a similarity of <b>${figure(similar[0], 3)}</b> before the first layer and
      <b>${figure(similar.at(-1), 3)}</b> after the last. The other words
      ${similar.at(-1) > STILL ? "hardly change" : "have changed"} it.`;
  },
  predict: {
    question: html`<i>The girl looked at the bank because it was muddy. The girl looked at the bank because it was
      closed.</i> These are two meanings of <i>bank</i>. With how many vectors for <i>bank</i> does the model begin?`,
    options: ["One: the same vector for both", "Two: one for each meaning"],
    needs: [inSentences("bank")],
    right: ([layers]) => alike(layers)[0] > 0.9995 ? 0 : 1,
    because([layers]) {
      const similar = alike(layers), after = similar.slice(1).map((one, i) => [i + 1, one]);
      return html`One: the same vector in every sentence. Before the first layer, the two have a similarity of
        <b>${figure(similar[0], 3)}</b>. It is ${listed(after, ([layer, one]) =>
        html`<b>${figure(one, 3)}</b> after layer ${layer}`)}. The sentences differ in one word only, <i>muddy</i> or
        <i>closed</i>. Attention has carried information about this word into <i>bank</i>.`;
    },
  },
  short: (state, [{ vectors: [own] }, , , bank]) => html`A word begins as a vector of ${own.length} numbers, the same
    in every sentence. The layers change it. For <i>bank</i> in the two sentences, the similarity of its two vectors goes
    from ${figure(alike(bank)[0], 3)} to ${figure(alike(bank).at(-1), 3)}. So <i>bank</i> took something from other
    words. How does a word find them?`,
};
