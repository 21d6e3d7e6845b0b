// The two texts beside the machine's rows and blocks: what carried the word, and how to read the picture.

import { language } from "../common/languages.js";
import { plain, restOf, signed } from "./machine_figures.js";
import { LOOKED } from "./machine_layout.js";
import { namesOf, runnerUp, writtenWord } from "./machine_names.js";
import { carried, effect, largestParts, leftOut, paragraph, sumsTo } from "./machine_sentences.js";
import { html, segment } from "../common/markup.js";
import { elided, percent } from "../common/wording.js";

const legend = ([source, target]) => [["blue", `taken from the ${language(source, "source")}`],
  ["green", `taken from the ${language(target, "translation")} so far`], ["slate", "added by feed-forward blocks"],
  ["ochre", "the last word so far"], ["against", "counts against the word"],
  ["steer", "a head that steers a later block"], ["looks", `grey: attention over ${percent(LOOKED)}`]];

// `at`: the stage's layout; on a phone it is a card.
export function carriedPanel(shown, at = null) {
  const { trace, data, f, error, step } = shown, { x, y, width } = at?.carried ?? {};
  const word = html`<b class="m-big">${elided(namesOf(trace, "target")[step], 16)}</b>`;
  const title = f?.mode === "over" ? html`Why ${word} and not ${runnerUp(data, trace)}`
    : html`What adds to the score of ${word}`;
  const content = error ? html`<p>${error}</p>` : !f ? html`<p class="soft">Computing…</p>`
    : withSums(shown, html`${carried(f, data, trace)} ${effect(f, data, trace)}`, at ? at.height - y : Infinity);
  const place = at && html`style="left:${x}px;top:${Math.round(y)}px;width:${width}px"`;
  return html`<section class="${at ? "m-panel" : "card"} m-carried ${at?.isNarrow && "narrow"}"
    data-area="carried" aria-live="polite" ${place}><h2>${title}</h2>${content}</section>`;
}

// The sentence, and as many parts as have room under it, up to four.
function withSums(shown, sentence, room) {
  const letters = String(sentence).replace(/<[^>]*>/g, "").replace(/\s+/g, " ").length;
  const isShort = innerHeight < 820, lines = Math.ceil(letters / 40);
  const [line, part, rest] = isShort ? [18, 29, 105] : [20, 34, 134];
  const count = Math.floor((room - rest - lines * line) / part);
  return html`${paragraph("carried", sentence)}${sumsUp(shown, Math.max(2, Math.min(4, count)))}`;
}

function sumsUp({ trace, data, f }, count) {
  const parts = largestParts(f, data, trace, count), most = Math.max(...parts.map((one) => Math.abs(one.value)), 0.1);
  const rest = restOf(f.total, parts.map((one) => one.value));
  const [word, runner] = [writtenWord(trace, data.step), runnerUp(data, trace)];
  const bar = (value, tone) => html`<i class="bar" style="width:${
    Math.round(Math.abs(value) / most * 64)}px;background:var(--${value < 0 ? "orange" : tone}-f)"></i>`;
  const item = ({ value, key, tone, name, about, open }) => {
    const content = html`<span>${name}<small>${about}</small></span>${bar(value, tone)}<b>${signed(value)}</b>`;
    return html`<li>${open ? html`<button data-do="machine_open" data-value="${open.kind}.${open.layer}"
      data-key="${key}" data-k="part-${key}">${content}</button>`
      : html`<span class="one" data-key="${key}">${content}</span>`}</li>`;
  };
  return html`${segment("What to count", "do", "machine_mode", [["for", html`score of ${word}`],
    ["over", html`lead over ${runner}`]], f.mode)}<ol>${parts.map(item)}<li><span class="one"><span
    class="soft">all others</span><i></i><span>${signed(rest)}</span></span></li></ol><p class="m-sum"
    data-says="machine-sum"><span>${f.mode === "for" ? html`score of ${word}` : html`lead over ${runner}`} <span
    class="soft">${f.mode === "for" ? "(logit)" : "(margin)"}</span></span> <b>${plain(f.total)}</b></p>`;
}

export function readingPanel({ trace, data, f }, at, rows) {
  const { x, y } = at.reading, width = at.width - x - 12;
  const used = (tone) => tone !== "steer" || data?.steers;
  const entry = ([tone, text]) => html`<li><i class="m-key ${tone}"></i>${text}</li>`;
  return html`<aside class="m-panel m-reading" style="left:${x}px;top:${y}px;width:${width}px"><h2>A thicker path
    adds more</h2><ul>${legend(trace.languages).filter(([tone]) => used(tone)).map(entry)}</ul>${
    f && paragraph("sums", sumsTo(f, data, trace))}${leftOut(rows, trace, f).map((one) => paragraph("left-out", one))}${
    !at.reading.isSmall && html`<p>Point at a path to read it. Select a block to look inside.</p>`}</aside>`;
}
