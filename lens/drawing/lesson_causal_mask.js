// Lesson 4: the same row with the words that come later, hidden or not.

import { best, buttons, figure, sum } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rootOf, rowAt, rowPicture, sharesOf, writtenAt } from "./lesson_row.js";
import { html } from "./markup.js";

const ROW = 12;  // where *il* asks, to write *était*
const laterOf = ({ allowed }) => allowed.flatMap((one, i) => one ? [] : [i]);

function seen({ masked }, [look, row]) {
  const shares = sharesOf(row, { masked }), later = laterOf(row), words = inputsOf(look);
  return { shares, later, words, asker: words[ROW], next: writtenAt(look, ROW), ahead: sum(later.map((i) => shares[i])) };
}

export const causalMask = {
  lead: html`<p>In <b>training</b>, the model is given the whole French sentence at once and has to predict each of its words from the
    words before. In <b>use</b>, the words to come do not exist yet: the model has still to write them.</p>
    <p>The mask makes the two alike. It takes the words to come out of the scores before the softmax, so that they get no share. Here
    <i>il</i> asks, to write <i>était</i>, as in training: the whole sentence is there.</p>`,
  start: { masked: true },
  needs: () => [WORDS, rowAt(ROW)],
  control: (state) => buttons("The mask", "masked", [[true, "On"], [false, "Off"]], state.masked),
  picture(state, answers, lesson, theme) {
    const [, row] = answers, { words, asker } = seen(state, answers), head = `÷ ${figure(rootOf(row), 2)}`;
    return rowPicture(`The shares that ${asker} gives, ${state.masked ? "with" : "without"} the mask`, row, words, { asker, steps: [2],
      masked: state.masked, shown: [...words.keys()], scored: { head, divided: true }, theme });
  },
  says(state, answers) {
    const { words, later, shares, asker, next, ahead } = seen(state, answers), answer = words.indexOf(next);
    if (state.masked) return html`<i>${asker}</i> divides its attention between the <b>${words.length - later.length}</b> words up to
      itself. The <b>${later.length}</b> words to come get <b>0%</b>.`;
    return html`Now <b>${part(ahead)}</b> goes to words to come. <b>${part(shares[answer])}</b> goes to <i>${next}</i>, the very word that
      it should predict.`;
  },
  predict: {
    question: html`We trained a small model with the mask, and the same one without. Without it, the model errs less in training, for it
      sees what it should predict. Which one translates new sentences better?`,
    options: ["The one without the mask", "Both alike", "The one with the mask"],
    right(answers, { result: { exact: [masked, open] } }) {
      const gain = masked.value - open.value;
      return Math.abs(gain) < 0.02 ? 1 : gain < 0 ? 0 : 2;
    },
    because: (answers, { result: { exact, seen: loss } }) => html`With the mask <b>${part(exact[0].value)}</b> of new sentences are translated
      exactly, without it <b>${part(exact[1].value)}</b>. Yet without it the loss, which counts errors, is <b>${figure(loss[1].value, 3)}</b>,
      and with it <b>${figure(loss[0].value, 3)}</b>: a model that can read the answer does not learn to predict it, and in use
      there is none to read.`,
    shows: { masked: false },
  },
  short(state, answers) {
    const { ahead, asker } = seen({ masked: false }, answers), { words, shares } = seen(causalMask.start, answers), most = best(shares);
    return html`Without the mask ${part(ahead)} of <i>${asker}</i>’s attention would go to words that, in use, do not exist yet. With it
      the largest share is <i>${words[most]}</i>’s, ${part(shares[most])}. All this was one head. A layer has several.`;
  },
};
