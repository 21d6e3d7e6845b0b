// The text in a box, and its translation below; each word of the translation can be pointed at and chosen, and one word
// of an example swapped.

import { examplesOf, flipOf } from "../common/flips.js";
import { inLanguage, isRightToLeft, language, sourcesOf, targetsOf } from "../common/languages.js";
import { changed, html, icon, isNarrow, listed, opener, paint, stretches } from "../common/markup.js";
import { isOld, looking, sideOf, traceOf, waitingFor } from "../common/state.js";
import { UNRECORDED } from "../lab/replay.js";
import { percent, quoted } from "../common/wording.js";

const UNSURE = 0.7;  // chance below which a word has a dotted underline
const NAMED = 3;  // words that a note lists
const WARNINGS = { unchanged: "The translation is the same as the text.",
  too_short: "The translation is far shorter than the text, so some of it is missing." };
const TOO_LITTLE = "The model cannot read any word of this text, so the text comes back unchanged.";

// The parts of the section, each painted separately, so that the text field survives.  Behind the field a mirror draws
// the same letters with their tints and underlines.
export const FRAME = ({ engine, embedded, characters }) => html`<div class="box"><div class="rowed"><span
    class="from-menu"></span><span class="push"></span><span class="examples"></span></div>
    <div class="field"><div class="mirror src" ${engine && !embedded && html`aria-hidden="true"`}></div>${
    engine && !embedded && html`<textarea rows="1" maxlength="${characters}" spellcheck="false"
      placeholder="Type or paste your own sentence"></textarea>`}</div>
    <div class="lane"><span class="own"></span><div class="swap"></div></div><div class="offers"></div></div>
  <div class="gap"></div>
  <div class="out"><div class="line tgt"></div><div class="note" role="status"></div><div class="rowed"><span
    class="to-menu"></span><span class="push"></span><span class="acts"></span></div></div>
  <svg class="ribbons" aria-hidden="true"><g class="threads"></g><g class="joins"></g></svg>`;

export function paintTexts(root, state, settings) {
  const trace = traceOf(state), [from, to] = trace?.languages || [state.source, state.target];
  const part = (name) => root.querySelector(name), field = part("textarea"), isOwn = settings.engine && !settings.embedded;
  const menu = (id, side, label) => !settings.models.length ? html`<span class="tool lang">${label}</span>`
    : opener(state, id, html`${label} ${icon("down")}`, html`class="tool lang" aria-label="${side}: ${label}"`);
  const shown = language(from, "Detect language"), examples = examplesOf(state, settings);
  paint(part(".from-menu"), menu("from", "From", shown));
  paint(part(".to-menu"), menu("to", "To", language(to, "Language")));
  paint(part(".examples"), isOwn && html`${examples.length > 0 && opener(state, "examples", html`Examples ${
    icon("down")}`, html`class="tool"`)}${state.text && html`<button class="tool" data-do="clear" data-k="clear"
    aria-label="Clear the text">${icon("close")}</button>`}`);
  for (const [name, code] of [[".mirror", from], ["textarea", from], [".tgt", to]]) {
    const dir = isRightToLeft(code) ? "rtl" : "auto";
    if (part(name)) Object.assign(part(name), { lang: code || "", dir });
  }
  if (field) {
    field.setAttribute("aria-label", `${from ? language(from) : "Source"} text`);
    if (state.draft === null && field.value !== state.text) field.value = state.text;
  }
  paint(part(".mirror"), source(state));
  paint(part(".tgt"), target(state));
  part(".tgt").setAttribute("aria-busy", state.busy === "translating");
  root.classList.toggle("working", state.busy === "translating");
  paint(part(".note"), note(state, from, settings));
  paint(part(".own"), isOwn && state.text && html`<button class="tool" data-do="edit" data-k="edit">${icon("pen")}Type
    your own</button>`);
  swap(part(".swap"), state, settings);
  paint(part(".offers"), isOwn && !textOf(state) && examples.length > 0 && html`<span class="second">Or try
    one</span>${examples.map(({ before, options: [own], after }) => html`<button class="chip" data-example="pair"
    data-value="${before + own + after}" data-k="try-${own}">${before}<b>${own}</b>${after}</button>`)}`);
  paint(part(".acts"), actions(state, settings));
}

// What is in the field, or will be.
const textOf = ({ draft, text }) => draft ?? text;

