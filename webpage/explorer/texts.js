// The text and its translation, one above the other; each word can be pointed at, chosen and, in an example, swapped.

import { flipOf } from "../common/flips.js";
import { inLanguage, isRightToLeft, language, targetsOf, withArticle } from "../common/languages.js";
import { changed, html, icon, listed, opener, paint, stretches, tipped } from "../common/markup.js";
import { looking, sideOf, traceOf } from "../common/state.js";
import { hasHeads } from "../common/trace.js";
import { meaning } from "./meaning.js";
import { uploadTool } from "./upload.js";
import { count, percent, quoted } from "../common/wording.js";

const UNSURE = 0.7;  // chance below which a word has a dotted underline
const NAMED = 3;  // words that a note lists
const WARNINGS = { unchanged: "The translation is the same as the text.",
  too_short: "The translation is far shorter than the text, so some of it is missing." };

// The parts of the section, each painted separately, so that the text field survives.
export const FRAME = html`<span class="from-menu"></span><div class="line src"></div>
  <div class="between second"></div><span class="to-menu"></span><div class="line tgt"></div>
  <svg class="ribbons" aria-hidden="true"><g class="threads"></g><g class="joins"></g></svg>
  <div class="pills" aria-hidden="true"></div><div class="under second"><p class="then"></p><p class="meaning"></p><p
  class="key"></p></div>
  <div class="acts"></div>`;

export function paintTexts(root, state, settings) {
  const trace = traceOf(state), [from, to] = trace?.languages || [state.source, state.target];
  const part = (name) => root.querySelector(name);
  const menu = (id, side, label) => !settings.models.length ? html`<span class="second lang">${label}</span>`
    : opener(state, id, html`${label} ${icon("down")}`, html`class="tool second lang" aria-label="${side}: ${label}"`);
  paint(part(".from-menu"), menu("from", "From", language(from, "Detect language")));
  paint(part(".to-menu"), menu("to", "To", language(to, "Language")));
  for (const [line, code] of [[".src", from], [".tgt", to]]) {
    Object.assign(part(line), { lang: code || "", dir: isRightToLeft(code) ? "rtl" : "auto" });
  }
  if (!state.editing) paint(part(".src"), source(state, settings));
  else if (!part(".field")) {
    paint(part(".src"), field(state, from, settings));
    part(".field").focus();
    part(".field").select();
  }
  paint(part(".between"), state.moment === null ? "" : html`<span>The model’s translation after ${
    count(state.replay.moments[state.moment].step)} training steps:</span>`);
  paint(part(".then"), html`${notes(state, from, settings)}`);
  paint(part(".tgt"), target(state));
  part(".tgt").setAttribute("aria-busy", state.busy === "translating");
  root.classList.toggle("working", state.busy === "translating");
  paint(part(".acts"), actions(state, settings));
  const settled = trace && !state.editing && state.moment === null && !isNew(state);
  paint(part(".meaning"), settled ? meaning(trace, settings, state.twin) : "");
  paint(part(".key"), html`${keyOf(root).map((one) => html`<span>${one}</span>`)}`);
}

// What the underlines in the texts mean, of those that are there.
function keyOf(root) {
  const kinds = [["unsure", "Dotted", html`a chance below ${percent(UNSURE)}`],
    ["unseen", "Dashed", "not in the training text"], ["wrong", "Wavy", "differs from the final translation"]];
  return kinds.filter(([name]) => root.querySelector(`.line .${name}`))
    .map(([name, line, what]) => html`<span class="${name}-key">${line}</span>: ${what}`);
}

function actions(state, settings) {
  const copy = action("copy", "copy", "Copy", "Copy the translation");
  if (!settings.engine || settings.embedded) return copy;
  return html`${action("edit", "pen", "Edit", "Type your own sentence")}
    ${opener(state, "alternatives", html`${icon("list")}<span>Alternatives</span>`)}
    ${action("share", "link", html`Share<span class="wide"> link</span>`,
      "Copy a link that opens this sentence, word and head")}
    ${copy}${uploadTool(state, settings)}`;
}
const action = (id, name, label, tip) => html`<button class="tool second" data-do="${id}" data-k="${id}" ${
  tipped(tip)}>${icon(name)}<span>${label}</span></button>`;

