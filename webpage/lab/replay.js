// Watch it learn: recorded moments of the training, on a slider.

import { changed, html, stretches } from "../common/markup.js";
import { inLanguage } from "../common/languages.js";
import { traceOf } from "../common/state.js";
import { Trace } from "../common/trace.js";
import { count } from "../common/wording.js";

const PACE = 700;  // milliseconds per moment
export const UNRECORDED = "No training was recorded for this model.";

export function learnBar(state, settings) {
  const { moment } = state, moments = momentsOf(state, settings);
  if (moments?.length === 0 || isUnrecorded(state, settings)) return "";
  const last = moments ? moments.length - 1 : 0, now = moment === null ? null : moments[moment];
  const shape = state.playing ? "M2 1h3v10H2zM7 1h3v10H7z" : "M2 .8v10.4L11 6z";
  const pitch = state.waiting ? "Loading the recording…" : "See the heads find their roles, step by step.";
  const track = () => html`<div class="track">${lossCurve(moments, moments[last].step)}<input type="range" min="0"
    max="1000" step="1" value="${sliderPosition(moments, moment ?? last)}" data-do="seek" data-k="seek"
    aria-label="Training step" aria-valuetext="${now ? `step ${now.step}` : "fully trained"}"><span class="what2"
    aria-hidden="true">training loss</span></div>`;
  const when = () => now && moment < last ? html`Step <b>${count(now.step)}</b> of ${count(moments[last].step)}${
    now.bleu === null ? "" : html`<br>BLEU ${now.bleu.toFixed(1)}`}`
    : html`<b>${state.waiting ? "Loading…" : "Fully trained"}</b><br>${count(moments[last].step)} steps`;
  return html`<div class="learn" role="group" aria-label="Watch it learn"><button class="play" data-do="play"
    data-k="play"><svg viewBox="0 0 12 12" aria-hidden="true"><path d="${shape}"/></svg><span>${
    state.playing ? "Pause" : "Watch it learn"}</span></button>${
    moments ? track() : html`<span class="second pitch">${pitch}</span>`}<span class="when second">${
    moments ? when() : ""}</span></div>`;
}

// See's entry to it: the curve of the loss, as a link.
export function learnCurve(state, settings) {
  const moments = momentsOf(state, settings);
  if (moments?.length === 0 || isUnrecorded(state, settings)) return "";
  return html`<a class="tool curve" href="#lab-learn" data-page="lab-learn" data-k="watch">${moments
    && lossCurve(moments, moments.at(-1).step)}<span>Watch it learn</span></a>`;
}

// Whether the model shown has no recording, as far as the page knows.
const isUnrecorded = (state, { models }) =>
  models.find((one) => one.name === (state.held || traceOf(state)).record.model)?.recorded === false;

// The moments of the model's replay; until it is loaded, the steps and losses that come with the page's first view.
function momentsOf(state, { first, exampleModel }) {
  const { model } = (state.held || traceOf(state)).record, { replay } = state;
  if (replay?.of.record.model === model) return replay.moments;
  return model === exampleModel ? first?.moments : null;
}

// What the model wrote at a moment of its training; words that differ from the final translation are underlined.
export function written({ replay, moment, held }) {
  const { step, trace } = replay.moments[moment], { target_text: text } = trace, [, code] = held.languages;
  return html`<p class="wrote-then"><span class="second">The model’s translation after ${count(step)} training steps:</span>
    <span ${inLanguage(code)}>${text ? stretches(text, changed(held.target, text), (one) => html`<span
    class="wrong">${one}</span>`) : html`<span class="soft">(nothing yet)</span>`}</span></p>${text !== held.target
    && html`<p class="fine"><span class="wrong-key">Wavy</span>: differs from the final translation</p>`}`;
}

// A moment's place on the slider is proportional to its step.
const sliderPosition = (moments, i) => Math.round(1000 * moments[i].step / moments.at(-1).step);

function lossCurve(moments, end) {
  const known = moments.filter((one) => one.loss !== null), most = Math.max(...known.map((one) => one.loss), 1e-6);
  if (known.length < 2) return "";
  const points = known.map((one) => [1.2 + 97.6 * one.step / end, 25 - 22 * one.loss / most]);
  const line = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
  return html`<svg viewBox="0 0 100 36" preserveAspectRatio="none" aria-hidden="true"><path
    d="M${points[0][0]} 26L${line}L${points.at(-1)[0]} 26Z" style="fill:var(--blue-t)"/><path d="M${line}" fill="none"
    vector-effect="non-scaling-stroke" style="stroke:var(--blue)" stroke-width="1.5"/><path d="M1.2 26L98.8 26"
    vector-effect="non-scaling-stroke" style="stroke:var(--edge)" stroke-width="2" fill="none"/></svg>`;
}

export function learnActions(context) {
  const { state, set } = context;
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; state.playing = false; };
  const finished = () => ({ moment: null, held: null, traces: [state.held], word: state.wordHeld ?? state.word, hover: null });

  async function load() {
    let trace = traceOf(state);
    const question = (one) => ({ question: { ...context.about(one), tool: "replay" } });
    let found = await context.ask("inside", question(trace));
    if (found.moments.length && !found.texts.includes(trace.source)) {  // recorded for other sentences: show the first
      await context.open(found.texts[0]);
      trace = traceOf(state);
      if (trace.source !== found.texts[0]) return null;
      found = await context.ask("inside", question(trace));
    }
    return { of: trace, moments: found.moments };
  }

  async function ready() {
    if (state.replay && state.replay.of === (state.held || traceOf(state))) return true;
    set({ waiting: true, replay: null });
    const found = await load().then((replay) => ({ replay }), (error) => ({ error: error.message }));
    set({ waiting: false, ...found });
    return Boolean(state.replay?.moments.length) && state.replay.of === (state.held || traceOf(state));
  }

  // Shows a moment: what the model wrote then, and its maps; no roles, which were measured on the finished model.
  function show(i) {
    const { replay } = state, last = replay.moments.length - 1, held = state.held || traceOf(state);
    if (i >= last) return set(state.held ? finished() : {});
    const one = replay.moments[i], then = one.made ||= new Trace(one.trace, null), words = then.words("target");
    const chosen = words.find((word) => then.isPronoun(word.pieces[0])) || words[0];
    set({ held, wordHeld: state.held ? state.wordHeld : state.word, moment: i, traces: [then], view: "raw",
      hover: null, word: chosen?.pieces[0] ?? then.written[0].pieces[0],
      read: Math.min(state.read, then.record.source.length - 1) });
  }

  // Stops the replay and shows the moment that `choose` chooses.
  async function jump(choose) {
    stop();
    if (!state.waiting && await ready()) show(choose(state.replay.moments));
  }

  return {
    endReplay() { if (state.held) { stop(); set(finished()); } },  // the finished model, on another page
    async play() {
      if (state.playing) { stop(); return set({}); }
      if (!await ready()) return set({ error: state.error || UNRECORDED });
      const last = state.replay.moments.length - 1;
      let i = state.moment === null || state.moment >= last ? 0 : state.moment;
      state.playing = true;
      show(i);
      timer = setInterval(() => {
        if (!state.playing) return stop();  // another text was opened
        i += 1;
        if (i >= last) stop();
        show(i);
      }, PACE);
    },
    seek({ value }) {
      return jump((moments) => {
        const gaps = moments.map((_, i) => Math.abs(sliderPosition(moments, i) - value));
        return gaps.indexOf(Math.min(...gaps));
      });
    },
    moment: (by) => jump((moments) => Math.max(0, (state.moment ?? moments.length - 1) + by)),
  };
}
