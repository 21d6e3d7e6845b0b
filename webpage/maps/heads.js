// All heads at a glance: as small maps, or as the word that each looks at most.

import { inLanguage, isRightToLeft } from "../common/languages.js";
import { html, segment, tipped } from "../common/markup.js";
import { imageOf } from "../common/small_map.js";
import { lookOf, traceOf } from "../common/state.js";
import { KINDS, bare, hasHeads, headOf, nameOf, same } from "../common/trace.js";
import { NO_ROLE, TECHNICAL, capital, direction, elided, headName, lookedAt, outcome, percent, placeOf,
  quoted, roleCaption, roleName, roleTip } from "../common/wording.js";

const CAPTIONS = 24;  // the most heads that get a caption each

// Every head as a button with its map.
export function headGroups(state) {
  const trace = traceOf(state), all = trace.heads, captions = all.length <= CAPTIONS;
  return trace.once(`groups ${state.word}`, () => html`<div class="groups ${captions ? "" : "dense"}" tabindex="0"
    role="group" aria-label="All heads">${KINDS.map((kind) => group(state, trace, kind, captions))}</div>${
    captions ? "" : keyOf(trace, all, state)}`);
}

// The same, or as words; without measured roles, as words first.
export function headsCard(state) {
  const trace = traceOf(state), list = state.list ?? (state.moment === null && !trace.measured.roles.length);
  return html`<div class="hd"><h2>All ${trace.heads.length} heads</h2>${
    segment("Show heads as", "do", "list", [["maps", "Maps"], ["words", "Words"]], list ? "words" : "maps")}</div>
    <p class="fine">Layers and heads count from 1; Python and commands count from 0.</p>
    ${list ? trace.once(`words ${state.word} ${state.read}`, () => inWords(state, trace)) : headGroups(state)}`;
}

// All of them without a control of their own: See's strip.
export function headStrip(state) {
  const trace = traceOf(state), mattering = trace.mattering(state.word);
  const map = (head) => html`<span class="mini tone-${trace.tone(head, state.word)}" data-head="${
    nameOf(head)}"><img alt="">${rankOf(mattering, head)}</span>`;
  const row = (heads, layer) => html`<span class="lay">${layer + 1}</span>${heads.map(map)}`;
  const most = Math.max(...KINDS.map((kind) => trace.layers(kind).length));
  return trace.once(`strip ${state.word}`, () => html`${KINDS.map((kind) => html`<span class="minis"
    style="--layers:${most}"><span
    class="what">${direction(kind, trace.languages)}</span><span
    class="maps" style="--heads:${trace.layers(kind)[0].length}">${trace.layers(kind).map(row)}</span></span>`)}`);
}

function rankOf(mattering, head) {
  const rank = mattering.findIndex((one) => same(one, head));
  return rank < 0 ? "" : html`<span class="rank" aria-hidden="true">${rank + 1}</span>`;
}

function group(state, trace, kind, captions) {
  const layers = trace.layers(kind), name = direction(kind, trace.languages), mattering = trace.mattering(state.word);
  const row = (heads, layer) => html`<span class="lay">${captions ? `Layer ${layer + 1}` : layer + 1}</span>${
    heads.map((one) => thumb(state, trace, one, captions, mattering))}`;
  return html`<div class="group"><h3>${name} <span class="soft">${TECHNICAL[kind]}</span></h3>
    <div class="thumbs ${isRightToLeft(trace.codes(kind)[1]) ? "mirrored" : ""}" role="group" aria-label="${name}"
      style="--heads:${layers[0].length}">${layers.map(row)}</div></div>`;
}

function thumb(state, trace, head, captions, mattering) {
  const role = trace.role(head), tone = trace.tone(head, state.word);
  const rank = rankOf(mattering, head);
  const name = `${headName(head, trace)}${role ? `: ${roleName(role)}` : ""}${
    rank && "; matters for this word"}`;
  const tip = role ? roleTip(role) : html`<b>${capital(placeOf(head))}.</b> ${NO_ROLE}`;
  const caption = html`<span class="cap ${tone === "slate" ? "" : "role"}">${
    role ? roleCaption(role) : html`&nbsp;`}</span>`;
  const pip = role && tone !== "slate" ? html`<span class="pip" aria-hidden="true"></span>` : "";
  return html`<button class="th tone-${tone}" data-head="${nameOf(head)}" data-k="th-${nameOf(head)}"
    aria-label="${name}" ${tipped(tip)}><img alt="">${rank}${captions ? caption : pip}</button>`;
}

