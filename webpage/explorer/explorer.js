// The explorer: its frame, its state, and how all of it is drawn.  `loading.js` asks the server, `events.js` listens to
// the reader, `actions.js` says what each control does.

import { actionsOf } from "./actions.js";
import { COLOURS } from "../data.js";
import { dock, drawer } from "../lab/lab.js";
import { overGradio, overHttp } from "./engine.js";
import { listen } from "./events.js";
import { header } from "./header.js";
import { headsCard, markHead, paintThumbs, pairsCard } from "./heads.js";
import { UNRECORDED } from "../lab/replay.js";
import { lessons } from "../lessons/lessons.js";
import { drawBetweenTexts, drawThreads, fit } from "./between_texts.js";
import { loading } from "./loading.js";
import { drawMap, exchanged, eyebrow, followMap, headline, how, mapTools, showRow } from "./map.js";
import { machine } from "../machine/machine.js";
import { about, html, paint } from "../common/markup.js";
import { showMenu } from "./menus.js";
import { START, firstTheme, isOld, keepPlace, keptPlace, pageOf, traceOf } from "../common/state.js";
import { FRAME, joins, paintTexts } from "./texts.js";
import { story } from "../lessons/story.js";
import { tips } from "../common/tips.js";
import { hasHeads } from "../common/trace.js";
import { comparedWith, twoModels } from "./two_models.js";
import { UPLOAD, drawUpload } from "./upload.js";
import { wordPanel } from "./word.js";

const OTHERS = { machine, lessons, story };  // what draws the pages beside Explore
const SOON = 200;  // milliseconds after which a change is kept: browsers limit how often

const frame = html`<a class="skip" href="#s2s-map" data-do="skip">Skip to the map</a><header class="top-bar"></header>
  <main class="explore"><section class="card texts" aria-label="Your text and its translation">${FRAME}</section>
    <section class="card work" aria-label="Attention map"><div class="mapside"><div class="eyebrow second"></div>
      <p class="say" data-says="row" aria-live="polite"></p><p class="how second"></p>
      <div class="bar" role="toolbar" aria-label="Map options"></div><div class="mapbox" id="s2s-map"></div>
      <div class="changed" role="status"></div></div>
      <aside class="word" aria-label="The chosen word"></aside></section>
    <section class="card beside" aria-label="Two models" hidden></section>
    <div class="side"><section class="card pairs" aria-label="Sentence pairs"></section>
      <section class="card heads" aria-label="All heads"></section></div></main>
  <div class="other" hidden></div>
  <div class="dockwrap"><div class="card drawer" hidden></div><div class="card dock"></div></div>
  <footer class="foot"></footer><div class="pop" role="menu" hidden></div>
  <div class="tip" role="tooltip" id="s2s-tip" hidden></div><div class="tourbox" role="dialog" aria-label="Tour"
    hidden></div>${UPLOAD}`;

