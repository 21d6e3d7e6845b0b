// Lesson 1: the numbers of a word beside those of the words nearest to it, and what two sentences make of it.

import { bars, buttons, dot, figure, picture, strips } from "./lesson_parts.js";
import { html, listed } from "./markup.js";

const NEAREST = 5, FAR = "because";  // neighbours that are drawn, and a word to compare with
const CROSSING = ["The cat did not cross the street because it was too tired.",
  "The cat did not cross the street because it was too wide."];
// By word, two sentences that have it in the same place; *bat* and *bank* mean something else in each.
const SENTENCES = {
  cat: CROSSING,
  street: CROSSING,
  tired: [CROSSING[0], "The dog did not read the letter because it was too tired."],
  bat: ["The boy looked at the bat because it was hungry.", "The boy looked at the bat because it was broken."],
  bank: ["The girl looked at the bank because it was muddy.", "The girl looked at the bank because it was closed."],
};

const near = (word) => ["inside", { tool: "near", word }];
const inSentences = (word) => ["inside", { tool: "words", word, sentences: SENTENCES[word] }];
const spoken = (token) => token.replace("▁", "");
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
// How alike the two lists of a word are: at first, and after each layer.
const alike = ({ distances }) => distances["0 1"].map((one) => 1 - one);
const stages = (all) => all.map((_, layer) => layer ? `after layer ${layer}` : "at first");

export const words = {
  lead: html`<p>A model can only calculate. So each word of its vocabulary is a list of numbers, a <b>vector</b>: 128
    numbers in this model. Nobody wrote them. They were random before training, and words that are used alike have come
    to have similar lists.</p>
    <p>The list is the same in every sentence. What the word means in <i>this</i> one is worked out afterwards, layer
    by layer, with the words around it.</p>`,
  start: { word: "cat" },
  needs: ({ word }) => [near(word), inSentences(word), near(FAR)],
  control: ({ word }) => buttons("Choose a word", "word", Object.keys(SENTENCES), word),
  picture({ word }, [{ near: found, vectors: [own, ...others] }, layers, { vectors: [far] }], lesson, theme) {
    const order = own.map((_, i) => i).sort((a, b) => own[b] - own[a]), sorted = (one) => order.map((i) => one[i]);
    const nearest = found.slice(0, NEAREST).map(([token, value], i) =>
      ({ label: spoken(token), numbers: sorted(others[i]), said: figure(value, 2) }));
    const rows = [{ label: word, numbers: sorted(own), said: "1.00", how: "bold" }, ...nearest,
      { label: FAR, numbers: sorted(far), said: figure(cosine(own, far), 2), how: "soft" }];
    const similar = alike(layers), names = stages(similar), height = 24;
    return html`<p class="soft">The ${own.length} numbers of <b>${word}</b>, sorted by size, and in the same order
      those of the words nearest to it; on the right how similar the two lists are. Blue is above zero, orange below.
      <i>${FAR}</i> is there to compare.</p>${
      picture(`The numbers of ${word} and of the words nearest to
        it`, rows.length * height + 4, strips(rows, { right: 44, left: 84, height, theme }))}
      <p class="soft" style="margin-top:14px">How similar the two lists of <b>${word}</b> are in these sentences: ${
      listed(SENTENCES[word], (one) => html`<i>${one}</i>`, " ")}</p>${
      picture(`How similar the lists of ${word} in two sentences are, by
        layer`, similar.length * height + 4, bars(similar.map((value, i) =>
        ({ label: names[i], value, said: figure(value, 3), tone: "green" })), { most: 1, left: 108, right: 56, height }))}`;
  },
  says({ word }, [{ near: [[token, value]], vectors: [own] }, layers]) {
    const similar = alike(layers);
    return html`<i>${word}</i> is a list of <b>${own.length}</b> numbers. The nearest of all words is
      <i>${spoken(token)}</i>, with a similarity of <b>${figure(value, 2)}</b>. In the two sentences, the lists of
      <i>${word}</i> begin with a similarity of <b>${figure(similar[0], 3)}</b> and end with
        <b>${figure(similar.at(-1), 3)}</b>.`;
  },
  predict: {
    question: html`<i>The girl looked at the bank because it was muddy. The girl looked at the bank because it was
      closed.</i> Two meanings of <i>bank</i>. How many lists of numbers does the model begin with?`,
    options: ["One: the same list for both", "Two: one for each meaning"],
    needs: [inSentences("bank")],
    right: ([layers]) => alike(layers)[0] > 0.9995 ? 0 : 1,
    because([layers]) {
      const similar = alike(layers), names = stages(similar);
      return html`One: ${names[0]} the two are the same, with a similarity of <b>${figure(similar[0], 3)}</b>.
        ${listed(similar.slice(1).map((one, i) => [names[i + 1], one]),
        ([name, one]) => html`${name} it is <b>${figure(one, 3)}</b>`)}: other words of the sentence were mixed in,
        <i>muddy</i> or <i>closed</i> among them.`;
    },
    shows: { word: "bank" },
  },
  short: ({ word }, [{ near: [[token]], vectors: [own] }]) => html`A word is a list of ${own.length} numbers, the same
    in every sentence; that of <i>${word}</i> is near that of <i>${spoken(token)}</i>. To fit its sentence, it has to
    take something from other words. How does it find them?`,
};
