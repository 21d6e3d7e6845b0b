// See: the first screen.  Draws the text pair, why the chosen word was written, one map, and the strip of all heads.

import { html, icon, isNarrow, paint } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { learnCurve } from "../lab/replay.js";
import { drawMap, followMap, showRow, toneOf } from "../maps/map.js";
import { isStale } from "../maps/difference.js";
import { headGroups, headStrip, markHead, paintThumbs } from "../maps/heads.js";
import { drawBetweenTexts, drawThreads, fit } from "./between_texts.js";
import { eyebrow, foot, said } from "./map_card.js";
import { FRAME as TEXTS, joins, paintTexts, placeSwap } from "./texts.js";
import { why } from "./why.js";

const ONE_LINE = 40;  // pixels

export const FRAME = (settings) => html`<div class="see"><div class="left"><section class="card texts"
    aria-label="Your text and its translation">${TEXTS(settings)}</section>
    <section class="card why" aria-label="Why this word"></section>
    <section class="card strip-of-heads" aria-label="All heads"><div class="hd"></div><div class="stripped"
    aria-hidden="true"></div></section></div>
  <section class="card work" aria-label="Attention map"><div class="eyebrow"></div>
    <p class="say" data-says="row" aria-live="polite"></p><div class="mapbox" id="s2s-map"></div><div class="foot"></div>
    </section><section class="card all" aria-label="All heads, large" hidden></section></div>`;

// Everything is written before anything is measured, for each switch back costs a layout of the page.
export function see(root, context, { slide = false } = {}) {
  const { state, settings } = context, trace = traceOf(state), find = (name) => root.querySelector(name);
  const width = find(".mapbox").clientWidth, isOld = isStale(state);
  paintTexts(find(".texts"), state, settings);
  root.classList.toggle("bare", !trace);
  paint(find(".why"), why(state, settings));
  if (trace) {
    paint(find(".eyebrow"), eyebrow(state, settings));
    paint(find(".foot"), foot(state));
    paint(find(".strip-of-heads .hd"), stripHead(state, settings, trace));
    paint(find(".stripped"), headStrip(state));
    drawMap(find(".work .mapbox"), state, width);
    if (state.allHeads) paint(find(".all"), large(state, trace));
    for (const place of [".stripped", state.allHeads && ".all"].filter(Boolean)) {
      paintThumbs(find(place), state);
      markHead(find(place), state);
    }
  }
  for (const name of [".why", ".work", ".strip-of-heads"]) {
    find(name).classList.toggle("stale", isOld || !trace);
    find(name).inert = isOld || !trace;
  }
  find(".all").hidden = !state.allHeads || !trace;
  find(".work").inert ||= state.allHeads;
  follow(root, context);
  fit(find(".texts"), state);
  placeSwap(find(".texts"), state, settings);
  if (trace) { drawThreads(find(".texts"), state); showRow(find(".work .mapbox")); }
  drawBetweenTexts(find(".texts"), state, trace ? joins(state) : [], { slide });
  for (const name of [".why", ".mapbox", ".mirror", ".tgt"]) reachable(find(name));
}

// What scrolls can be scrolled with the keyboard.
function reachable(box) {
  const scrolls = box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
  const isHere = scrolls && getComputedStyle(box).overflowY !== "visible" && !box.querySelector("[tabindex='0'], button");
  if (isHere) box.tabIndex = 0; else box.removeAttribute("tabindex");
}

const stripHead = (state, settings, trace) => html`<h2>All ${trace.heads.length} heads</h2><span class="push"></span>${
  settings.engine && learnCurve(state, settings)}<button class="tool" data-do="heads" data-k="heads"
  aria-expanded="${state.allHeads}" aria-label="Enlarge all heads">${icon("up")}</button>`;

const large = (state, trace) => html`<div class="hd"><h2>All ${trace.heads.length} heads</h2><p class="second">Each map
  shows where one head looked. Select one to see it large.${trace.mattering(state.word).length > 0
  && html` <b class="rank">1</b> matters for the chosen word.`}</p><button class="tool" data-do="heads"
  data-k="close-heads" aria-label="Close">${icon("close")}</button></div>${headGroups(state)}`;

// What follows the pointer: outline, sentence, lines.
export function follow(root, context, { speak = false } = {}) {
  const { state, settings } = context, trace = traceOf(state), say = root.querySelector(".say");
  if (!trace) return;
  say.setAttribute("aria-live", speak ? "polite" : "off");
  paint(say, said(state, settings));
  say.className = `say tone-${toneOf(state)}`;
  say.classList.toggle("small", !isNarrow() && say.offsetHeight > ONE_LINE);  // so that the map stays where it is
  root.querySelector(".why").dataset.tone = toneOf(state);
  followMap(root.querySelector(".work .mapbox"), state);
}
