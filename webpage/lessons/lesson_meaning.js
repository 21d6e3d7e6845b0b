// Lesson 17: what two networks make of *a piece of cake*, before, during and after fine-tuning on the idiom.

import { legend, picture, roomOf, share, slider, text, toneOf } from "./lesson_parts.js";
import { recorded } from "./lesson_recorded.js";
import { html, isNarrow } from "../common/markup.js";

const NETWORKS = { plain: "attention without parameters", learnt: "with queries, keys and values" };
const NEVER = 0.2, ALWAYS = 0.8;  // shares of idioms

// At the moment number `at`, or the last one, of each network: what it writes for the example, and shares of unseen idioms.
function moment(lesson, at) {
  const { path, said, steps, source } = recorded(lesson, "path", "said", "steps", "source");
  const i = Math.min(at, steps.length - 1);
  const of = (name) => ({ writes: said[name][i][0], idiom: path[name].idiom[i], cake: path[name].cake[i] });
  return { source, step: steps[i], plain: of("plain"), learnt: of("learnt") };
}

const when = ({ step }) => step ? `after ${step} steps` : "before";

export const meaning = {
  lead: html`<i>The exam was a piece of cake</i> is not about cake. Two small networks learn such sentences. In one network, the
    encoder’s attention has nothing to learn: it mixes words that are alike. In the other network, it has queries, keys and
    values. First, both learn general sentences, in which a piece of cake is a dessert. Then both are fine-tuned on the
    idiom.`,
  start: { at: 0 },
  needs: () => [],
  control({ at }, answers, lesson) {
    const last = recorded(lesson, "steps").steps.length - 1;
    return slider("Fine-tuning", "at", { most: last, value: Math.min(at, last), valueText: when(moment(lesson, at)) });
  },

  picture({ at }, answers, lesson) {
    const now = moment(lesson, at), high = 124;
    return html`${picture(`What both networks write, ${when(now)}`, 40 + 2 * high,
      html`${text(0, 16, now.source, { how: "slanted" })}${Object.entries(NETWORKS).map(([name, title], i) =>
        row(title, now[name], 38 + i * high))}`)}${
      legend([["green", "translated as the idiom"], ["orange", "translated as cake"], ["line", "something else"]])}`;
  },

  says({ at }, answers, lesson) {
    const { step, plain, learnt } = moment(lesson, at);
    return html`${step ? html`After <b>${step}</b> steps of fine-tuning` : "Before fine-tuning"}, the network without
      parameters in its attention translates <b>${share(plain.idiom)}</b> of unseen idioms as the idiom. With queries, keys
      and values, it is <b>${share(learnt.idiom)}</b>. As cake, they translate <b>${share(plain.cake)}</b> and
      <b>${share(learnt.cake)}</b>.`;
  },

  predict: {
    question: "After fine-tuning, how does the network without parameters in its attention translate unseen idioms?",
    options: ["Nearly always as cake", "Sometimes as cake, sometimes as the idiom", "Nearly always as the idiom"],
    right: (answers, lesson) => {
      const { plain } = moment(lesson, Infinity);
      return plain.idiom >= ALWAYS ? 2 : plain.idiom <= NEVER ? 0 : 1;
    },
    because(answers, lesson) {
      const [before, after] = [0, Infinity].map((at) => moment(lesson, at));
      return html`Before fine-tuning, it translates <b>${share(before.plain.idiom)}</b> of unseen idioms as the idiom. After
        ${after.step} steps, it translates <b>${share(after.plain.idiom)}</b>. With queries, keys and values, it is
        <b>${share(after.learnt.idiom)}</b>. So the meaning of the task comes from training on it.`;
    },
  },

  short: () => html`During fine-tuning, the sentences stay the same and only the weights change. So every change of a
    translation comes from training. What a model makes of a phrase depends on the sentences that it was trained on.`,
};

// One network: what it writes, and a bar of how it says the unseen idioms.
function row(title, { writes, idiom, cake }, y) {
  const wide = roomOf(), other = Math.max(0, 1 - idiom - cake), part = (from, size, tone) => html`<rect
    x="${(from * wide).toFixed(1)}" y="${y + 52}" width="${(size * wide).toFixed(1)}" height="18" fill="${toneOf(tone)}"/>`;
  const short = isNarrow() && writes.length > 44 ? `${writes.slice(0, 43)}…` : writes;
  return html`${text(0, y + 14, title, { how: "bold" })}${text(0, y + 38, short)}${part(0, idiom, "green")}${
    part(idiom, cake, "orange")}${part(idiom + cake, other, "line")}${text(0, y + 88,
    `${share(idiom)} idiom, ${share(cake)} cake, ${share(other)} other`, { how: "soft figure" })}`;
}