function actions(state, settings) {
  const off = traceOf(state) ? "" : html`disabled`;
  const tool = (id, name, label, more) => html`<button class="tool" data-do="${id}" data-k="${id}" ${more}>${
    icon(name)}<span>${label}</span></button>`;
  const copy = tool("copy", "copy", "Copy", html`aria-label="Copy the translation" ${off}`);
  if (!settings.engine || settings.embedded) return copy;
  return html`${opener(state, "more", html`${icon("more")}<span>More</span>`, html`class="tool"`)}${copy}<button
    class="tool solid" data-do="share" data-k="share" ${off}>${icon("share")}<span>Share</span></button>`;
}

// --- the text

function source(state) {
  const text = textOf(state), trace = traceOf(state), read = state.traces.map((one) => one.source);
  const end = text.endsWith("\n") ? "\u200b" : "";  // a last line without letters has its height too
  if (!trace || !text || isOther(state)) return html`${text || "\u200b"}${end}`;
  const unknown = new Set(lowered(state.reply?.translation?.unknown_words)), omitted = new Set(trace.omitted.map(({ word }) => word));
  return html`${parts(state, text, read, (own) => stretches(own.source, own.words("source"), (word, one) =>
    wordSpan(state, "source", one, omitted.has(one.word) || isIn(unknown, one))), (one) => one)}${end}`;
}

const lowered = (words) => (words || []).map((one) => one.toLocaleLowerCase());

// The words of the best translation that neither the training text nor the source has.
const inventedWords = ({ reply, alternative }) => alternative ? []
  : (reply?.translation?.doubts || []).filter(({ kind }) => kind === "invented_word").map(({ word }) => word);

const isIn = (lowered, { text }) => lowered.has(text.toLocaleLowerCase());
const inventedSet = (state) => new Set(lowered(inventedWords(state)));
const isUnsure = (trace, one, invented) => trace.chance(one) < UNSURE && !isIn(invented, one);

// Whether the page still shows an older text than the one in the field.
export const isOther = (state) => (state.draft !== null && state.draft !== state.text)
  || (isOld(state) && state.traces.map((one) => one.source).join(" ") !== state.text);

// The swap of an example's word: both words as a radio group below it.
function swap(place, state, settings) {
  const trace = traceOf(state), flip = trace && state.traces.length === 1 && state.moment === null && settings.engine
    && !settings.embedded && textOf(state) === state.text ? flipOf(settings, state.text) : null;
  paint(place, flip && html`<span class="second" id="s2s-swap">Change one word</span><div class="seg"
    role="radiogroup" aria-labelledby="s2s-swap"><span class="thumb"></span>${flip.options.map((word) => html`<button
    role="radio" data-swap="${word}" data-k="swap-${word}">${word}</button>`)}</div>`);
  place.classList.toggle("call", Boolean(flip) && !state.swapped);
  place.querySelectorAll("button").forEach((one) => {
    const isOn = one.dataset.swap === flip.own;
    one.setAttribute("aria-checked", isOn);
    one.tabIndex = isOn ? 0 : -1;
  });
}

// Puts the swap under its word, and the mark under the word in use: after the layout.
export function placeSwap(root, state, settings) {
  const seg = root.querySelector(".swap .seg"), lane = root.querySelector(".lane").getBoundingClientRect();
  if (!seg) return;
  const { own } = flipOf(settings, state.text);
  slideThumb(seg);
  const [word] = [...root.querySelectorAll(".mirror .w")].filter((one) => one.textContent === own.split(" ")[0]);
  const swap = seg.parentElement, least = root.querySelector(".own").offsetWidth + 14;
  if (!word || isNarrow()) return swap.style.removeProperty("left");
  const { left, width } = word.getBoundingClientRect(), middle = left + width / 2 - lane.left;
  const wanted = middle - seg.offsetLeft - seg.offsetWidth / 2;
  swap.style.left = `${Math.max(least, Math.min(wanted, lane.width - swap.offsetWidth - 8))}px`;
}
function slideThumb(seg) {
  const thumb = seg.querySelector(".thumb"), on = seg.querySelector("[aria-checked=true]");
  if (on) Object.assign(thumb.style, { width: `${on.offsetWidth}px`, transform: `translateX(${on.offsetLeft}px)` });
}

// --- the translation