const field = (state, from, settings) => html`<textarea class="field" rows="1"
  aria-label="${language(from, "Source")} text" maxlength="${settings.characters}" placeholder="${invitation(from)}"
  spellcheck="false" data-k="field">${state.draft ?? state.text}</textarea>`;
const invitation = (code) => `Type ${code ? withArticle(language(code)) : "a"} sentence`;

function source(state, settings) {
  if (isNew(state)) return html`${state.text}`;
  if (!traceOf(state)) return html`<span class="soft">${state.text || invitation(state.source || "en")}</span>`;
  const unknown = new Set((state.reply?.translation?.unknown_words || []).map((one) => one.toLocaleLowerCase()));
  return parts(state, state.text, (one) => one.source, (own) => {
    const flip = state.traces.length === 1 ? flipOf(settings, own.source) : null;
    return spans(own.source, own.words("source"), (word) => wordSpan(state, "source", word, unknown), flip);
  });
}

// Whether the page still shows an older text.
const isNew = ({ busy, traces, text }) => (busy === "translating" || busy === "looking")
  && traces.map((one) => one.source).join(" ") !== text;

function target(state) {
  const trace = traceOf(state);
  if (!trace || (isNew(state) && state.busy === "looking")) return html`${state.reply?.translation?.text || ""}`;
  if (state.moment !== null) return written(state);
  return parts(state, state.reply?.translation?.text || "", (one) => one.target, (own) =>
    spans(own.target, own.words("target"), (word) => wordSpan(state, "target", word, null, own)));
}

// The parts of a text, the one shown drawn by `draw`, and between them what no model read, such as an emoji.
function parts(state, text, textOf, draw) {
  const button = (one, i) => html`<button class="part" data-part="${i}" data-k="part-${i}"
    aria-label="Show part ${i + 1}">${textOf(one)}</button>`;
  const found = [], drawn = ({ one, i }) => i === state.part ? draw(one) : button(one, i);
  for (const [i, one] of state.traces.entries()) {
    const start = text.indexOf(textOf(one), found.at(-1)?.end ?? 0);
    found.push({ start, end: start + textOf(one).length, one, i });
  }
  if (found.some(({ start }) => start < 0)) return listed(found, drawn, " ");
  return stretches(text.replace(/[\t\r\n]/g, " "), found, (_, one) => drawn(one));
}

// A text with its words drawn by `draw`; `flip`: the stretch that an example can change, and what it changes to.
function spans(text, words, draw, flip) {
  const isHeld = (one) => flip && one.start >= flip.start && one.end <= flip.end;
  const change = () => {
    const held = html`<span class="held">${listed(words.filter(isHeld), draw, " ")}</span>`;
    const other = html`<button data-example="flip" data-value="${flip.text}" data-k="flip"
      ${tipped(`Use “${flip.other}” instead`)}>${flip.other}</button>`;
    return html`<span class="flip">${flip.first ? [held, other] : [other, held]}</span>`;
  };
  const all = [...words.filter((one) => !isHeld(one)), ...(flip ? [flip] : [])].sort((a, b) => a.start - b.start);
  return stretches(text, all, (_, one) => one === flip ? change() : draw(one));
}

