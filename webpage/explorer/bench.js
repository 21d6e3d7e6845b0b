// The lab: one tool at a time over the full width, listed at the left; above it the sentence and the chosen word.

import { arithmetic } from "../lab/arithmetic.js";
import { erasedWords } from "../lab/erased_words.js";
import { layers } from "../lab/layers.js";
import { learnBar, written } from "../lab/replay.js";
import { eyebrow, headline, how, mapTools } from "../lab/map_heading.js";
import { alike } from "../lab/similar_words.js";
import { switchOff } from "../lab/switch_off.js";
import { translations } from "../lab/considered.js";
import { comparedWith, rivals, twoModels } from "../lab/two_models.js";
import { whatIf } from "../lab/what_if.js";
import { inLanguage } from "../common/languages.js";
import { html, paint, segment, stretches } from "../common/markup.js";
import { isOld, traceOf, waitingFor } from "../common/state.js";
import { hasHeads, isAttribution } from "../common/trace.js";
import { machine } from "../machine/machine.js";
import { drawMap, followMap, showRow } from "../maps/map.js";
import { headsCard, markHead, paintThumbs } from "../maps/heads.js";

const maps = { name: "All maps", question: "Where did every head look?",
  about: "Every head’s map, and other views of the same sentence.", hasMap: true,
  fits: (view) => !isErased(view), aside: (context) => headsCard(context.state) };
const learn = { name: "Watch it learn", question: "How did the model learn this?",
  about: "See the heads find their roles, step by step.", hasMap: true, needsEngine: true,
  fits: (view) => view === "raw", aside: (context) => headsCard(context.state),
  draw: ({ state, settings }) => html`${learnBar(state, settings) || html`<p class="soft">No training was recorded for
    this model.</p>`}${state.moment !== null && written(state)}` };
const attributions = { name: "Attributions", question: "Which words does a word depend on?",
  about: "Each source word is erased, or its share of the log-probability computed.", hasMap: true,
  fits: (view) => isErased(view), first: "left_out", aside({ state, settings }) {
    const trace = traceOf(state), unit = trace.unitAt("target", state.word);
    return erasedWords(state, trace, unit, settings) || html`<p class="soft">Without a server, no word can be erased.</p>`;
  } };
const whole = { name: "The machine", about: "How the words become the next word, block by block.", needsEngine: true };
const two = { name: "Two models", question: "Do two models do the same?",
  about: "Both translate this sentence.", needsEngine: true };

const GROUPS = [["Look", { maps, machine: whole, learn }], ["Test", { off: switchOff, what: whatIf, attributions }],
  ["Inside", { row: arithmetic, layers }], ["Words", { translations, alike }], ["Compare", { two }]];
export const TOOLS = Object.assign({}, ...GROUPS.map(([, tools]) => tools));
const isErased = (view) => view === "left_out" || isAttribution(view);

// The view that a tool begins with, where it does not have the one shown.
export const viewFor = (tool, view) => {
  const { hasMap, fits, first = "raw" } = TOOLS[tool] ?? maps;
  return hasMap && !fits(view) ? first : view;
};

export const FRAME = html`<div class="lab" hidden><section class="card slim" aria-label="The sentence"></section>
  <nav class="card rail" aria-label="Lab tools"></nav>
  <section class="card bench" aria-label="The tool"><div class="hd"></div><div class="tooled"></div>
    <div class="mapbench"><div class="mapside"><div class="eyebrow second"></div><p class="say" data-says="row"
      aria-live="polite"></p><p class="how second"></p><div class="bar" role="toolbar" aria-label="Map options"></div>
      <div class="mapbox"></div></div><aside class="heads" aria-label="Beside the map"></aside></div></section>
  <div class="machine-home"></div></div>`;

export function bench(root, context) {
  const { state, settings } = context, trace = traceOf(state), find = (name) => root.querySelector(name);
  const id = TOOLS[state.tool] ? state.tool : "maps", tool = TOOLS[id], width = find(".mapbox").clientWidth;
  root.dataset.tool = id;
  paint(find(".rail"), rail(id, settings));
  paint(find(".slim"), slim(state, trace));
  find(".machine-home").hidden = id !== "machine";
  find(".bench").hidden = find(".slim").hidden = id === "machine";
  if (id === "machine") return machine(find(".machine-home"), context);
  paint(find(".bench > .hd"), html`<h2>${tool.name}</h2><p class="second">${tool.question} ${tool.about}</p>`);
  find(".mapbench").hidden = !tool.hasMap || !trace;
  if (!trace) return paint(find(".tooled"), html`<p class="soft">${state.error ?? (state.busy
    ? waitingFor(state, settings) : "Type a sentence in See first.")}</p>`);
  paint(find(".tooled"), html`${id === "two" ? compared(context, trace) : tool.draw?.(context, trace)}`);
  if (!tool.hasMap) return;
  const isEarlier = isOld(state) && state.waited;
  paint(find(".eyebrow"), eyebrow(state));
  paint(find(".how"), how(state));
  paint(find(".bar"), mapTools(state));
  paint(find(".heads"), html`${tool.aside(context)}`);
  paintThumbs(find(".heads"), state);
  markHead(find(".heads"), state);
  drawMap(find(".mapbox"), state, width);
  find(".mapbench").classList.toggle("stale", isEarlier);
  followInLab(root, context);
  showRow(find(".mapbox"));
}

