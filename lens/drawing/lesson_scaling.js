// Lesson 3: the scores of one row, divided by more or less, and how much is left to learn from.

import { best, figure, slider } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rootOf, rowAt, rowPicture, sharesOf } from "./lesson_row.js";
import { html } from "./markup.js";
import { count } from "./wording.js";

const ROW = 12;  // where *il* asks, to write *était*
const STEPS = 12;  // of the slider: from 1 to 64, each √2 times the one before
const STEEPEST = 0.25, FLAT = 0.005;  // the largest slope of a share; one from which nothing is learnt
const EVEN = 2;  // times an equal share: less is nothing chosen

// How much of a small push of a score, once divided, reaches its share: the derivative of the softmax.
const slopeOf = (share) => share * (1 - share);
const pushed = (slope) => slope >= FLAT ? part(slope) : slope < 1e-6 ? "less than 0.0001%"
  : `${(100 * slope).toFixed(4).replace(/(\.0*[1-9]).*/, "$1")}%`;
const divided = (divisor) => figure(divisor, divisor % 1 ? 2 : 0);

function seen({ step }, [look, row]) {
  const divisor = step === null ? rootOf(row) : 2 ** (step / 2), words = inputsOf(look);
  const shares = sharesOf(row, { divisor }), most = best(shares);
  return { divisor, shares, most, words, asker: words[ROW], slope: slopeOf(shares[most]) };
}

export const scaling = {
  lead: html`<p>A score is a sum of 32 products, so it easily gets large. The softmax turns scores into shares, and it
    exaggerates: a score that is 5 higher gets 150 times the share. So every score is first divided by √32, which is
    5.66. Only then come the mask and the softmax.</p><p>We go on by one word: <i>il</i> is written, and now <i>il</i>
    asks, to write <i>était</i>. It is the same head.</p>`,
  start: { step: null },
  needs: () => [WORDS, rowAt(ROW)],
  control(state, answers) {
    const { divisor } = seen(state, answers), isModel = Math.abs(divisor - rootOf(answers[1])) < 1e-9;
    const value = state.step ?? Math.round(2 * Math.log2(divisor));
    const said = `${divided(divisor)}${isModel ? ", as the model" : ""}`;
    return slider("Divide the scores by", "step", { most: STEPS, value, said });
  },
  picture(state, answers, lesson, theme) {
    const { divisor, words, asker } = seen(state, answers), head = `÷ ${divided(divisor)}`;
    const draw = (i, shares, { x, y, width, height }) => html`<rect x="${x}" y="${y + height / 2 - 4}" height="8" rx="2"
      width="${Math.max(0.5, slopeOf(shares[i]) / STEEPEST * width).toFixed(1)}" fill="var(--purple)"/>`;
    return html`${rowPicture(`The scores that ${asker} gives, ${head}, and the
      shares`, answers[1], words, { asker, step: 1, divisor,
      head, isDivided: true, last: { head: "slope", draw }, theme })}
      <p class="fine">Slope: how much of a small push of a score reaches its share. It is largest where a word gets
        half.</p>`;
  },
  says(state, answers) {
    const { divisor, shares, most, words, slope } = seen(state, answers), isEven = shares[most] < EVEN / (ROW + 1);
    return html`Divided by <b>${divided(divisor)}</b>, <i>${words[most]}</i> gets <b>${part(shares[most])}</b>. Of a
      small push of its score, <b>${pushed(slope)}</b> reaches its share.
      ${slope < FLAT ? "There is next to nothing to learn from." : isEven
        ? "But all words get nearly the same: nothing is chosen." : ""}`;
  },
  predict: {
    question: html`Divided by 5.66, <i>il</i> gets three quarters of its own attention. And if the scores are not
      divided at all?`,
    options: ["Still three quarters: all scores grow alike", "Nearly all", "Much less: all words get the same"],
    right(answers) {
      const [whole, bare] = [null, 0].map((step) => Math.max(...seen({ step }, answers).shares));
      return Math.abs(bare - whole) < 0.1 ? 0 : bare > whole ? 1 : 2;
    },
    because(answers, { result: { left, kept, widths } }) {
      const whole = seen(scaling.start, answers), bare = seen({ step: 0 }, answers), own = bare.most;
      return html`<i>${bare.words[own]}</i> goes from <b>${part(whole.shares[own])}</b> to
        <b>${part(bare.shares[own])}</b>: one word takes it all. Of a small push of its score
        <b>${pushed(bare.slope)}</b> then reaches its share, not <b>${pushed(whole.slope)}</b>. Training works by such
        small pushes; where they do not arrive, nothing is learnt. We measured it with random vectors, too. With
        ${count(widths[1])} numbers in place of ${count(widths[0])}, undivided scores keep <b>${pushed(left)}</b> of their slope, and divided ones
        <b>${pushed(Math.min(1, kept))}</b>.`;
    },
    shows: { step: 0 },
  },
  short(state, answers) {
    const whole = seen(scaling.start, answers), bare = seen({ step: 0 }, answers), own = whole.most;
    return html`Undivided, <i>${whole.words[own]}</i> would get ${part(bare.shares[own])} and pushes would no longer
      arrive; divided by ${divided(whole.divisor)}, it gets ${part(whole.shares[own])} and the head can still learn.
      Between dividing and the softmax comes the mask.`;
  },
};
