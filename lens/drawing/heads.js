// All heads at a glance: as small maps, or as the word that each looks at most.

import { css, inkOn, shade } from "./colour.js";
import { html, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { same } from "./texts.js";
import { KINDS, hasHeads, headOf, nameOf } from "./trace.js";
import { TECHNICAL, capital, direction, elided, lookedAt, nats, percent, placeOf, quoted, roleCaption, roleName,
  roleTip } from "./wording.js";

const CAPTIONS = 24;  // heads, up to which each has its caption

export function headsCard(state) {
  const trace = traceOf(state), all = trace.heads, list = state.list ?? (state.moment === null
    && !trace.measured.roles.length);
  return html`<div class="hd"><h2>All ${all.length} attention heads</h2><span class="seg" role="group"
    aria-label="Heads as">${[[false, "Maps"], [true, "Words"]].map(([value, label]) =>
    html`<button data-do="list" data-value="${value}" data-k="list-${value}"
      aria-pressed="${list === value}">${label}</button>`)}</span></div>
    <p class="what">A head looks around for the model: for each word it shares out its attention over other words. Click one to enlarge it.</p>
    ${list ? inWords(state, trace) : html`<div class="groups ${all.length > CAPTIONS ? "dense"
      : ""}">${KINDS.map((kind) => group(state, trace, kind, all.length <= CAPTIONS))}</div>${
      all.length > CAPTIONS ? keyOf(trace, all, state) : ""}`}`;
}

function group(state, trace, kind, captions) {
  const [layers, heads] = trace.sizes[kind], telling = trace.telling(state.word);
  return html`<div class="group"><h3>${direction(kind, trace.languages)} <span
    class="soft">${TECHNICAL[kind]}</span></h3>
    <div class="thumbs" role="group" aria-label="${direction(kind, trace.languages)}"
      style="--heads:${heads}">${Array.from({ length: layers }, (_, layer) => html`<span
      class="lay">${captions ? `Layer ${layer + 1}` : layer + 1}</span>${Array.from({ length: heads }, (_, head) =>
        thumb(state, trace, { kind, layer, head }, captions, telling))}`)}</div></div>`;
}

function thumb(state, trace, head, captions, telling) {
  const role = trace.role(head), tone = trace.tone(head, state.word), matters = telling.findIndex((one) =>
    same(one, head)), chosen = hasHeads(state.view) && same(head, state.head);
  const name = `${direction(head.kind, trace.languages)}, ${placeOf(head)}${role ? `: ${roleName(role)}`
    : ""}${matters >= 0 ? "; matters for this word" : ""}`;
  return html`<button class="th tone-${tone}" data-head="${nameOf(head)}" data-k="th-${nameOf(head)}"
    tabindex="${same(head, state.head) ? 0 : -1}" aria-pressed="${chosen}" aria-label="${name}"
    ${tipped(role ? roleTip(role)
      : html`<b>${capital(placeOf(head))}.</b> No clear role on the sentences measured.`)}><canvas></canvas>${
    matters >= 0 ? html`<span class="rank" aria-hidden="true">${matters + 1}</span>` : ""}${captions
      ? html`<span class="cap ${tone === "slate" ? "" : "role"}">${role ? roleCaption(role) : html`&nbsp;`}</span>`
    : role && tone !== "slate" ? html`<span class="pip" aria-hidden="true"></span>` : ""}</button>`;
}

function keyOf(trace, all, state) {
  const tones = new Map(all.map((head) => [trace.tone(head, state.word), trace.role(head)]));
  return html`<p class="fine keys">${[...tones].filter(([tone]) => tone !== "slate").map(([tone, role]) =>
    html`<span class="tone-${tone}"><span class="dot"></span> ${roleName(role)}</span> `)}${
    trace.evidence ? html`<span><b class="rank">1</b> matters for this word</span>` : ""}</p>`;
}

// Each head's most looked-at word for the chosen row, by its effect where that is known.
function inWords(state, trace) {
  const piece = state.word, [source, target] = trace.languages;
  const rows = trace.heads.map((head) => ({ head, effect: trace.effect(head, piece),
    top: trace.top(head, head.kind === "encoder" ? state.read : piece, 1)[0] }));
  rows.sort((a, b) => (b.effect?.drop ?? b.top?.[1] ?? 0) - (a.effect?.drop ?? a.top?.[1] ?? 0));
  return html`<div class="inwords">${rows.map(({ head, effect, top }) => {
    const colour = shade(top?.[1] || 0, trace.tone(head, piece), state.theme);
    return html`<button data-head="${nameOf(head)}" data-k="th-${nameOf(head)}"
      aria-pressed="${same(head, state.head)}"><span class="nm">${lookedAt(head.kind,
      trace.languages)} · ${placeOf(head)}</span><span
      class="wd" lang="${head.kind === "decoder" ? target : source}">${elided(top?.[0].label || "", 14)}</span><span
        class="sh" style="background:${css(colour)};color:${inkOn(colour)}">${percent(top?.[1] || 0)}</span><span
      class="out">${!effect ? "" : effect.instead ? html`without it: ${quoted(effect.instead, target)}`
        : Math.abs(effect.drop) < 0.05 ? "" : html`${effect.drop > 0 ? "−"
        : "+"}${nats(Math.abs(effect.drop))}`}</span></button>`;
  })}</div>`;
}

// Pictures that are drawn already are kept: those of a large model are many.
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

export function pairsCard(state, settings) {
  const text = state.text;
  return html`<h2>Change one word and <i>it</i> means something else</h2><ul>${settings.pairs.map(({ name, before,
    options, after }) => html`<li><span>${name}</span><span
    class="seg" role="group" aria-label="${name}">${options.map((one) =>
      html`<button data-example="${before + one + after}" data-k="pair-${name}-${one}" aria-pressed="${
    before + one + after === text}">${one}</button>`)}</span></li>`)}</ul>`;
}