export function followInLab(root, { state }, { speak = false } = {}) {
  const trace = traceOf(state), say = root.querySelector(".say");
  if (!trace || !TOOLS[state.tool]?.hasMap) return;
  say.setAttribute("aria-live", speak ? "polite" : "off");
  paint(say, told(state));
  say.className = `say tone-${hasHeads(state.view) ? trace.tone(state.head, state.word) : "blue"}`;
  if (state.as === "map") followMap(root.querySelector(".mapbox"), state);
}

function told(state) {
  const chip = (id, label) => html`<button class="chip" data-do="${id}" data-k="${id}">${label}</button>`;
  if (state.error) return html`${state.error} ${chip("again", "Try again")}`;
  if (isOld(state) && state.waited) return html`<span class="soft">Looking at every head…</span> ${chip("cancel", "Cancel")}`;
  return headline(state);
}

const HERE = "Everything runs on this device. ", KEPT = "Only this tab keeps what you type, until you close it.";
const TESTED = "To test what a word depends on, the page switches heads off and erases words.";
const UNTESTED = "To test what a word depends on, run seq2see serve MODEL.";
const SERVERS = "This file does not recognise placeholders, HTML or the language of a text. The server (seq2see demo) does.";

function note({ answer, engine }) {
  const isLocal = answer || (engine && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname));
  return html`<p class="foot">${isLocal && HERE}${engine && KEPT} ${engine ? TESTED : UNTESTED} ${answer && SERVERS}</p>`;
}

function rail(chosen, settings) {
  const { engine, comparison } = settings;
  const entry = ([id, { name, needsEngine, hasMap }]) =>
    engine || (hasMap && !needsEngine) || (id === "two" && comparison) ? html`<a href="#lab-${id}"
    data-page="lab-${id}" data-k="tool-${id}" ${id === chosen && html`aria-current="page"`}>${name}</a>` : "";
  return html`${GROUPS.map(([title, tools]) => html`<p>${title}</p>${Object.entries(tools).map(entry)}`)}${note(settings)}`;
}
// The sentence and its translation, with the chosen word.
function slim(state, trace) {
  const back = html`<span class="push"></span><a class="tool" href="#see" data-page="see" data-k="back">Change in See</a>`;
  if (!trace) return back;
  const [from, to] = trace.languages, many = state.traces.length, isOwn = state.moment === null;
  const word = (text, { pieces, word }) => html`<span class="w ${pieces.includes(state.word) ? "sel" : ""}" role="button"
    tabindex="${pieces.includes(state.word) ? 0 : -1}" aria-pressed="${pieces.includes(state.word)}" data-side="target"
    data-piece="${pieces[0]}" data-number="${word}" data-k="lab-${pieces[0]}">${text}</span>`;
  const part = (_, i) => html`<button class="chip" data-part="${i}" data-k="part-${i}" aria-pressed="${
    i === state.part}">${i + 1}</button>`;
  const parts = many > 1 && html`<span class="second">Sentence</span>${state.traces.map(part)}`;
  return html`<span class="src" ${inLanguage(from)}>${isOwn ? trace.source : state.held.source}</span><span class="soft"
    aria-hidden="true">→</span><span class="wrote" ${inLanguage(to)} role="group" aria-label="Choose a word of the translation">${
    stretches(trace.target, trace.words("target"), word)}</span>${parts}${back}`;
}

function compared(context, trace) {
  const { state, settings } = context, others = rivals(state, settings);
  if (!others.length) return html`<p class="soft">No other model here translates between these languages.</p>`;
  const chosen = comparedWith(state, settings) ?? others[0];
  return html`${others.length > 1 && html`<div class="row2"><span class="second">Compare ${
    trace.record.model} with</span>${segment("The other model", "do", "against", others, chosen)}</div>`}<div class="beside">${
    twoModels({ ...context, state: { ...state, against: chosen } }, trace)}</div>`;
}