export function explorer(element, settings) {
  const root = element.appendChild(document.createElement("div")), find = (name) => root.querySelector(name);
  root.className = "s2s";
  root.innerHTML = String(frame);
  const engine = settings.answer ?? (settings.api ? overHttp(settings.api)
    : settings.gradio ? overGradio(settings.gradio) : null);
  const state = { ...START, theme: firstTheme(), ...settings.start };
  const context = { state, engine, root, set, render, note, hover, settings: { ...settings, engine: Boolean(engine) },
    announce: (text) => paint(find(".say"), html`${text}`) };
  Object.assign(context, loading(context));
  context.actions = actionsOf(context);
  if (engine && !settings.embedded) addressed();
  listen(context);
  tips(root);
  redrawWhenResized();
  const place = settings.embedded ? {} : keptPlace();
  let hasBegun = false;
  begin();
  return context;

  // Lessons and story have a sentence of their own: what Explore shows is asked for when it is needed, so that they
  // need not wait for it.
  function begin() {
    if (hasBegun || ["lessons", "story"].includes(state.page)) return render();
    hasBegun = true;
    if (state.text) render(); else context.begin(place);
  }

  function set(changes) { Object.assign(state, changes); render(); context.keep?.(); }
  function note(name, value) { state.lab[name] = value; render(); }

  // Everything is written before anything is measured, for each switch back costs a layout of the page.
  function render() {
    const trace = traceOf(state), { settings } = context, width = find(".mapbox").clientWidth;
    root.dataset.theme = state.theme;
    document.body.style.background = COLOURS[state.theme].page;
    paint(find(".top-bar"), header(state, settings));
    const exploring = state.page === "explore";
    for (const name of [".explore", ".dockwrap"]) find(name).hidden = !exploring;
    find(".other").hidden = exploring;
    if (!exploring) { find(".upload").hidden = true; return other(); }
    paintTexts(find(".texts"), state, settings);
    root.classList.toggle("bare", !trace);
    const isBeside = trace && comparedWith(state, settings);
    root.classList.toggle("two-models", Boolean(isBeside));
    find(".beside").hidden = !isBeside;
    if (isBeside) return besides(trace);
    if (settings.pairs?.length) paint(find(".pairs"), pairsCard(state, settings));
    if (trace) {
      paint(find(".eyebrow"), eyebrow(state));
      paint(find(".how"), how(state));
      paint(find(".bar"), mapTools(state));
      paint(find(".heads"), headsCard(state));
      paintThumbs(find(".heads"), state);
      markHead(find(".heads"), state);
      drawMap(find(".mapbox"), state, width);
    }
    for (const name of [".work", ".heads"]) find(name).classList.toggle("stale", isOld(state));
    paint(find(".dock"), dock(state, settings));
    drawer(find(".drawer"), context);
    paint(find(".foot"), foot(engine, settings));
    writeWord();
    fit(find(".texts"), state.traces.length);
    drawThreads(find(".texts"), state);
    showMenu(root, state, settings);
    drawUpload(root, state, settings);
    if (trace) showRow(find(".mapbox"));
    drawBetweenTexts(find(".texts"), state, trace ? joins(state) : []);
  }

  // A page of its own; each starts from an empty element.
  function other() {
    const element = find(".other");
    if (element.shows !== state.page) element.replaceChildren();
    if (element.shows !== state.page) Object.assign(element, { shows: state.page, painted: null, asked: null });
    OTHERS[state.page](element, context);
    showMenu(root, state, context.settings);
  }

  // Two models in place of the map of one.
  function besides(trace) {
    const card = find(".beside"), list = () => card.querySelector(".story"), top = list()?.scrollTop ?? 0;
    card.classList.toggle("stale", isOld(state));
    if (!isOld(state) && paint(card, twoModels(context, trace))) list()?.scrollTo(0, top);
    paint(find(".foot"), foot(engine, settings));
    fit(find(".texts"), state.traces.length);
    showMenu(root, state, settings);
    drawUpload(root, state, settings);
  }

  // What follows the pointer: outline, sentence, word.
  function writeWord({ speak = false } = {}) {
    const trace = traceOf(state), say = find(".say");
    say.setAttribute("aria-live", speak ? "polite" : "off");
    paint(say, said(state));
    if (!trace) return;
    if (state.as === "map") followMap(find(".mapbox"), state);
    paint(find(".word"), wordPanel(state, context.settings));
    markHead(find(".word"), state);
    paint(find(".changed"), exchanged(state));
    say.className = `say tone-${hasHeads(state.view) ? trace.tone(state.head, state.word) : "blue"}`;
  }

  function hover(value, { speak = false } = {}) {
    if (JSON.stringify(value) === JSON.stringify(state.hover) && !speak) return;
    Object.assign(state, { hover: value, touched: state.touched || value !== null });
    if (!traceOf(state) || comparedWith(state, context.settings)) return;
    if (state.as === "lines") drawMap(find(".mapbox"), state, find(".mapbox").clientWidth);
    writeWord({ speak });
    drawBetweenTexts(find(".texts"), state, joins(state));
  }

  // The page has an address, and its state outlives a reload.
  function addressed() {
    let soon = null;
    const go = () => { Object.assign(state, { page: pageOf(location), menu: null }); begin(); };
    state.page = pageOf(location);
    addEventListener("hashchange", go);
    context.keep = () => { clearTimeout(soon); if (hasBegun) soon = setTimeout(keepPlace, SOON, state); };
  }

  function redrawWhenResized() {
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(root.clientWidth - width) <= 1) return;
      width = root.clientWidth;
      find(".texts").fitted = null;
      render();
    }).observe(root);
    addEventListener("resize", render);
    document.fonts?.ready.then(render);
  }
}

function said(state) {
  const chip = (id, label) => html`<button class="chip" data-do="${id}" data-k="${id}">${label}</button>`;
  if (state.error) return html`${state.error} ${state.error === UNRECORDED ? "" : chip("again", "Try again")}`;
  if (state.busy && state.waited && state.busy !== "weighing") {
    const what = state.busy === "translating" ? "Translating…" : "Looking at every head…";
    return html`<span class="soft">${what}</span> ${chip("cancel", "Cancel")}`;
  }
  if (traceOf(state)) return headline(state);
  const empty = "The model cannot read any word of this text, so the text comes back unchanged.";
  return html`<span class="soft">${state.text && !state.busy ? empty : ""}</span>`;
}

const TESTED = "To test what a word depends on, the page switches heads off and erases words.";
const UNTESTED = "To test what a word depends on, run seq2see serve MODEL.";
const SERVERS = "This file does not recognise placeholders, HTML or the language of a text. The server (seq2see demo) does.";

function foot(engine, { answer }) {
  const isLocal = answer || (engine && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname));
  return html`<span>${isLocal ? "Everything runs on this device. " : ""}${
    engine ? "Only this tab keeps what you type, until you close it." : ""}</span>
    <span>${engine || answer ? TESTED : UNTESTED} ${answer ? about(SERVERS) : ""}</span>`;
}