function target(state) {
  const trace = traceOf(state), text = state.reply?.translation?.text || "";
  if (!trace || (isOther(state) && state.busy === "looking")) {
    return text ? html`${text}` : html`<span class="soft">${state.error || state.busy ? "…" : "Your translation"}</span>`;
  }
  const invented = inventedSet(state);
  return parts(state, text, state.traces.map((one) => one.target), (own) =>
    stretches(own.target, own.words("target"), (word, one) =>
      wordSpan(state, "target", one, isIn(invented, one), isUnsure(own, one, invented))),
  (one, i) => html`<button class="part" data-part="${i}" data-k="part-${i}" aria-label="Show sentence ${i + 1}">${
    one}</button>`);
}

// The parts of a text: the one shown drawn by `draw`, the others by `other`; between them what no model read, such as
// an emoji.
function parts(state, text, texts, draw, other) {
  const found = [], drawn = ({ i }) => i === state.part ? draw(state.traces[i]) : other(texts[i], i);
  for (const [i, one] of texts.entries()) {
    const start = text.indexOf(one, found.at(-1)?.end ?? 0);
    found.push({ start, end: start + one.length, i });
  }
  if (found.some(({ start }) => start < 0)) return listed(found, drawn, " ");
  return stretches(text.replace(/[\t\r]/g, " "), found, (_, one) => drawn(one));
}

function wordSpan(state, side, { text, pieces, start, word }, isDoubted, unsure) {
  const chosen = side === "target" && pieces.includes(state.word), classes = ["w"];
  if (isDoubted) classes.push("unseen");
  if (unsure) classes.push("unsure");
  if (state.changed[side]?.includes(start)) classes.push("new");
  const control = side === "target" && html`role="button" tabindex="${chosen ? 0 : -1}" data-k="target-${pieces[0]}" ${
    chosen && html`aria-haspopup="menu" title="Other possible words"`}`;
  return html`<span class="${classes.join(" ")}" data-side="${side}" data-piece="${pieces[0]}" data-number="${word}"
    ${control}>${text}</span>`;
}

// --- what is to be said of this translation, in the line below it

function note(state, from, settings) {
  const chip = (id, label) => html`<button class="chip" data-do="${id}" data-k="${id}">${label}</button>`;
  if (state.error) return html`${icon("warning")}<span>${state.error}</span>${
    state.error === UNRECORDED ? "" : chip("again", "Try again")}`;
  if (isOld(state)) return state.waited && html`<span class="soft">${waitingFor(state, settings)}</span>${chip("cancel", "Cancel")}`;
  if (!traceOf(state)) return state.text.trim() && !state.busy && TOO_LITTLE;
  const said = notes(state, from, settings), many = state.traces.length;
  return html`${String(said) && html`<span>${said}</span>`}${many > 1 && html`<span class="soft">Sentence ${state.part + 1} of ${many} is shown. Select
    another to see it.</span>`}${keyOf(state)}`;
}

// What the underlines in the translation mean, of those that are there.
function keyOf(state) {
  const trace = traceOf(state), invented = inventedSet(state);
  return trace.words("target").some((one) => isUnsure(trace, one, invented)) && html`<span class="soft"><span class="unsure-key">Dotted</span>: a chance below ${
    percent(UNSURE)}</span>`;
}

function notes(state, from, settings) {
  const { unknown_words: unknown, hypotheses, other_language: other, warnings } = state.reply?.translation || {};
  const trace = traceOf(state), said = [];
  if (state.forced) {
    return html`Forced: <b ${inLanguage(state.target)}>${state.forced}</b>
      <button class="chip" data-do="unforce" data-k="unforce">Undo</button>`;
  }
  if (hypotheses?.[state.alternative]?.finished === false) return "The translation stops here, at the token limit.";
  if (other) return otherLanguage(other, from, hypotheses?.length, settings);
  if (!state.alternative) {
    said.push(...(warnings || []).filter((one) => WARNINGS[one]).map((one) => html`<b class="warn">${WARNINGS[one]}</b> `));
  }
  const alike = (one, other) => one.toLowerCase() === other.toLowerCase();
  const once = (words) => words.filter((one, i, all) => all.findIndex((other) => alike(one, other)) === i);
  const unseen = once(unknown || []), invented = once(inventedWords(state));
  const named = (words, what = () => "", code = from) => html`${listed(words.slice(0, NAMED), (one) => quoted(one, code))}${
    words.length > NAMED ? ` and ${words.length - NAMED} more${what(words.length - NAMED)}` : ""}`;
  const standIns = trace && !isOther(state) ? changed(trace.source, trace.record.source_text) : [];
  if (unseen.length) {
    const guess = unseen.length > 1 ? "Their translations are guesses." : "Its translation is a guess.";
    said.push(html`The model never saw ${named(unseen, (n) => n > 1 ? " words" : " word")}. ${guess} `);
  }
  if (standIns.length) {
    const { source_text: read } = trace.record, same = trace.source.toLowerCase() === read.toLowerCase();
    const isNew = isAbsent(trace.source), texts = standIns.filter(({ start, end }) => isNew(read.slice(start, end)))
      .reduce((all, { start, end }) => all.at(-1)?.end >= start - 1
        ? [...all.slice(0, -1), { ...all.at(-1), end }] : [...all, { start, end }], []);
    const words = texts.map(({ start, end }) => read.slice(start, end));
    if (words.length) said.push(html`The model read ${named(words)} instead of some of the text. `);
    else if (same) said.push("The model read the capitals as small letters. ");
  }
  if (!said.length) said.push(otherModel(state, trace, settings));
  const omitted = once(trace.omitted.filter((one) => !isIn(new Set(lowered(unseen)), one)).map(({ text }) => text));
  if (omitted.length) said.push(html` ${named(omitted)} may be missing: erasing ${
    omitted.length > 1 ? "any of them" : "it"} makes the translation no less probable. `);
  if (invented.length) said.push(html` ${named(invented, undefined, state.target)} may not ${
    invented.length > 1 ? "be words" : "be a word"}: neither the training text nor your text has ${
    invented.length > 1 ? "them" : "it"}. `);
  return html`${said}`;
}

