// Lesson 11: what the last vector would have been read as, before the first layer and after each.

import { picture, roomOf, slider, text, toneOf } from "./lesson_parts.js";
import { stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "../common/markup.js";
import { KINDS, bare } from "../common/trace.js";
import { chance } from "../common/wording.js";

const TOP = 34, WORD = "il";
const lineHeight = () => isNarrow() ? 20 : 25;

// A token as the page names it: its tag and its end in words.
const nameIn = (trace) => (token) =>
  bare(trace.label({ text: bare(token), special: /^<.*>$/.test(token) }, "target", 0));

// The steps that choose a token: the one just read, the one written, after each layer the likeliest and its chance.
function stepsOf([answer, { top }]) {
  const trace = traceIn(answer), { target, inputs, given } = trace.record, named = nameIn(trace);
  const says = (t) => top.map((layer) => ({ word: named(layer[t][0][0]), p: Math.exp(layer[t][0][1]) }));
  const step = (one, t) => ({ t, written: named(one.text), read: named(inputs[t].text), says: says(t) });
  return target.map(step).slice(given);
}
const stepAt = (answers) => stepsOf(answers).find(({ t }) => t === stepOf(traceIn(answers[0]), WORD));
const lastOf = ([, { top }]) => top.length;
const layerOf = ({ layer }, answers) => layer ?? lastOf(answers);
// At how many steps a layer says the token "written" or just "read".
const count = (steps, layer, wanted) => steps.filter((one) => one.says[layer - 1].word === one[wanted]).length;
const nameOf = (layer, last) => layer === 0 ? "before layer 1" : `after layer ${layer}${layer === last ? ", the last" : ""}`;

export const lastVector = {
  lead: html`The next word is read from one vector, the newest. It starts as the vector of the word just read. Every
    layer adds to it, until it stands for the next word. The model’s last step turns a vector into chances. Here we apply
    this step early: what would each layer have predicted?`,
  start: { layer: null },
  needs: () => [["look", { maps: KINDS }], ["inside", { tool: "layers" }]],
  control(state, answers) {
    const layer = layerOf(state, answers), most = lastOf(answers);
    return slider("Read the vector", "layer", { most, value: layer, valueText: nameOf(layer, most) });
  },
  picture(state, answers, lesson, theme, isAnswered) {
    const steps = stepsOf(answers), narrow = isNarrow(), left = narrow ? 4 : 20, height = lineHeight();
    const wide = (roomOf() - left) / (lastOf(answers) + 1), x = (stage) => left + stage * wide;
    const stages = Array.from({ length: layerOf(state, answers) + 1 }, (_, stage) => stage)
      .filter((stage) => isAnswered || stage === 0 || stage === lastOf(answers));
    const title = (stage) => stage === 0 ? "just read" : narrow ? `layer ${stage}` : `after layer ${stage}`;
    const cell = (one, stage, y) => {
      if (stage === 0) return text(x(0), y, one.read, { how: "soft" });
      const { word, p } = one.says[stage - 1], isNext = word === one.written;
      const mark = html`<rect x="${x(stage) - 8}" y="${y - height * .7}" width="${wide - 6}" height="${height - 2}"
        rx="5" fill="${toneOf("green")}" fill-opacity=".18"/>`;
      const how = isNext ? "bold" : word === one.read ? "soft" : "slanted";
      const right = x(stage) + wide - (narrow ? 16 : 20);
      return html`${isNext && mark}${text(x(stage), y, word, { how })}${
        text(right, y, chance(p), { how: "soft figure", anchor: "end" })}`;
    };
    return html`${picture("What the last vector would be read as", TOP + steps.length * height + 6, html`${
      stages.map((stage) => text(x(stage), 20, title(stage), { how: "bold" }))}${
      steps.map((one, i) => stages.map((stage) => cell(one, stage, TOP + (i + .7) * height)))}`)}
      <p class="more fine">Each row is a step. Green field: the word that is written next. Grey word: the word just read.
      Only the last layer was trained to be read like this, and the calibration of the chances was measured for it
      alone.</p>`;
  },
  says(state, answers, { result }) {
    const steps = stepsOf(answers), layer = layerOf(state, answers);
    if (layer === 0) return html`Before the first layer, the vector is that of the word just read. On unseen sentences, it
      gives this word at <b>${chance(result.begin.value)}</b> of the steps.`;
    const { word, p } = stepAt(answers).says[layer - 1];
    return html`After layer ${layer}, the vector gives the next word at <b>${count(steps, layer, "written")}</b> of ${
      steps.length} steps. It still gives the word just read at <b>${count(steps, layer, "read")}</b>. Where
      <i>${WORD}</i> is written, it gives <i>${word}</i> (<b>${chance(p)}</b>).`;
  },
  predict: {
    question: html`After layer 1, we read the newest vector as if the model ended there. The word just read is
      <i>qu'</i>, and the next word is <i>il</i>. Which word does the vector give?`,
    options: ["il", "qu'", "another word"],
    right(answers) {
      const { says: [{ word }], written, read } = stepAt(answers);
      return word === written ? 0 : word === read ? 1 : 2;
    },
    because(answers) {
      const steps = stepsOf(answers), { says: [{ word, p }] } = stepAt(answers);
      return html`It gives <i>${word}</i>, with ${chance(p)}. Over the whole sentence, layer 1 still gives the word just
        read at <b>${count(steps, 1, "read")}</b> of ${steps.length} steps. It gives the next word at <b>${
        count(steps, 1, "written")}</b>, and the last layer gives the next word at ${
        count(steps, lastOf(answers), "written")}.`;
    },
  },
  short(state, answers) {
    const steps = stepsOf(answers), last = lastOf(answers);
    return html`The next word is computed from this one vector. It begins as the word just read. After layer 1, it gives
      the next word at ${count(steps, 1, "written")} of ${steps.length} steps, and after layer ${last}, at ${
      count(steps, last, "written")}.`;
  },
};
