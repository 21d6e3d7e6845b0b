// Lesson 13: the position vectors of a sentence, and what two words that change places change, with positions or without.

import { buttons, legend, picture, roomOf, strips, text, toneOf } from "./lesson_parts.js";
import { html, isNarrow } from "../common/markup.js";
import { bare } from "../common/trace.js";
import { chance } from "../common/wording.js";

const ENGLISH = ["The", "goat", "chased", "the", "wolf", "."], SWAPPED = ["The", "wolf", "chased", "the", "goat", "."];
const TRANSLATION = "La chèvre a poursuivi le loup.";
const WIDTH = 128, SHOWN = 32;  // numbers of a position vector, and how many of them the picture has
const GOAT = "chèvre";
const SAME = 0.001;  // a smaller change of a chance is rounding

// Neighbouring pairs, sine and cosine, of every fourth speed.
const NUMBERS = Array.from({ length: SHOWN }, (_, n) => 8 * Math.floor(n / 2) + n % 2);
const wave = (place, i) => (i % 2 ? Math.cos : Math.sin)(place / 10_000 ** ((i - i % 2) / WIDTH));

const questions = (positions) => [ENGLISH, SWAPPED].map((words) => ["inside",
  { tool: "positions", text: words.join(" ").replace(" .", "."), translation: TRANSLATION, positions }]);
const stepOf = ({ tokens }, word) => tokens.findIndex((one) => bare(one) === word);
const chanceOf = (answer, word) => answer.chances[stepOf(answer, word)];
const firstNoun = (answer) => bare(answer.top[stepOf(answer, GOAT)][0][0]);
const most = ([one, other]) => Math.max(...one.chances.map((value, t) => Math.abs(value - other.chances[t])));
const change = (answers) => html`the chance of <i>${GOAT}</i> goes from <b>${chance(chanceOf(answers[0], GOAT))}</b> to
  <b>${chance(chanceOf(answers[1], GOAT))}</b>`;

export const positions = {
  lead: html`<i>The dog saw the cat</i> is not <i>The cat saw the dog</i>: the order of the words counts. But the next steps
    compare words with words, and do not see where they stand. So the model adds a second vector to
    each word’s own: its <b>position</b>. A formula makes it from sines and cosines of many speeds, like the pointers of
    many clocks. Fast ones are on the left, slow ones on the right.`,
  start: { on: true },
  needs: ({ on }) => questions(on),
  control: ({ on }) => buttons("Positions", "on", [[true, "on"], [false, "off"]], on),

  picture({ on }, answers, lesson, theme) {
    const places = ENGLISH.map((word, p) => ({ label: `${p + 1} ${word === SWAPPED[p] ? word : `${word} / ${SWAPPED[p]}`}`,
      numbers: NUMBERS.map((i) => on ? wave(p, i) : 0) }));
    const steps = answers[0].tokens.map((token, t) => ({ label: bare(token), chances: answers.map((one) => one.chances[t]) })).slice(1, -2);
    const row = isNarrow() ? 15 : 20, top = 34 + places.length * row, high = isNarrow() ? 28 : 34;
    return html`${picture(`Positions ${on ? "on" : "off"}: the vectors, and the chance of each French word in both orders`,
      top + 30 + steps.length * high, html`${
        text(0, 16, on ? "what is added at each position" : "nothing is added", { how: "soft" })}${
        strips(places, { y: 24, most: 1, height: row, left: LEFT, theme })}${pairs(steps, top + 14, high)}`)}${
      legend([["blue", "goat chased wolf"], ["orange", "wolf chased goat"]])}${
      !on && html`<p class="more fine">The calibration of the chances was measured with positions.</p>`}`;
  },

  says({ on }, answers) {
    if (on) return html`With positions, swapping <i>goat</i> and <i>wolf</i> changes the translation. Now ${change(answers)}, and
      the model writes <i>${firstNoun(answers[1])}</i>.`;
    return most(answers) < SAME
      ? html`Without positions, swapping <i>goat</i> and <i>wolf</i> changes no chance. <i>${GOAT}</i> has
        <b>${chance(chanceOf(answers[0], GOAT))}</b> either way. The model sees a set of words, and cannot know who
        chased whom.`
      : html`Without positions, swapping <i>goat</i> and <i>wolf</i> still changes something: ${change(answers)}.`;
  },

  predict: {
    question: html`Positions are switched off, and <i>goat</i> and <i>wolf</i> change places. What happens to the chances of
      the French words?`,
    options: ["They change as much as with positions", "They change, but less", "None of them changes"],
    needs: [...questions(true), ...questions(false)],
    right: (answers) => {
      const [on, off] = [most(answers.slice(0, 2)), most(answers.slice(2))];
      return off < SAME ? 2 : off < on / 2 ? 1 : 0;
    },
    because: (answers) => html`The two words change places. With positions, ${change(answers)}. Without positions, it goes from
      <b>${chance(chanceOf(answers[2], GOAT))}</b> to <b>${chance(chanceOf(answers[3], GOAT))}</b>. Attention alone sees the
      words, but not their order.`,
  },

  short: () => html`Attention compares words, whatever their order. A position vector is added to each word, so that
    the same word has other numbers at another position. That is how the model can know who chased whom.`,
};

const LEFT = 128, RIGHT = 84;  // room for labels and chances

// For each French word two bars, of its chance in one order and in the other.
function pairs(steps, y, height) {
  const wide = roomOf() - LEFT - RIGHT, bar = (value, middle, tone) => html`<rect x="${LEFT}" y="${middle - 5}"
    width="${Math.max(1, wide * value).toFixed(1)}" height="10" rx="2" fill="${toneOf(tone)}"/>${
    text(roomOf(), middle + 5, chance(value), { how: "figure", anchor: "end" })}`;
  return html`${text(LEFT, y, "chance of each French word", { how: "soft" })}${steps.map(({ label, chances }, i) => {
    const top = y + 8 + i * height;
    return html`${text(LEFT - 8, top + height / 2 + 5, label, { anchor: "end" })}${
      chances.map((value, n) => bar(value, top + height * (n ? .73 : .27), n ? "orange" : "blue"))}`;
  })}`;
}
