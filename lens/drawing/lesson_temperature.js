// Lesson 7: the chances of one step at other temperatures.  They flatten or sharpen; their order stays.

import { curves, figure, legend, picture, roomOf, slider, sum, text, toneOf } from "./lesson_parts.js";
import { stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS, bare } from "./trace.js";
import { chance } from "./wording.js";

const TEXT = "The cat did not cross the street because it was too dirty.";
const TRANSLATION = "Le chat n'a pas traversé la rue parce qu'elle était trop sale.";
const MEASURED = [0.25, 0.5, 0.75, 1, 1.5, 2, 4];  // as in lessons/l07_temperature.py
const SHOWN = 4;  // candidates
const EACH = 4, MOST = 2;  // the slider's stops to a doubling, and its doublings in each direction
const ROW = 28, TOP = 44, CURVES = 190;  // heights

const warmthOf = (stop) => 2 ** (stop / EACH);
const written = (warmth) => String(+warmth.toFixed(2));

// The likeliest words of the step and all others together, at a temperature: { label, score, share }.  Scores are
// log-chances less that of the best.
function sharesAt(answer, warmth) {
  const trace = traceIn(answer), { record } = trace, step = stepOf(trace, "elle"), top = record.top[step];
  const logs = record.calibrated?.top[step] ?? top.map((one) => one.log_prob);
  const total = record.log_sums[step][record.temperatures.findIndex((one) => Math.abs(one - warmth) < 1e-6)];
  const wordAt = (one, i) => ({ label: bare(one.text), score: logs[i] - logs[0],
    share: Math.exp((logs[i] - logs[0]) / warmth - total) });
  const words = top.slice(0, SHOWN).map(wordAt);
  return [...words, { label: "all others", score: null, share: 1 - sum(words.map((one) => one.share)) }];
}

// Columns: the score, the score divided, the share at temperature 1, the share now.
function columns(answer, warmth) {
  const plain = sharesAt(answer, 1), now = sharesAt(answer, warmth), narrow = isNarrow(), bar = narrow ? 34 : 140;
  const [score, divided, before, after] = narrow ? [104, 148, 164, 256] : [150, 236, 290, 530];
  const right = (x, y, words) => text(x, y, words, { how: "figure", anchor: "end" });
  const shareAt = (x, y, share, tone) => html`<rect x="${x}" y="${y - 11}" width="${
    Math.max(1, share * bar).toFixed(1)}" height="12" rx="2" fill="${toneOf(tone)}"/>${
    text(x + Math.max(1, share * bar) + 6, y, chance(share), { how: "figure" })}`;
  const row = ({ label, score: own, share }, i) => {
    const y = TOP + i * ROW + 18, isWord = own !== null;
    return html`${text(0, y, label, { how: i ? "" : "bold" })}${isWord && right(score, y, figure(own))}${
      isWord && right(divided, y, figure(own / warmth))}${shareAt(before, y, plain[i].share, "edge")}${
      shareAt(after, y, share, "blue")}`;
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
    bottom: "temperature", side: "whole sentences, sampled", written: (value) => `${100 * value}%` });
}

export const temperature = {
  lead: html`The model ends each step with a score for every word it knows; the softmax turns scores into shares that
    sum to 100%. Dividing all scores by a <b>temperature</b> first makes the shares more even or more extreme. With
    <i>tired</i> the model has no doubt; so this lesson writes <i>dirty</i>: that may be the cat or the street,
    <i>il</i> or <i>elle</i>.`,
  start: { stop: 0 },
  needs: () => [["look", { text: TEXT, translation: TRANSLATION, maps: KINDS }]],
  control: ({ stop }) => slider("Temperature", "stop", { least: -MOST * EACH, most: MOST * EACH, value: stop,
    said: written(warmthOf(stop)) }),
  picture({ stop }, [answer], lesson) {
    const warmth = warmthOf(stop), height = TOP + (SHOWN + 1) * ROW + 24;
    return html`${picture("Scores and shares of the likeliest words of one step", height, columns(answer, warmth))}
      <div class="more">${
      picture("Whole sentences, sampled at several temperatures", CURVES, samples(lesson, warmth))}${
      legend([["orange", "variety: how many samples of a sentence differ"],
        ["green", "quality: chrF, how close samples are to the reference"]])}<p class="fine">Scores are those of the
      chances that the page shows, the best at 0. Samples were drawn from the model’s own shares, before
      calibration.</p></div>`;
  },
  says({ stop }, [answer]) {
    const [first, second, ...rest] = sharesAt(answer, warmthOf(stop));
    return html`At temperature <b>${written(warmthOf(stop))}</b>, <i>${first.label}</i> has <b>${
      chance(first.share)}</b> and <i>${second.label}</i> <b>${chance(second.share)}</b>; all other words together have
      ${chance(sum(rest.map((one) => one.share)))}. <i>${first.label}</i> stays first, ${
      figure(first.share / second.share)} times as likely.`;
  },
  predict: {
    question: html`At temperature 2, every score is halved before the softmax. What happens to the shares of
      <i>elle</i> and <i>il</i>?`,
    options: ["The likelier one gains", "They come closer together", "They change places"],
    right([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return other.share > one.share ? 2 : one.share / other.share < first.share / second.share ? 1 : 0;
    },
    because([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return html`At temperature 1, <i>${first.label}</i> has ${chance(first.share)} and <i>${second.label}</i> ${
        chance(second.share)}; at 2, ${chance(one.share)} and ${chance(other.share)}. Halved scores are half as far
        apart, and their order is the same.`;
    },
    shows: { stop: EACH },
  },
  short({ stop }, [answer]) {
    const [first, second] = sharesAt(answer, warmthOf(stop));
    return html`<i>${first.label}</i> with ${chance(first.share)}, or <i>${second.label}</i> with ${
      chance(second.share)}: one is chosen and written. Then the next step begins, and it needs every word so
      far again.`;
  },
};
