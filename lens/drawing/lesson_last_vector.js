// Lesson 11: what the last vector would have been read as, before the first layer and after each.

import { CAT, picture, roomOf, slider, text } from "./lesson_parts.js";
import { stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS, bare } from "./trace.js";
import { chance } from "./wording.js";

const TOP = 34, WORD = "il";
const lineHeight = () => isNarrow() ? 20 : 25;

// The steps after the given ones: the token read, and for each layer the likeliest token and its chance.
function stepsOf([answer, { top }]) {
  const trace = traceIn(answer), { target, inputs, given } = trace.record, named = nameIn(trace);
  return target.map(({ text: written }, t) => ({ t, written: named(written), read: named(inputs[t].text),
    says: top.map((layer) => ({ word: named(layer[t][0][0]), p: Math.exp(layer[t][0][1]) })) })).slice(given);
}
// A token as the page names it: its tag and its end in words.
const nameIn = (trace) => (token) => bare(trace.label({ text: bare(token), special: /^<.*>$/.test(token) }, "target", 0));
const lastOf = ([, { top }]) => top.length;
const layerOf = ({ layer }, answers) => layer ?? lastOf(answers);
const count = (steps, layer, wanted) => steps.filter((one) => one.says[layer - 1].word === one[wanted]).length;
const nameOf = (layer, last) => layer === 0 ? "before any layer" : `after layer ${layer}${layer === last ? ", the last" : ""}`;

export const lastVector = {
  lead: html`The next word is read off one vector, the newest. It starts as the word just read, and every layer adds to it
    until it stands for the word to come. Here the model’s last step, which turns a vector into chances, is applied early:
    what would each layer have said?`,
  start: { layer: null },
  needs: () => [["look", { maps: KINDS }], ["inside", { tool: "layers" }]],
  control: (state, answers) => slider("Layers that have added", "layer", { most: lastOf(answers), value: layerOf(state, answers),
    said: nameOf(layerOf(state, answers), lastOf(answers)) }),
  picture(state, answers) {
    const steps = stepsOf(answers), layer = layerOf(state, answers), last = lastOf(answers), narrow = isNarrow();
    const left = narrow ? 4 : 20, wide = (roomOf() - left) / (last + 1), x = (stage) => left + stage * wide;
    const cell = (one, stage, y) => {
      const { word, p } = stage ? one.says[stage - 1] : { word: one.read };
      const isNext = stage > 0 && word === one.written, isRead = word === one.read;
      return html`${isNext && html`<rect x="${x(stage) - 8}" y="${y - 17}" width="${wide - 6}" height="${lineHeight() - 3}" rx="5"
        fill="var(--green)" fill-opacity=".18"/>`}${text(x(stage), y, word, { how: isNext ? "bold" : isRead ? "soft" : "slanted" })}${
        stage > 0 && text(x(stage) + wide - (narrow ? 14 : 20), y, chance(p), { how: "soft figure", anchor: "end" })}`;
    };
    const stages = Array.from({ length: layer + 1 }, (_, stage) => stage);
    const title = (stage) => stage === 0 ? narrow ? "read" : "just read" : narrow ? `layer ${stage}` : `after layer ${stage}`;
    return html`${picture("What the last vector would be read as, step by step", TOP + steps.length * lineHeight() + 6, html`${
      stages.map((stage) => text(x(stage), 20, title(stage), { how: "bold" }))}${
      steps.map((one, i) => stages.map((stage) => cell(one, stage, TOP + i * lineHeight() + 17)))}`)}
      <p class="fine">A row is a step. Green: the word that is written next. Pale: still the word just read. Only the
      last layer was trained to be read like this; chances are the model’s own.</p>`;
  },
  says(state, answers, lesson) {
    const steps = stepsOf(answers), layer = layerOf(state, answers), trace = traceIn(answers[0]);
    if (layer === 0) return html`Before any layer the vector is that of the word just read: read off on unseen sentences, it
      says that very word at <b>${chance(lesson.result.begin.value)}</b> of the steps.`;
    const one = steps.find(({ t }) => t === stepOf(trace, WORD)), { word, p } = one.says[layer - 1];
    return html`After layer ${layer}, the vector says the next word at <b>${count(steps, layer, "written")}</b> of ${
      steps.length} steps, and still the word just read at <b>${count(steps, layer, "read")}</b>. Where <i>${WORD}</i> is written
      it says <i>${word}</i> (<b>${chance(p)}</b>).`;
  },
  predict: {
    question: html`After layer 1, we read the newest vector as if the model ended there. The word just read is <i>qu'</i>,
      the next one <i>il</i>. What does it say?`,
    options: ["il", "qu'", "another word"],
    right(answers) {
      const { says: [{ word }], written, read } = ilStep(answers);
      return word === written ? 0 : word === read ? 1 : 2;
    },
    because(answers) {
      const steps = stepsOf(answers), { says: [{ word, p }] } = ilStep(answers);
      return html`It says <i>${word}</i>, with ${chance(p)}. Over the sentence, layer 1 still says the word just read at <b>${
        count(steps, 1, "read")}</b> of ${steps.length} steps and the next word at <b>${count(steps, 1, "written")}</b>; the last
        layer says the next word at ${count(steps, lastOf(answers), "written")}.`;
    },
    shows: { layer: 1 },
  },
};
const ilStep = (answers) => stepsOf(answers).find(({ t }) => t === stepOf(traceIn(answers[0]), WORD));
