// All heads at a glance: as small maps, or as the word that each looks at most.

import { css, inkOn, shade } from "./colour.js";
import { inLanguage, isRightToLeft } from "./languages.js";
import { html, option, segment, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { same } from "./texts.js";
import { KINDS, hasHeads, headOf, nameOf } from "./trace.js";
import { NO_ROLE, TECHNICAL, capital, direction, elided, headName, lookedAt, percent, placeOf, quoted, roleCaption,
  roleName, roleTip, times } from "./wording.js";

const CAPTIONS = 24;  // the most heads that get a caption each

export function headsCard(state) {
  const trace = traceOf(state), all = trace.heads, captions = all.length <= CAPTIONS;
  const list = state.list ?? (state.moment === null && !trace.measured.roles.length);
  const button = (value, label) => option("do", "list", String(value), label, list === value);
  const groups = () => html`<div class="groups ${captions ? "" : "dense"}">${
    KINDS.map((kind) => group(state, trace, kind, captions))}</div>${captions ? "" : keyOf(trace, all, state)}`;
  return html`<div class="hd"><h2>All ${all.length} attention heads</h2>${
    segment("Show heads as", [button(false, "Maps"), button(true, "Words")])}</div>
    <p class="what">Heads divide attention among words. Click to enlarge.</p>
    ${list ? inWords(state, trace) : groups()}`;
}

function group(state, trace, kind, captions) {
  const [layers, heads] = trace.sizes[kind], name = direction(kind, trace.languages);
  const telling = trace.telling(state.word);
  const row = (_, layer) => html`<span class="lay">${captions ? `Layer ${layer + 1}` : layer + 1}</span>${
    Array.from({ length: heads }, (_, head) => thumb(state, trace, { kind, layer, head }, captions, telling))}`;
  return html`<div class="group"><h3>${name} <span class="soft">${TECHNICAL[kind]}</span></h3>
    <div class="thumbs ${isRightToLeft(trace.codes(kind)[1]) ? "mirrored" : ""}" role="group" aria-label="${name}"
      style="--heads:${heads}">${Array.from({ length: layers }, row)}</div></div>`;
}

function thumb(state, trace, head, captions, telling) {
  const role = trace.role(head), tone = trace.tone(head, state.word), chosen = same(head, state.head);
  const matters = telling.findIndex((one) => same(one, head));
  const name = `${headName(head, trace)}${role ? `: ${roleName(role)}` : ""}${
    matters >= 0 ? "; matters for this word" : ""}`;
  const tip = role ? roleTip(role) : html`<b>${capital(placeOf(head))}.</b> ${NO_ROLE}`;
  const needed = tone === "slate" && matters >= 0 && (telling[matters].instead ? "decides" : "matters");
  const caption = html`<span class="cap ${needed ? "must" : tone === "slate" ? "" : "role"}">${
    needed || (role ? roleCaption(role) : html`&nbsp;`)}</span>`;
  const pip = role && tone !== "slate" ? html`<span class="pip" aria-hidden="true"></span>` : "";
  return html`<button class="th tone-${tone}" data-head="${nameOf(head)}" data-k="th-${nameOf(head)}"
    tabindex="${chosen ? 0 : -1}" aria-pressed="${hasHeads(state.view) && chosen}" aria-label="${name}"
    ${tipped(tip)}><canvas></canvas>${matters >= 0 ? html`<span class="rank" aria-hidden="true">${matters + 1}</span>`
      : ""}${captions ? caption : pip}</button>`;
}

function keyOf(trace, all, state) {
  const tones = new Map(all.map((head) => [trace.tone(head, state.word), trace.role(head)]));
  const named = [...tones].filter(([tone]) => tone !== "slate");
  return html`<p class="fine keys">${named.map(([tone, role]) =>
    html`<span class="tone-${tone}"><span class="dot"></span> ${roleName(role)}</span> `)}${
    trace.evidence ? html`<span><b class="rank">1</b> matters for this word</span>` : ""}</p>`;
}

// The word each head looks at most in the chosen row, sorted by the head's effect if it is known.
function inWords(state, trace) {
  const piece = state.word, [, target] = trace.languages;
  const rows = trace.heads.map((head) => ({ head, effect: trace.effect(head, piece),
    top: trace.top(head, head.kind === "encoder" ? state.read : piece, 1)[0] }));
  rows.sort((a, b) => (b.effect?.drop ?? b.top?.[1] ?? 0) - (a.effect?.drop ?? a.top?.[1] ?? 0));
  const outcome = ({ instead, drop }) => Math.abs(drop) < 0.14 && !instead ? ""
    : html`without it: ${instead ? quoted(instead, target) : times(drop)}`;
  return html`<div class="inwords">${rows.map(({ head, effect, top }) => {
    const share = top?.[1] || 0, colour = shade(share, trace.tone(head, piece), state.theme);
    return html`<button data-head="${nameOf(head)}" data-k="th-${nameOf(head)}"
      aria-pressed="${same(head, state.head)}"><span class="nm">${lookedAt(head.kind, trace.languages)} · ${
      placeOf(head)}</span><span class="wd" ${inLanguage(trace.codes(head.kind)[1])}>${
      elided(top?.[0].label || "", 14)}</span><span class="sh"
      style="background:${css(colour)};color:${inkOn(colour)}">${percent(share)}</span><span class="out">${
      effect ? outcome(effect) : ""}</span></button>`;
  })}</div>`;
}

// Reuses pictures already drawn: a large model has many.
export function paintThumbs(root, state) {
  const trace = traceOf(state), view = hasHeads(state.view) && trace.holds(state.view) ? state.view : "raw";
  const drawn = root.drawn ||= new Map();
  for (const button of root.querySelectorAll(".th")) {
    const name = button.dataset.head, head = headOf(name), tone = trace.tone(head, state.word);
    const map = trace.map(head, { view, unit: state.unit, rows: state.rows });
    const key = [tone, state.theme, view, state.unit, state.rows].join(), old = drawn.get(name);
    const empty = button.querySelector("canvas");
    if (old?.map === map && old.key === key) {
      if (old.canvas !== empty) empty.replaceWith(old.canvas);
      continue;
    }
    const C = map.columns.length, R = map.rows.length, image = new ImageData(C, R);
    map.at.forEach((row, r) => row.forEach((value, c) =>
      image.data.set([...shade(Math.abs(value || 0) / map.most, tone, state.theme), 255], (r * C + c) * 4)));
    Object.assign(empty, { width: C, height: R }).getContext("2d").putImageData(image, 0, 0);
    drawn.set(name, { map, key, canvas: empty });
  }
}

export function pairsCard({ text }, settings) {
  const button = (name, option, whole) => html`<button data-example="${whole}" data-k="pair-${name}-${option}"
    aria-pressed="${whole === text}">${option}</button>`;
  return html`<h2>Change one word and <i>it</i> means something else</h2><ul>${
    settings.pairs.map(({ name, before, options, after }) => html`<li><span>${name}</span>${
      segment(name, options.map((one) => button(name, one, before + one + after)))}</li>`)}</ul>`;
}
