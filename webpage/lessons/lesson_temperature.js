// Lesson 7: the chances of one step at other temperatures.  They flatten or sharpen; their order stays.

import { curves, figure, legend, picture, slider, text, toneOf } from "./lesson_parts.js";
import { stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "../common/markup.js";
import { KINDS, bare } from "../common/trace.js";
import { chance } from "../common/wording.js";

const TEXT = "The cat did not cross the street because it was too dirty.";
const TRANSLATION = "Le chat n'a pas traversé la rue parce qu'elle était trop sale.";
const MEASURED = [0.25, 0.5, 0.75, 1, 1.5, 2, 4];  // as in lessons/l07_temperature.py
const SHOWN = 4;  // candidates
const EACH = 4, MOST = 2;  // the slider's stops to a doubling, and its doublings in each direction
const ROW = 28, TOP = 44, CURVES = 190;  // heights

const warmthOf = (stop) => 2 ** (stop / EACH);
const written = (warmth) => String(+warmth.toFixed(2));

// At a temperature: the two likeliest words of the step, all others together, and of these the next likeliest, each
// { label, score, share, said }.  Scores are the model's own, less that of the best, for a temperature divides these; the
// first three shares, as they are said, sum to 100%.
function sharesAt(answer, warmth) {
  const trace = traceIn(answer), { record } = trace, step = stepOf(trace, "elle"), top = record.top[step];
  const logs = top.map((one) => one.log_prob);
  const total = record.log_sums[step][record.temperatures.findIndex((one) => Math.abs(one - warmth) < 1e-6)];
  const wordAt = (one, i) => ({ label: bare(one.text), score: logs[i] - logs[0],
    share: Math.exp((logs[i] - logs[0]) / warmth - total) });
  const [first, second, ...next] = top.slice(0, SHOWN)
    .map(wordAt).map((one) => ({ ...one, valueText: chance(one.share) }));
  const rest = 1 - first.share - second.share, whole = (one) => Math.round(100 * one.share);
  const others = { label: "all others", score: null, share: rest,
    valueText: rest < 0.01 ? chance(rest) : `${100 - whole(first) - whole(second)}%` };
  return [first, second, others, ...next.map((one) => ({ ...one, label: `└ ${one.label}`, isPart: true }))];
}

// How the shares, from which sampling draws, differ from the chances of the other pages.
function calibratedIn(answer) {
  const trace = traceIn(answer);
  return trace.record.calibrated && html`Sampling draws by these shares. They are not calibrated: in training, a part of
    every share went to all other words. Calibrated, the chance of <i>elle</i> is ${
    chance(trace.chance(trace.unitAt("target", stepOf(trace, "elle"))))}.`;
}

// Columns: the score, the score divided, the share at temperature 1, the share now.
function columns(answer, warmth) {
  const plain = sharesAt(answer, 1), now = sharesAt(answer, warmth), narrow = isNarrow(), bar = narrow ? 34 : 140;
  const [score, divided, before, after] = narrow ? [104, 148, 164, 256] : [150, 236, 290, 530];
  const right = (x, y, words) => text(x, y, words, { how: "figure", anchor: "end" });
  const shareAt = (x, y, { share, valueText, isPart }, tone) => html`<rect x="${x}" y="${y - 11}" width="${
    Math.max(1, share * bar).toFixed(1)}" height="12" rx="2" fill="${toneOf(tone)}"/>${
    text(x + Math.max(1, share * bar) + 6, y, valueText, { how: `figure ${isPart ? "soft" : ""}` })}`;
  const row = (one, i) => {
    const { label, score: own, isPart } = one;
    const y = TOP + i * ROW + 18, isWord = own !== null;
    return html`${text(0, y, label, { how: isPart ? "soft" : i ? "" : "bold" })}${
      isWord && right(score, y, figure(own))}${isWord && right(divided, y, figure(own / warmth))}${shareAt(before, y, plain[i], "edge")}${
      shareAt(after, y, one, "blue")}`;
  };
  return html`${right(score, 18, "score")}${right(divided, 18, narrow ? "÷ T" : `÷ ${written(warmth)}`)}${
    text(before, 18, narrow ? "T = 1" : "share at T = 1", { how: "soft" })}${
    text(after, 18, narrow ? "now" : `share at T = ${written(warmth)}`, { how: "bold" })}${now.map(row)}`;
}

// What samples were like, at the temperatures that were measured; the nearest is marked.
function samples({ result }, warmth) {
  const [variety, quality] = Object.values(result.columns).map((all) => all.map((one) => one.value));
  const distances = MEASURED.map((one) => Math.abs(Math.log(one / warmth)));
  const lines = [{ values: variety, tone: "orange" }, { values: quality, tone: "green" }];
  return curves(MEASURED, lines, { height: CURVES, at: distances.indexOf(Math.min(...distances)), least: 0, most: 1,
    bottom: "temperature", written: (value) => `${100 * value}%` });
}

export const temperature = {
  lead: html`<p>The model ends each step with a score for every word it knows. The softmax turns scores into shares that
    sum to 100%. Then one word is chosen: the most likely one, or one drawn at random according to the shares.
    Before the softmax, all scores can be divided by one number, the <b>temperature</b>.</p>
    <p>With <i>tired</i>, the model has no doubt. So here the sentence is <i lang="en">${TEXT}</i> Both the cat and the
    street can be dirty, so the French can be <i>il</i> or <i>elle</i>.</p>`,
  start: { stop: 0, answered: false },
  needs: () => [["look", { text: TEXT, translation: TRANSLATION, maps: KINDS }]],
  control: ({ stop }) => slider("Temperature", "stop", { least: -MOST * EACH, most: MOST * EACH, value: stop,
    valueText: written(warmthOf(stop)) }),
  picture({ stop, answered }, [answer], lesson) {
    const warmth = warmthOf(stop), height = TOP + (SHOWN + 1) * ROW + 24;
    return html`${picture("Scores and shares of the likeliest words of one step", height, columns(answer, warmth))}
      ${answered ? html`<div class="more">
      <p class="fine">Measured on whole sentences, each sampled several times, word by word.</p>${
      picture("Whole sentences, sampled at several temperatures", CURVES, samples(lesson, warmth))}${
      legend([["orange", "variety: how many samples of a sentence differ"],
        ["green", "quality: agreement with a correct translation (chrF)"]])}</div>` : ""}
      <p class="more fine">Only differences between scores count, so the best score is shown as 0. The rows with └ are
      part of “all others”. ${calibratedIn(answer)}</p>`;
  },
  says({ stop }, [answer]) {
    const [first, second, others] = sharesAt(answer, warmthOf(stop));
    return html`At temperature <b>${written(warmthOf(stop))}</b>, <i>${first.label}</i> has a share of <b>${
      chance(first.share)}</b> and <i>${second.label}</i> has <b>${chance(second.share)}</b>. All other words together
      have ${others.valueText}. <i>${first.label}</i> stays first: it is ${
      figure(first.share / second.share)} times as likely as <i>${second.label}</i>.`;
  },
  predict: {
    question: html`At temperature 2, every score is halved before the softmax. What happens to the shares of
      <i>elle</i> and <i>il</i>?`,
    options: ["The larger share grows", "They come closer together", "Their order changes"],
    right([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return other.share > one.share ? 2 : one.share / other.share < first.share / second.share ? 1 : 0;
    },
    because([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return html`At temperature 1, <i>${first.label}</i> has ${chance(first.share)} and <i>${second.label}</i> has ${
        chance(second.share)}. At temperature 2, they have ${chance(one.share)} and ${chance(other.share)}. Halved scores
        are half as far apart, but their order is the same. Above 1, the shares get more even. Below 1, they get less
        even. Use a low temperature for the safest word. Use a higher one for variety, at the price of mistakes.`;
    },
    shows: { answered: true },
  },
  short({ stop }, [answer]) {
    const [first, second] = sharesAt(answer, warmthOf(stop));
    return html`<i>${first.label}</i> has ${chance(first.share)}, and <i>${second.label}</i> has ${
      chance(second.share)}. One word is chosen and written: the most likely one, or one drawn at random. Then the next
      step begins. It needs every word so far again.`;
  },
};
