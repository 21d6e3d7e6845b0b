// Lesson 7: the chances of one step at other temperatures.  They flatten or sharpen; their order stays.

import { curves, legend, picture, roomOf, slider, text } from "./lesson_parts.js";
import { stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS, bare } from "./trace.js";
import { chance } from "./wording.js";

const TEXT = "The cat did not cross the street because it was too dirty.";
const TRANSLATION = "Le chat n'a pas traversé la rue parce qu'elle était trop sale.";
const SHOWN = 4, EACH = 4, MOST = 2;  // candidates; stops to each doubling of the temperature; doublings
const ROW = 28, TOP = 44, BELOW = 190;
const warmthOf = (stop) => 2 ** (stop / EACH);
const digits = (warmth) => String(+warmth.toFixed(2));

// The likeliest words of the step and all others together, at a temperature: { label, score, share }.  Scores are
// log-chances less that of the best.
function sharesAt(answer, warmth) {
  const { record } = traceIn(answer), step = stepOf(traceIn(answer), "elle");
  const logs = record.calibrated?.top[step] ?? record.top[step].map((one) => one.log_prob);
  const at = record.temperatures.findIndex((one) => Math.abs(one - warmth) < 1e-6);
  const words = record.top[step].map(({ text: label }, i) => ({ label: bare(label), score: logs[i] - logs[0],
    share: Math.exp((logs[i] - logs[0]) / warmth - record.log_sums[step][at]) })).slice(0, SHOWN);
  return [...words, { label: "all others", score: null, share: words.reduce((rest, one) => rest - one.share, 1) }];
}

const number = (value) => value === null ? "" : value.toFixed(1).replace("-", "−").replace("−0.0", "0.0");

// Columns: the score, the score divided, the share at temperature 1, the share now.
function columns(answer, warmth) {
  const plain = sharesAt(answer, 1), now = sharesAt(answer, warmth), narrow = isNarrow();
  const [score, divided, before, after] = narrow ? [104, 148, 164, 256] : [150, 236, 290, 530];
  const bar = narrow ? 34 : 140, end = (x, y, words, how = "") => text(x, y, words, { how: `figure ${how}`, anchor: "end" });
  const one = (x, y, value, tone) => html`<rect x="${x}" y="${y - 11}" width="${Math.max(1, value * bar).toFixed(1)}"
    height="12" rx="2" fill="var(--${tone})"/>${text(x + Math.max(1, value * bar) + 6, y, chance(value), { how: "figure" })}`;
  const row = ({ label, score: own, share }, i) => {
    const y = TOP + i * ROW + 18, how = i ? "" : "bold";
    return html`${text(0, y, label, { how })}${end(score, y, number(own))}${
      end(divided, y, number(own === null ? null : own / warmth))}${one(before, y, plain[i].share, "edge")}${
      one(after, y, share, "blue")}`;
  };
  return html`${end(score, 18, "score")}${end(divided, 18, narrow ? "÷ T" : `÷ ${digits(warmth)}`)}${
    text(before, 18, narrow ? "T = 1" : "share at T = 1", { how: "soft" })}${
    text(after, 18, narrow ? "now" : `share at T = ${digits(warmth)}`, { how: "bold" })}${now.map(row)}`;
}

// What samples were like at each temperature that was measured.
function measured({ result }, warmth, y) {
  const warmths = [0.25, 0.5, 0.75, 1, 1.5, 2, 4], [variety, quality] = Object.values(result.columns);
  const values = (all) => all.map((one) => one.value), near = (one) => Math.abs(Math.log(one / warmth));
  const at = warmths.reduce((best, one, i) => near(one) < near(warmths[best]) ? i : best, 0);
  return curves(warmths, [{ label: "variety", values: values(variety), tone: "orange" },
    { label: "quality", values: values(quality), tone: "green" }], { y, height: BELOW, at, bottom: "temperature",
    side: "whole sentences, sampled", least: 0, most: 1, written: (value) => chance(value).replace(/^.*under.*$/, "0%")
      .replace("over 99%", "100%") });
}

export const temperature = {
  lead: html`The model ends each step with a score for every word it knows; the softmax turns scores into shares that sum
    to 100%. Dividing all scores by a <b>temperature</b> first makes the shares more even or more extreme. With
    <i>tired</i> the model has no doubt, so this lesson writes <i>dirty</i>: that may be the cat or the
    street, <i>il</i> or <i>elle</i>.`,
  start: { stop: 0 },
  needs: () => [["look", { text: TEXT, translation: TRANSLATION, maps: KINDS }]],
  control: ({ stop }) => slider("Temperature", "stop", { least: -MOST * EACH, most: MOST * EACH, value: stop,
    said: digits(warmthOf(stop)) }),
  picture({ stop }, [answer], lesson) {
    const warmth = warmthOf(stop), height = TOP + (SHOWN + 1) * ROW + 24;
    return html`${picture("Scores and shares of the likeliest words of one step", height + BELOW, html`${
      columns(answer, warmth)}<path class="axis" d="M0,${height - 6}H${roomOf()}"/>${
      measured(lesson, warmth, height + 8)}`)}${legend([["orange", "variety: samples of a sentence that differ"],
      ["green", "quality: chrF, how close samples are to the reference"]])}<p class="fine">Scores are those of the chances
      that the page shows, the best at 0. The samples below were drawn from the model’s own, uncalibrated shares.</p>`;
  },
  says({ stop }, [answer]) {
    const [first, second, ...rest] = sharesAt(answer, warmthOf(stop)), others = rest.reduce((all, one) => all + one.share, 0);
    const times = first.share / second.share;
    return html`At temperature <b>${digits(warmthOf(stop))}</b>, <i>${first.label}</i> has <b>${chance(first.share)}</b> and
      <i>${second.label}</i> <b>${chance(second.share)}</b>; all other words together have ${chance(others)}. <i>${
      first.label}</i> stays first, ${times.toFixed(1)} times as likely.`;
  },
  predict: {
    question: html`At temperature 2, every score is halved before the softmax. What happens to the shares of <i>elle</i>
      and <i>il</i>?`,
    options: ["The likelier one gains", "They come closer together", "They change places"],
    right([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return other.share > one.share ? 2 : one.share / other.share < first.share / second.share ? 1 : 0;
    },
    because([answer]) {
      const [first, second] = sharesAt(answer, 1), [one, other] = sharesAt(answer, 2);
      return html`At temperature 1, <i>${first.label}</i> has ${chance(first.share)} and <i>${second.label}</i> ${
        chance(second.share)}; at 2, ${chance(one.share)} and ${chance(other.share)}. Half the scores are half as far
        apart, and the order is the same.`;
    },
    shows: { stop: EACH },
  },
  short({ stop }, [answer]) {
    const [first, second] = sharesAt(answer, warmthOf(stop));
    return html`<i>${first.label}</i> with ${chance(first.share)}, or <i>${second.label}</i> with ${
      chance(second.share)}: one is chosen and written down. Then the next step begins, and it needs every word so far again.`;
  },
};
