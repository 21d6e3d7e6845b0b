// Lesson 3: the scores of one row, divided by more or less, and how much is left to learn from.

import { best, figure, slider } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rootOf, rowAt, rowPicture, sharesOf } from "./lesson_row.js";
import { html } from "../common/markup.js";
import { count } from "../common/wording.js";

const ROW = 12;  // where *il* asks, to write *était*
const STEPS = 12;  // of the slider: from 1 to 64, each √2 times the one before
const STEEPEST = 0.25, FLAT = 0.005;  // the largest slope of a share; one from which nothing is learnt
const EVEN = 2;  // times an equal share: less is nothing chosen

// How much of a small change of a score, once divided, reaches its share: the derivative of the softmax.
const slopeOf = (share) => share * (1 - share);
const passed = (slope) => slope >= FLAT ? part(slope) : slope < 1e-6 ? "less than 0.0001%"
  : `${(100 * slope).toFixed(4).replace(/(\.0*[1-9]).*/, "$1")}%`;
const divided = (divisor) => figure(divisor, divisor % 1 ? 2 : 0);

function seen({ step }, [look, row]) {
  const divisor = step === null ? rootOf(row) : 2 ** (step / 2), words = inputsOf(look);
  const shares = sharesOf(row, { divisor }), most = best(shares);
  return { divisor, shares, most, words, asker: words[ROW], slope: slopeOf(shares[most]) };
}

export const scaling = {
  lead: html`<p>A score is a sum of 32 products, so it can get large. Every score is first divided by √32, which is 5.66.
    Why the root? Some products are above zero and some below, so they partly cancel. A sum of 32 independent products
    spreads √32 times as much as one product. Divided by √32, scores stay about as large however long the vectors
    are. After the division come the mask and the <b>softmax</b>. The softmax turns
    scores into shares.</p>
    <p>We go on by one word. <i>il</i> has been written, and now <i>il</i> asks, so that <i>était</i> can be written.
    The head is the same.</p>`,
  start: { step: null },
  needs: () => [WORDS, rowAt(ROW)],
  control(state, answers) {
    const { divisor } = seen(state, answers), isModel = Math.abs(divisor - rootOf(answers[1])) < 1e-9;
    const value = state.step ?? Math.round(2 * Math.log2(divisor));
    const valueText = `${divided(divisor)}${isModel ? ", as in the model" : ""}`;
    return slider("Divide the scores by", "step", { most: STEPS, value, valueText });
  },
  picture(state, answers, lesson, theme, isAnswered) {
    const { divisor, words, asker } = seen(state, answers), head = `÷ ${divided(divisor)}`;
    const draw = (i, shares, { x, y, width, height }) => html`<rect x="${x}" y="${y + height / 2 - 4}" height="8" rx="2"
      width="${Math.max(0.5, slopeOf(shares[i]) / STEEPEST * width).toFixed(1)}" fill="var(--purple)"/>`;
    return html`${rowPicture(`The scores that ${asker} gives, ${head}, and the
      shares`, answers[1], words, { asker, step: 1, divisor,
      head, isDivided: true, last: isAnswered ? { head: "slope", draw } : {}, theme })}
      ${isAnswered ? html`<p class="fine">Slope: how much of a small change of a score reaches its share. The slope is
        largest where a word gets half of the attention.</p>` : ""}`;
  },
  says(state, answers) {
    const { divisor, shares, most, words, asker, slope } = seen(state, answers);
    const isEven = shares[most] < EVEN / (ROW + 1), to = most === ROW ? "itself" : html`<i>${words[most]}</i>`;
    return html`With scores divided by <b>${divided(divisor)}</b>, <i>${asker}</i> gives <b>${part(shares[most])}</b> of its
      attention to ${to}. Of a small change of this score, <b>${passed(slope)}</b> reaches the share.
      ${slope < FLAT ? "So there is almost nothing to learn from." : isEven
        ? "But all words get nearly the same share, so nothing is chosen." : ""}`;
  },
  predict: {
    question: html`With scores divided by 5.66, <i>il</i> gives three quarters of its attention to itself. How much
      does it give to itself if the scores are not divided?`,
    options: ["Still three quarters: all scores grow alike", "Nearly all", "Much less: all words get the same"],
    right(answers) {
      const [whole, bare] = [null, 0].map((step) => Math.max(...seen({ step }, answers).shares));
      return Math.abs(bare - whole) < 0.1 ? 0 : bare > whole ? 1 : 2;
    },
    because(answers, { result: { left, kept, widths } }) {
      const whole = seen(scaling.start, answers), bare = seen({ step: 0 }, answers), own = bare.most;
      const [few, many] = widths.map((one) => count(one));
      return html`The share of <i>${bare.words[own]}</i> goes from <b>${part(whole.shares[own])}</b> to
        <b>${part(bare.shares[own])}</b>: one word takes nearly all. The softmax enlarges differences: a score that is 5
        higher gets 150 times the share. Training changes each weight a little towards a better answer, and with it each
        score. The <b>slope</b> is the part of such a small change that reaches the share. Undivided, the slope is
        <b>${passed(bare.slope)}</b>. Divided, it is <b>${passed(whole.slope)}</b>. Where the slope is almost zero, the
        model cannot learn. We also compared random vectors of ${few} and of ${many} numbers. From ${few} to ${many},
        undivided scores keep <b>${passed(left)}</b> of their slope, and divided scores keep
        <b>${passed(Math.min(1, kept))}</b>.`;
    },
  },
  short(state, answers) {
    const whole = seen(scaling.start, answers), bare = seen({ step: 0 }, answers), own = whole.most;
    return html`Undivided, <i>${whole.words[own]}</i> would get ${part(bare.shares[own])}. Small changes of the scores
      would no longer reach the shares. Divided by ${divided(whole.divisor)}, it gets ${part(whole.shares[own])}, and
      the head can still learn. The mask comes between the division and the softmax.`;
  },
};