// Whether a word is not one of the text, in other capitals or not.
const isAbsent = (text) => (word) => /[\p{L}\p{N}]/u.test(word) && !text.toLowerCase().includes(word.toLowerCase());

// That an own text has another model than the first example, whose heads the reader may expect.
function otherModel({ model: chosen }, { source, record: { model }, languages: [from, to] }, settings) {
  const { models, exampleModel } = settings, example = models.find(({ name }) => name === exampleModel);
  const isExpected = chosen || model === exampleModel || flipOf(settings, source);
  if (isExpected || !example || !targetsOf([example], from).includes(to)) return "";
  return html`<b>${model}</b> translated this text. The first example is by <b>${exampleModel}</b>. <button class="chip"
    data-do="model" data-value="${exampleModel}" data-k="example-model">Use ${exampleModel}</button>`;
}

// That the text is in another language; with one press to a model that reads it, if one is here.
function otherLanguage(code, from, isTranslated, { models }) {
  const own = language(from, from), seems = code === "und" ? html`does not seem to be ${own}`
    : html`seems to be ${language(code)}`;
  return html`<b class="warn">This text ${seems}.</b> It was read as ${own}${
    isTranslated ? ", so its translation is a guess" : ""}. ${sourcesOf(models).includes(code) && html`<button class="chip"
    data-do="source" data-value="${code}" data-k="as-${code}">Translate from ${language(code)}</button>`}`;
}

// --- what changes while the pointer moves: which words are marked

const SEEN = 0.12;  // share from which a word is marked

// The words that the chosen head joins to the looking word.
export function joins(state) {
  const trace = traceOf(state), piece = looking(state), { head } = state;
  const side = head.kind === "decoder" ? "target" : "source", tone = trace.tone(head, piece);
  return trace.top(head, piece, 3).filter(([column, share]) => share >= SEEN && column.word !== null)
    .map(([column, share]) => ({ share, side, column, tone }));
}

export const spanOf = (root, side, number) => root.querySelector(`.w[data-side=${side}][data-number="${number}"]`);

export function mark(root, state, found) {
  const trace = traceOf(state), side = sideOf(state), word = trace.unitAt(side, looking(state));
  const hovered = state.hover?.side ? trace.unitAt(state.hover.side, state.hover.piece) : null;
  for (const span of root.querySelectorAll(".w")) {
    span.classList.remove("sel", "hov");
    for (const name of ["data-tone", "style", "aria-pressed"]) span.removeAttribute(name);
  }
  const chosen = word && spanOf(root, side, word.word);
  chosen?.classList.add("sel");
  chosen?.setAttribute("aria-pressed", "true");
  if (hovered) spanOf(root, state.hover.side, hovered.word)?.classList.add("hov");
  for (const one of [...found].reverse()) {
    const span = spanOf(root, one.side, one.column.word);
    if (!span || span === chosen) continue;
    span.dataset.tone = one.tone;
    span.style.setProperty("--a", 0.35 + 0.65 * one.share);
  }
  return chosen;
}