function keyOf(trace, all, state) {
  const isSupervised = (head) => Boolean(trace.role(head)?.supervised);
  const supervisedFirst = [...all].sort((a, b) => isSupervised(b) - isSupervised(a));
  const tones = new Map(supervisedFirst.map((head) => [trace.tone(head, state.word), trace.role(head)]));
  const named = [...tones].filter(([tone]) => tone !== "slate");
  return html`<p class="fine keys">${named.map(([tone, role]) =>
    html`<span class="tone-${tone}"><span class="dot"></span> ${roleName(role)}</span> `)}${
    trace.effectsKnown ? html`<span><b class="rank">1</b> matters for this word</span>` : ""}</p>`;
}

// All heads as rows, the one that matters most for the chosen word first; without evidence, the one that looks hardest.
function inWords(state, trace) {
  const share = (head) => trace.share(head, rowOf(state, head));
  const rows = trace.effectsKnown ? trace.effects(state.word).map((effect) => ({ head: effect, effect }))
    : [...trace.heads].sort((a, b) => share(b) - share(a)).map((head) => ({ head, effect: null }));
  return html`${trace.effectsKnown ? html`<p class="fine hint"><span></span>head off</p>` : ""}<div
    class="story inwords">${rows.map(({ head, effect }, i) => headRow(state, trace, head, effect, i + 1))}</div>`;
}

const rowOf = (state, { kind }, piece = state.word) => kind === "encoder" ? state.read : piece;

// A head as a button: what it is for, where it looks in the row, and what the word becomes with it off.  Of a word of
// several tokens, it shows where the head looked at the step through which it has its effect, and names that step.
function headRow(state, trace, head, effect, place, piece = state.word) {
  const tone = trace.tone(head, piece), role = tone === "slate" ? null : trace.role(head);
  const isOne = head.kind === "encoder" || trace.unitAt("target", piece)?.pieces.length === 1;
  const row = head.kind === "encoder" ? state.read : effect?.step ?? piece;
  const [[column, share] = [{ label: "" }, 0]] = trace.top(head, row, 1, isOne ? {} : { rowUnit: "tokens" });
  const [source, target] = trace.languages;
  const from = head.kind === "encoder" ? html`, from ${quoted(trace.unitAt("source", row)?.label ?? "", source)}`
    : isOne ? "" : html`, at ${quoted(bare(trace.record.labels.target[row]), target)}`;
  const tip = role ? roleTip(role) : html`<b>${direction(head.kind, trace.languages)}</b>, ${placeOf(head)}.`;
  const name = role ? roleName(role) : `${lookedAt(head.kind, trace.languages)} · ${placeOf(head)}`;
  return html`<button class="tone-${tone}" data-head="${nameOf(head)}" data-says="head" data-k="story-${nameOf(head)}"
    ${tipped(tip)}><b class="rank">${place}</b><span
    class="nm">${name}${from}</span><span class="l2"><span class="wd" ${inLanguage(trace.codes(head.kind)[1])}>${
    elided(column.label, 14)}</span><b class="pc">${percent(share)}</b><span class="out second">${
    effect ? outcome(trace, effect) : ""}</span></span></button>`;
}

// Marks the chosen head among the buttons of `root`; of the small maps it is the one that Tab reaches.
export function markHead(root, given) {
  const { head, view } = lookOf(given), chosen = nameOf(head);
  for (const one of root.querySelectorAll(".mini")) one.classList.toggle("on", one.dataset.head === chosen);
  for (const button of root.querySelectorAll(".th, .story button")) {
    const isChosen = button.dataset.head === chosen;
    button.setAttribute("aria-pressed", String(isChosen && hasHeads(view)));
    if (button.matches(".th")) button.tabIndex = isChosen ? 0 : -1;
  }
}

export function paintThumbs(root, given) {
  const state = lookOf(given), trace = traceOf(state), view = hasHeads(state.view) && trace.holds(state.view) ? state.view : "raw";
  const { unit, rows, theme } = state;
  for (const place of root.querySelectorAll(".th, .mini")) {
    const name = place.dataset.head, tone = trace.tone(headOf(name), state.word);
    const made = () => imageOf(trace.map(headOf(name), { view, unit, rows }), { tone, theme });
    const source = trace.once(["image", name, view, unit, rows, tone, theme].join(), made);
    const image = place.querySelector("img");
    if (image.src !== source) image.src = source;
  }
}