function wordSpan(state, side, { text, pieces, start, word }, unknown, trace) {
  const chosen = pieces.includes(side === "source" ? state.read : state.word), classes = ["w"];
  if (unknown?.has(text.toLocaleLowerCase())) classes.push("unseen");
  if (/['’]$/.test(text)) classes.push("elision");
  if (side === "target" && trace.chance({ pieces }) < UNSURE) classes.push("unsure");
  if (side === "target" && state.changed.includes(start)) classes.push("new");
  return html`<span class="${classes.join(" ")}" role="button" tabindex="${chosen ? 0 : -1}" data-side="${side}"
    data-piece="${pieces[0]}" data-number="${word}" data-k="${side}-${pieces[0]}">${text}</span>`;
}

function notes(state, from, settings) {
  const { unknown_words: unknown, hypotheses, other_language: other, warnings } = state.reply?.translation || {};
  const trace = traceOf(state), said = [];
  if (state.moment !== null) return "";
  if (state.forced) {
    return html`Forced: <b ${inLanguage(state.target)}>${state.forced}</b>
      <button class="chip" data-do="unforce" data-k="unforce">Undo</button>`;
  }
  if (state.busy === "translating") return "";  // these would be of the text before
  if (hypotheses?.[state.alternative]?.finished === false) return "The translation stops here, at the token limit.";
  if (other) return otherLanguage(other, from, hypotheses?.length);
  if (!state.alternative) {
    said.push(...(warnings || []).filter((one) => WARNINGS[one]).map((one) => html`<b class="warn">${WARNINGS[one]}</b> `));
  }
  const alike = (one, other) => one.toLowerCase() === other.toLowerCase();
  const unseen = (unknown || []).filter((one, i, all) => all.findIndex((other) => alike(one, other)) === i);
  const named = (words, what = () => "") => html`${listed(words.slice(0, NAMED), (one) => quoted(one, from))}${
    words.length > NAMED ? ` and ${words.length - NAMED} more${what(words.length - NAMED)}` : ""}`;
  const standIns = trace && !isNew(state) ? changed(trace.source, trace.record.source_text) : [];
  if (unseen.length) {
    const guess = unseen.length > 1 ? "Their translations are guesses." : "Its translation is a guess.";
    said.push(html`The model never saw ${named(unseen, (n) => n > 1 ? " words" : " word")}. ${guess} `);
  }
  if (standIns.length) {
    const { source_text: read } = trace.record, same = trace.source.toLowerCase() === read.toLowerCase();
    const words = standIns.map(({ start, end }) => read.slice(start, end)).filter(isOther(trace.source));
    if (words.length) said.push(html`The model read ${named(words)} in place of protected text. `);
    else if (same) said.push("The model read the capitals as small letters. ");
  }
  if (trace && !isNew(state) && !said.length) said.push(otherModel(state, trace, settings));
  return html`${said}`;
}

// Whether a word is not one of the text, in other capitals or not.
const isOther = (text) => (word) => /[\p{L}\p{N}]/u.test(word) && !text.toLowerCase().includes(word.toLowerCase());

// That the text has another model than the example, of which the reader may expect the same heads.
function otherModel({ model: chosen }, { record: { model }, languages: [from, to] }, { models, exampleModel }) {
  const example = models.find(({ name }) => name === exampleModel);
  if (chosen || !example || model === exampleModel || !targetsOf([example], from).includes(to)) return "";
  return html`<b>${model}</b> translated this text. The examples use <b>${exampleModel}</b>. <button class="chip"
    data-do="model" data-value="${exampleModel}" data-k="example-model">Use ${exampleModel}</button>`;
}

function otherLanguage(code, from, isTranslated) {
  const own = language(from, from), seems = code === "und" ? html`does not seem to be ${own}`
    : html`seems to be ${language(code)}`;
  return html`<b class="warn">This text ${seems}.</b> It was read as ${own}${
    isTranslated ? ", so its translation is a guess" : ""}.`;
}

// What the model wrote at a moment of its training; words that differ from the final translation are underlined.
function written({ replay, moment, held }) {
  const { target_text: text } = replay.moments[moment].trace;
  if (!text) return html`<span class="soft">(nothing yet)</span>`;
  return stretches(text, changed(held.target, text), (one) => html`<span class="wrong">${one}</span>`);
}

// --- what changes while the pointer moves: which words are marked

// The words joined to the looking word: by the chosen head, then by the other heads that matter for it.
export function joins(state) {
  const trace = traceOf(state), piece = looking(state), { head, view, rows } = state, found = [];
  const put = (one, main) => {
    const choice = main ? { view, unit: "words", rows } : { view: "raw", unit: "words", rows: "predicts" };
    const map = trace.map(one, choice), side = one.kind === "decoder" ? "target" : "source";
    for (const [column, value] of trace.top(one, piece, main ? 3 : 1, choice)) {
      const share = Math.abs(value) / (main ? map.most : 1);
      if (share < (main ? 0.12 : 0.3) || column.word === null) continue;
      const tone = main && !hasHeads(view) ? "blue" : trace.tone(one, piece);
      found.push({ head: one, main, share, value, side, column, tone });
    }
  };
  put(head, true);
  if (view === "raw" && head.kind !== "encoder" && state.moment === null) {
    for (const one of trace.mattering(piece)) if (!same(one, head) && one.kind !== "encoder") put(one, false);
  }
  return found;
}
export const same = (a, b) => a.kind === b.kind && a.layer === b.layer && a.head === b.head;

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
    span.style.setProperty("--a", one.main ? 0.35 + 0.65 * one.share : 0.7);
  }
  return chosen;
}
