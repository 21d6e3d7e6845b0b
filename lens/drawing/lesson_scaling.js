// Lesson 3: the scores of one row, divided by more or less, and what is left to learn from.

import { best, figure, slider } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rootOf, rowAt, rowPicture, sharesOf, writtenAt } from "./lesson_row.js";
import { html } from "./markup.js";

const ROW = 12;  // where *il* asks, to write *était*
const STEPS = 12;  // of the slider: from 1 to 64, each √2 times the one before
const SLOPE = 0.25;  // the steepest that a share can have

function seen({ step }, [look, row]) {
  const divisor = step === null ? rootOf(row) : 2 ** (step / 2), shares = sharesOf(row, { divisor });
  const words = inputsOf(look), most = best(shares);
  return { divisor, shares, most, words, asker: words[ROW], slope: slopeOf(shares[most]) };
}
// How much of a small push of a score, after the division, reaches its share: the derivative of the softmax.
const slopeOf = (share) => share * (1 - share);
// As a share of a push, with one digit that is not 0.
const pushed = (slope) => slope >= 0.005 ? `${Math.round(100 * slope)}%` : slope >= 1e-6 ? `${(100 * slope).toPrecision(1).replace(/e.*/, "")}%`
  : "less than 0.0001%";

export const scaling = {
  lead: html`<p>A score is a sum of 32 products, so it is easily large. Softmax turns scores into shares by raising <i>e</i> to
    each of them: a score 5 above another takes 150 times its share. So every score is first divided by √32, about 5.66; only
    then come the mask and the softmax.</p>
    <p>We go on by one word: <i>il</i> is written, and <i>il</i> now asks, to write <i>était</i>. It is the same head.</p>`,
  start: { step: null },
  needs: () => [WORDS, rowAt(ROW)],
  control(state, answers) {
    const { divisor } = seen(state, answers), isModel = state.step === null || divisor === rootOf(answers[1]);
    return slider("Divide the scores by", "step", { most: STEPS, value: state.step ?? Math.round(2 * Math.log2(divisor)),
      said: `${figure(divisor, divisor % 1 ? 2 : 0)}${isModel ? ", the model" : ""}` });
  },
  picture(state, answers, lesson, theme) {
    const { divisor, words, asker } = seen(state, answers);
    const draw = (i, [x, end], y, height, shares) => html`<rect x="${x}" y="${y + height / 2 - 4}" width="${
      Math.max(.5, slopeOf(shares[i]) / SLOPE * (end - x)).toFixed(1)}" height="8" rx="2" fill="var(--purple)"/>`;
    return rowPicture(`The scores of ${asker} divided by ${figure(divisor, 2)}, and the shares`, answers[1], words, { asker, divisor,
      steps: [1], scored: { head: `÷ ${figure(divisor, divisor % 1 ? 2 : 0)}`, divided: true }, theme, last: { head: "slope", draw } });
  },
  says(state, answers) {
    const { divisor, shares, most, words, slope } = seen(state, answers), own = html`<i>${words[most]}</i>`;
    const after = slope < 0.005 ? "There is next to nothing left to learn from."
      : shares[most] < 2 / words.slice(0, ROW + 1).length ? "All words get nearly the same: nothing is chosen." : "";
    return html`Divided by <b>${figure(divisor, divisor % 1 ? 2 : 0)}</b>, ${own} gets <b>${part(shares[most])}</b>. Of a small push
      of its score, <b>${pushed(slope)}</b> reaches its share. ${after}`;
  },
  predict: {
    question: html`Divided by 5.66, <i>il</i> gets about three quarters of its own attention. What does it get if the scores are not
      divided at all?`,
    options: ["About three quarters: all scores grow alike", "Nearly all of it", "Less: every word gets the same"],
    right(answers) {
      const before = Math.max(...sharesOf(answers[1])), after = Math.max(...sharesOf(answers[1], { divisor: 1 }));
      return Math.abs(after - before) < 0.1 ? 0 : after > before ? 1 : 2;
    },
    because(answers, { result }) {
      const [whole, bare] = [null, 0].map((step) => seen({ step }, answers)), own = html`<i>${whole.words[bare.most]}</i>`;
      return html`Nearly all: ${own} goes from <b>${part(whole.shares[bare.most])}</b> to <b>${part(bare.shares[bare.most])}</b>, and of a
        small push of its score <b>${pushed(bare.slope)}</b> arrives, not <b>${pushed(whole.slope)}</b>. Training works by such small
        pushes: where they do not arrive, nothing is learnt. We measured it with random scores, too: of the slope of short vectors,
        vectors of ${result.widths[1].toLocaleString("en-GB")} numbers keep <b>${pushed(result.left)}</b> without the division and
        <b>${part(result.kept)}</b> with it.`;
    },
    shows: { step: 0 },
  },
  short(state, answers) {
    const { divisor, shares, most, words } = seen(scaling.start, answers);
    return html`Divided by ${figure(divisor, 2)}, <i>${words[most]}</i> gets ${part(shares[most])} and others are heard, too: the head can
      still learn. The words after <i>${writtenAt(answers[0], ROW - 1)}</i> were left out of this picture. Why, is next.`;
  },
};
