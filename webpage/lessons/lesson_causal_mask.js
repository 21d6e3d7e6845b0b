// Lesson 4: the same row with the later words, hidden or not.

import { best, buttons, figure, sum } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rootOf, rowAt, rowPicture, sharesOf, writtenAt } from "./lesson_row.js";
import { html } from "../common/markup.js";

const ROW = 12;  // where *il* asks, to write *était*
const ALIKE = 0.02;  // of the sentences: a smaller difference is none

function seen({ masked }, [look, row]) {
  const words = inputsOf(look), later = [...words.keys()].filter((i) => !row.allowed[i]);
  const shares = sharesOf(row, { masked }), ahead = sum(later.map((i) => shares[i]));
  return { shares, later, words, asker: words[ROW], next: writtenAt(look, ROW), ahead };
}

export const causalMask = {
  lead: html`<p>In <b>training</b>, the model gets the whole French sentence at once. It has to predict each word from
    the words before it. In <b>use</b>, the later words do not exist yet, because the model still has to write them.</p>
    <p>The mask makes training and use alike. It removes the scores of later words before the softmax, so that they get
    no share. Here <i>il</i> asks again, so that <i>était</i> can be written. As in training, the later words are
    there.</p>`,
  start: { masked: true },
  needs: () => [WORDS, rowAt(ROW)],
  control: ({ masked }) => buttons("The mask", "masked", [[true, "on"], [false, "off"]], masked),
  picture(state, answers, lesson, theme) {
    const [, row] = answers, { words, asker } = seen(state, answers), { masked } = state;
    return html`${rowPicture(`The shares that ${asker} gives, with the mask
      ${masked ? "on" : "off"}`, row, words, { asker, masked,
      shown: [...words.keys()], step: 2, head: `÷
        ${figure(rootOf(row), 2)}`, isDivided: true, theme })}
      <p class="fine">The rows below <i>${asker}</i> are later words.${masked ? "" : " Their shares are purple."}</p>`;
  },
  says(state, answers) {
    const { words, later, shares, asker, next, ahead } = seen(state, answers);
    if (state.masked) return html`<i>${asker}</i> divides its attention between <b>${words.length - later.length}</b>
      words, up to itself. The <b>${later.length}</b> later words get <b>${part(ahead)}</b>.`;
    return html`Now <b>${part(ahead)}</b> of the attention goes to later words. The word to predict, <i>${next}</i>, gets
      <b>${part(shares[words.indexOf(next)])}</b>.`;
  },
  predict: {
    question: html`For this lesson, we trained a small model with the mask, and the same model without it. In training,
      the model without the mask makes smaller errors, because it sees the word that it should predict. Which model
      translates new sentences better?`,
    options: ["The model without the mask", "Both alike", "The model with the mask"],
    right(answers, { result: { exact: [masked, open] } }) {
      const gain = masked.value - open.value;
      return Math.abs(gain) < ALIKE ? 1 : gain < 0 ? 0 : 2;
    },
    because: (answers, { result: { exact, ended } }) => html`With the mask, the small model translates
      <b>${part(exact[0].value)}</b> of new sentences exactly. Without the mask, it translates
      <b>${part(exact[1].value)}</b>. Yet at the end of training, the error (the loss) was
      <b>${figure(ended[1], 3)}</b> without the mask and <b>${figure(ended[0], 3)}</b> with it. A model that can read
      the answer does not learn to predict it. In use, there is no answer to read.`,
  },
  short(state, answers) {
    const { ahead, asker } = seen({ masked: false }, answers), { words, shares } = seen(causalMask.start, answers);
    const most = best(shares);
    return html`Without the mask, ${part(ahead)} of the attention of <i>${asker}</i> would go to later words. In use,
      these words do not exist yet. With the mask, <i>${words[most]}</i> gets the largest share,
      ${part(shares[most])}. This was one head, and a layer has several.`;
  },
};
