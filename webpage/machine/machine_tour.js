// “Follow il”: eight stops on the way of a word through the machine, each with one sentence and what it is about, as
// selectors of what `machine_stage.js` and `machine_on_phone.js` draw.

import { language } from "../common/languages.js";
import { plain, signed, sumOf } from "./machine_figures.js";
import { blockName, goalOf, readWord, runnerUp, sourceWord, writtenWord } from "./machine_names.js";
import { mostOf, sums } from "./machine_sums.js";
import { html } from "../common/markup.js";
import { chance } from "../common/wording.js";

const area = (name) => `[data-area~="${name}"]`, gates = (kind) => `[data-k^="gate-${kind}-"]`;
const greatest = (values) => values.indexOf(Math.max(...values));
const NAMED = 0.15;  // points from which a word is named

export function stops(data, trace, state) {
  const f = sums(data, state.machine.mode), goal = goalOf({ data, trace, state }), { step, lengths } = data;
  const from = language(trace.languages[0], "source");
  const most = greatest(f.source), word = sourceWord(trace, most);
  const long = (at) => plain(lengths.encoder.at(at)[most]), adds = (value) => html`<b>${signed(value)}</b>`;
  const of = (kind) => f.blocks.filter((one) => one.kind === kind);
  const all = (kind) => sumOf(of(kind).map((one) => one.figure));
  const named = (values, name) => {
    const { most: [part], isMost, against } = mostOf(values.map((value, i) => ({ value, i })), { most: 1, least: NAMED });
    const counts = against && html` Against it counts above all ${name(trace, against.i)}: ${adds(against.value)}.`;
    return part && html` ${isMost ? "Most of what they add" : "The largest part"} comes from ${name(trace, part.i)}: ${
      adds(part.value)}.${counts}`;
  };
  const block = of("feed_forward").reduce((best, one) => one.figure > best.figure ? one : best);
  const isLast = step === trace.record.target.length - 1;
  const stop = (title, sentence, ...show) => ({ title, show, text: html`<p data-says="machine-tour">${sentence}</p>` });
  return [
    stop("Words become numbers", html`Every ${from} token becomes a vector, drawn here as 8 numbers. Its position
      is added. The vector of ${word} has length ${long(0)}.`, area("words")),
    stop(blockName("encoder", trace), html`In each layer, the words pass information to each other. Then a
      feed-forward block works on each vector alone. After the last layer, the vector of ${word} has length ${
      long(-1)}.`, area("encoder")),
    stop("Ready for the translation", html`The model reads the ${from} text once. Every word of the translation can look
      at all of it. What is taken from ${word} adds ${adds(f.source[most])} to ${goal}.`, area("memory")),
    stop("The last word so far", html`${readWord(trace, step)} is the last word so far. The model writes the next word
      from its vector, drawn as coloured bands. The word itself adds ${adds(f.own.figure)} to ${goal}.`,
      area("written")),
    stop(blockName("decoder", trace), html`These blocks add ${adds(all("decoder"))} to ${goal}.${
      named(f.inputs, readWord)}`, gates("decoder")),
    stop(blockName("cross", trace), html`These blocks add ${adds(all("cross"))} to ${goal}.${
      named(f.source, sourceWord)}`, gates("cross"), area("memory")),
    stop("Feed-forward", html`These blocks work on the vector alone. Their neurons raise the scores of some words
      and lower others. They add ${adds(all("feed_forward"))} to ${goal}. Layer ${block.layer + 1} alone adds ${
      adds(block.figure)}.`,
      gates("feed_forward")),
    stop("Choose the word", html`Scores become chances: ${chances(data, trace)}. ${isLast
      ? "Then the translation is done." : "Then the model starts again for the next word."}`, area("choose")),
  ];
}

function chances({ top, id, runner, step }, trace) {
  const own = top.find((one) => one.id === id), other = top.find((one) => one.id === runner.id);
  const withChance = (name, one) => one && html`${name} gets <b>${chance(one.chance)}</b>`;
  return html`${withChance(writtenWord(trace, step), own)}${own && other && ", "}${
    withChance(runnerUp({ runner }, trace), other)}`;
}
