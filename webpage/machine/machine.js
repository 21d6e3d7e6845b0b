// The whole machine: how the words of a sentence become the next word of its translation.  Asks for the numbers, holds
// what is chosen, and draws strip and stage; on a phone the same as cards.

import { inside } from "../common/tool_parts.js";
import { inLanguage, language } from "../common/languages.js";
import { wideStage } from "./machine_drawn.js";
import { listenToMachine } from "./machine_keys.js";
import { writtenWord } from "./machine_names.js";
import { carriedPanel } from "./machine_panels.js";
import { drawOpen, drawStop } from "./machine_overlay.js";
import { isUsed } from "./machine_river.js";
import { sums } from "./machine_sums.js";
import { phoneSections } from "./machine_on_phone.js";
import { html, paint, stretches } from "../common/markup.js";
import { traceOf, waitingFor } from "../common/state.js";

const WIDE = 1000;              // pixels of the window from which all of it is one screen
const LEAST = 600, MOST = 840;  // pixels of the stage's height
const FURTHER = 740;            // the same where it stands further down a page, and is no one screen anyway
const UNDER = 12;               // pixels left under it

const FRAME = html`<div class="machine"><section class="card m-strip" aria-label="The sentence"></section>
  <div class="m-whole"><div class="m-stage"></div><div class="m-way" hidden></div><div class="m-over" hidden></div>
  </div><p class="m-tip" role="status" hidden></p></div>`;
const UNMOVED = { step: null, open: null, stop: null, unfolded: [] };  // of another sentence

export function machine(element, context) {
  const { state } = context, trace = traceOf(state), find = (name) => element.querySelector(name);
  if (!find(".machine")) {
    element.innerHTML = String(FRAME);
    listenToMachine(find(".machine"), context);
  }
  if (!trace) return waiting(find, state, context.settings);
  if (element.of && element.of !== trace) Object.assign(state.machine, UNMOVED);
  element.of = trace;
  const step = stepOf(state, trace), answer = inside(context, trace, { tool: "machine", step });
  const data = answer && !answer.error ? answer : null, f = data && sums(data, state.machine.mode);
  const shown = { trace, data, f, step, state, theme: state.theme, error: answer?.error };
  paint(find(".m-strip"), strip(shown));
  drawStage(find(".m-stage"), shown, context);
  find(".m-stage").inert = Boolean(state.machine.open && data);
  drawStop(find(".m-way"), shown, find(".m-stage"));
  drawOpen(find(".m-over"), shown, context);
}

function waiting(find, state, settings) {
  const message = state.error ?? (state.busy ? waitingFor(state, settings)
    : "Type a sentence in See first. This page shows how the model translates it.");
  paint(find(".m-strip"), html`<span class="soft">${message}</span>`);
  for (const name of [".m-stage", ".m-way", ".m-over"]) paint(find(name), "");
}

// The token that is followed: the one chosen here, else that of See, and of its word the first one with text; never one
// that was given.
function stepOf({ machine: { step }, word }, trace) {
  const { given, target } = trace.record, isStep = (i) => i !== null && i >= given && i < target.length;
  if (isStep(step)) return step;
  const found = [word, trace.first].find(isStep) ?? Math.min(given, target.length - 1);
  return trace.unitAt("target", found).pieces.find((i) => i >= found && target[i].end > target[i].start) ?? found;
}

// --- the sentence and its translation

function strip({ trace, f, state, step }) {
  const [from, to] = trace.languages, parts = state.traces.length;
  const part = (_, i) => html`<button class="chip" data-part="${i}" data-k="part-${i}" aria-pressed="${
    i === state.part}">${i + 1}</button>`;
  return html`<span class="second">${language(from, "Source")}</span><span class="m-text" ${inLanguage(from)}>${
    sourceText(trace, f)}</span><span class="m-to" aria-hidden="true">→</span><span class="second">${
    language(to, "Translation")}</span><span class="m-text" ${inLanguage(to)} role="group"
    aria-label="Choose a word of the translation">${targetText(trace, f, step)}</span><span class="push"></span>${
    parts > 1 && html`<span class="second">Part</span>${state.traces.map(part)}`}<button class="chip solid"
    data-do="machine_follow" data-k="machine-follow">Follow ${writtenWord(trace, step)}</button>`;
}

