// Lesson 18: three trainings, on few, some and all sentences, step by step: the loss on what is trained on, and on unseen
// sentences.

import { figure, legend, roomOf, slider, text, toneOf } from "./lesson_parts.js";
import { recorded } from "./lesson_recorded.js";
import { html, isNarrow, listed } from "../common/markup.js";

const TRAININGS = ["few", "some", "all"];
const mean = (rows) => rows[0].map((_, i) => rows.reduce((total, row) => total + row[i], 0) / rows.length);  // over seeds
const lowest = (values) => values.indexOf(Math.min(...values));

// By training the losses at each mark, in nats: { count, seen, unseen }; and the steps of the marks.
function losses(lesson) {
  const { curves, pairs, steps } = recorded(lesson, "curves", "pairs", "steps");
  return { steps, by: TRAININGS.map((name) => ({ count: pairs[name].toLocaleString("en"), seen: mean(curves.seen[name]),
    unseen: mean(curves.unseen[name]) })) };
}

const placeOf = ({ at }, steps) => Math.min(at, steps.length - 1);

export const overfitting = {
  lead: html`A model can memorise a few sentences. It then no longer learns the language, only these sentences. To notice
    this, compare two losses: on the sentences that it is trained on, and on unseen sentences.`,
  start: { at: 0 },
  needs: () => [],
  control(state, answers, lesson) {
    const { steps } = losses(lesson), at = placeOf(state, steps);
    return slider("Steps of training", "at", { most: steps.length - 1, value: at,
      valueText: `${steps[at]} of ${steps.at(-1)}` });
  },

  picture(state, answers, lesson, theme, isAnswered) {
    const { steps, by } = losses(lesson), at = placeOf(state, steps), top = Math.max(...by.flatMap((one) => [...one.seen, ...one.unseen]));
    const panel = (one) => chart(steps, one, at, top, isAnswered);
    return html`<div class="panels">${by.map(panel)}</div>${legend([["blue", "loss on the training sentences"],
      ["orange", "loss on unseen sentences, in nats per token"]])}`;
  },

  says(state, answers, lesson) {
    const { steps, by: [few] } = losses(lesson), at = placeOf(state, steps), stop = lowest(few.unseen.slice(0, at + 1));
    const now = html`After <b>${steps[at]}</b> steps on ${few.count} sentences, the loss is <b>${figure(few.seen[at], 3)}</b>
      on them and <b>${figure(few.unseen[at], 2)}</b> on unseen sentences.`;
    return stop === at ? html`${now} On unseen sentences, this is the lowest so far: go on.`
      : html`${now} On unseen sentences, it was lowest after ${steps[stop]} steps (${figure(few.unseen[stop], 2)}): stop there.`;
  },

  predict: {
    question: "A model trains on 60 sentences, again and again. The loss on them keeps falling. What happens to the loss on unseen ones?",
    options: ["It keeps falling too", "It falls, then rises", "It rises from the start"],
    right: (answers, lesson) => {
      const { unseen } = losses(lesson).by[0], stop = lowest(unseen);
      return stop === unseen.length - 1 ? 0 : stop ? 1 : 2;
    },
    because(answers, lesson) {
      const { steps, by: [few] } = losses(lesson), stop = lowest(few.unseen);
      return html`On unseen sentences, the loss is <b>${figure(few.unseen[0], 2)}</b> after ${steps[0]} steps. It is lowest after
        ${steps[stop]} steps (<b>${figure(few.unseen[stop], 2)}</b>). After ${steps.at(-1)} steps, it is
        <b>${figure(few.unseen.at(-1), 2)}</b>. On the ${few.count} training sentences, it falls from
        ${figure(few.seen[0], 2)} to <b>${figure(few.seen.at(-1), 3)}</b>.`;
    },
  },

  short(state, answers, lesson) {
    const { steps, by } = losses(lesson);
    return html`The loss on unseen sentences is lowest ${listed(by, ({ count, unseen }) =>
      html`after ${steps[lowest(unseen)]} steps with ${count} sentences`)}. If it rises after that, stop at
      its lowest point, or train on more sentences. The loss on the training sentences does not show this.`;
  },
};

// One training: both losses up to the mark `at`, what comes after pale, once the question is answered.
function chart(steps, { count, seen, unseen }, at, top, isAnswered) {
  const wide = isNarrow() ? 340 : roomOf() / 3 - 10, high = isNarrow() ? 96 : 250, left = 34, foot = 34;
  const x = (i) => left + steps[i] / steps.at(-1) * (wide - left - 12), y = (value) => 26 + (1 - value / top) * (high - 26 - foot);
  const path = (values, from, to) => values.slice(from, to).map((value, i) =>
    `${i ? "L" : "M"}${x(from + i).toFixed(1)},${y(value).toFixed(1)}`).join("");
  const ticks = Array.from({ length: Math.floor(top) + 1 }, (_, nats) => nats);
  const line = (values, tone) => html`${isAnswered && html`<path class="curve" d="${path(values, at)}" stroke="${
    toneOf(tone)}" opacity=".18"/>`}
    <path class="curve" d="${path(values, 0, at + 1)}" stroke="${toneOf(tone)}"/>
    <circle cx="${x(at)}" cy="${y(values[at])}" r="4.5" fill="${toneOf(tone)}"/>`;
  return html`<svg class="drawn" viewBox="0 0 ${wide} ${high}" role="img" aria-label="Losses on ${count} sentences">
    ${text(left, 14, `${count} sentences`, { how: "bold" })}<path class="axis" d="M${left},22V${high - foot}H${wide - 8}"/>
    ${ticks.map((one) => text(left - 6, y(one) + 5, one, { how: "soft", anchor: "end" }))}
    ${text(wide - 8, high - 16, `${steps.at(-1)} steps`, { how: "soft", anchor: "end" })}
    ${line(seen, "blue")}${line(unseen, "orange")}</svg>`;
}