const marks = (value, tone) => isUsed(value) ? html`data-tone="${value > 0 ? tone : "orange"}"` : "";

function sourceText(trace, f) {
  const value = ({ pieces }) => f ? pieces.reduce((most, i) =>
    Math.abs(f.source[i]) > Math.abs(most) ? f.source[i] : most, 0) : 0;
  return stretches(trace.source, trace.words("source"), (text, one) =>
    html`<span class="m-mark" ${marks(value(one), "blue")}>${text}</span>`);
}

// Every token that was written is a button; those of one word stand together, underlined.  One without text, such as a
// mark for a capital, stands where it was written.
function targetText(trace, f, step) {
  const { target, given } = trace.record, at = (n) => trace.codeUnit("target", n);
  const written = target.map((one, i) => ({ i, special: one.special, start: at(one.start), end: at(one.end) }))
    .slice(given);
  const button = (text, { i }) => {
    const back = f && i < step ? f.inputs[i + 1] : 0, several = trace.unitAt("target", i).pieces.length > 1;
    return html`<button class="m-word ${several && "several"}" data-do="machine_word" data-value="${i}"
      data-rove="words" data-k="word-${i}" tabindex="${i === step ? 0 : -1}" aria-pressed="${i === step}"
      ${marks(back, "green")}>${text || html`<i>${trace.label(target[i], "target", i)}</i>`}</button>`;
  };
  let end = 0;
  const apart = written.filter((one) => {
    const isApart = !one.special && one.start >= end;
    if (isApart) end = one.end;
    return isApart;
  });
  const rest = written.filter((one) => !apart.includes(one));
  return html`${stretches(trace.target, apart, button)}${rest.map((one) =>
    html` ${button("", one)}`)}`;
}

// --- the stage

function drawStage(box, shown, context) {
  const { trace, f, data, state, step } = shown, { mode } = state.machine;
  if (innerWidth < WIDE) return paint(box, html`<div class="m-tall">${carriedPanel(shown)}${
    data && phoneSections(data, trace, state, context)}</div>`);
  const isNew = box.followed !== `${step} ${mode} ${Boolean(f)}`, painted = paint(box, wideStage(roomIn(box), shown));
  if (painted && isNew) box.querySelector(".flows")?.classList.add("reveal");
  box.followed = `${step} ${mode} ${Boolean(f)}`;
}

function roomIn(box) {
  const top = box.getBoundingClientRect().top + scrollY;
  const room = top < innerHeight ? innerHeight - top - UNDER : FURTHER;
  return { width: box.clientWidth, height: Math.round(Math.max(LEAST, Math.min(MOST, room))) };
}

// --- what its controls do

export function machineActions(context) {
  const { state, root, set } = context, change = (changes) => set({ machine: { ...state.machine, ...changes } });
  const focus = (key) => root.querySelector(`[data-k="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  const keyOf = ({ kind, layer }) => layer === undefined ? `gate-${kind}` : `gate-${kind}-${layer}`;
  return {
    machine_word({ dataset: { value } }) {
      state.word = +value;
      change({ step: +value, open: null });
      focus(`word-${value}`);
    },
    machine_mode: ({ dataset: { value } }) => change({ mode: value }),
    machine_open({ dataset: { value } }) {
      const [kind, layer, head] = value.split(".");
      change({ open: { kind, layer: layer && +layer, head: head === undefined ? null : +head } });
    },
    machine_close() {
      const { open } = state.machine;
      change({ open: null });
      if (open) focus(keyOf(open));
    },
    machine_unfold: ({ dataset: { value } }) => change({ unfolded: [...state.machine.unfolded ?? [], value] }),
    machine_fold: ({ dataset: { value } }) =>
      change({ unfolded: state.machine.unfolded.filter((one) => one !== value) }),
    machine_follow: () => change({ stop: 0, open: null }),
    machine_stop({ dataset: { value } }) {
      change({ stop: value === "" ? null : +value });
      if (value === "") focus("machine-follow");
    },
  };
}
