// Two models on one sentence (`/v1/compare`): both translations with the chances of their words, what changed where,
// and the maps of matched heads side by side.

import { answered, scrollable, shown } from "../common/tool_parts.js";
import { inLanguage, translates } from "../common/languages.js";
import { html, isNarrow, listed, segment, stretches, unshared } from "../common/markup.js";
import { smallMaps } from "../common/small_map.js";
import { traceOf } from "../common/state.js";
import { KINDS, Trace, nameOf, same } from "../common/trace.js";
import { TECHNICAL, chance, count, direction, headName, percent, placeOf, quoted, reading,
  times } from "../common/wording.js";

const NAMED = 3;  // words that a sentence lists
const MOST_TIMES = 1e6;  // as probable: more is said as over that
const LARGEST = 26;  // pixels of a cell
const LIST = 380;  // pixels of the list of heads and of what is around it, as in lab.css
const MARKS = "(special tokens)";

// --- which models

// The other models that translate between the languages of what is shown.
export function rivals(state, { models, comparison }) {
  const trace = traceOf(state), own = trace?.record.model ?? state.model;
  if (comparison) return comparison.models.filter((_, i, all) => i !== all.indexOf(own));
  const [source, target] = trace?.languages ?? [state.source, state.target];
  const others = models.filter((one) => one.name !== own && translates(one, source, target));
  return trace ? others.map(({ name }) => name) : [];
}

// The model that the shown one is compared with, or null.
export const comparedWith = (state, settings) =>
  state.moment === null && rivals(state, settings).includes(state.against) ? state.against : null;

// --- the card

export function twoModels(context, trace) {
  const { state, settings } = context, against = comparedWith(state, settings), { comparison } = settings;
  const { prefix, alternatives, ...body } = context.asTranslated(trace);
  const answer = comparison ?? answered(context, "compare", { ...body, against });
  return html`<div class="hd"><h2>${(comparison?.models ?? [trace.record.model, against]).join(" and ")}</h2><button
    class="chip" data-do="inside" data-value="${against}" data-k="inside">Look inside ${against}</button></div>${shown(answer, (found) => drawn(context, found))}`;
}

function drawn({ state, root }, found) {
  const { models, measured, comparisons } = found;
  const made = found.made ||= comparisons.map((one) =>
    inChances({ ...one, traces: one.traces.map((record, i) => new Trace(record, measured[i])) }));
  const chosen = state.lab.of === "second" && made.length > 1 ? 1 : 0, one = made[chosen];
  const choice = made.length > 1 && html`<p class="second of">Compare both models on the translation by ${segment(
    "Whose translation", "note", "of", [["first", models[0]], ["second", models[1]]], chosen ? "second" : "first")}</p>`;
  return html`${texts(found, made)}<p class="fine">${chancesNote(models, one)}</p><p class="verdict">${wordsSentence(models, made)}</p>
    ${choice}<p class="verdict">${chanceSentence(models, one)} ${wholeSentence(models, one)}</p>
    <h2>Where their heads look</h2><p class="verdict">${whereSentence(models, one)}</p><p class="fine">${HEADS}</p>
    ${one.heads.length ? pairs(state, root, models, one) : ""}`;
}

// What the chances are of; a model without a calibration has only its own.
function chancesNote(models, { traces }) {
  const own = models.filter((_, i) => !traces[i].record.calibrated);
  return html`Below each word are its chances in the two models, given the words before it.${
    own.length > 0 && html` The chances of ${listed(own, (name) => name, " and ")} are not calibrated.`}`;
}
const HEADS = `The order of the heads in a layer has no meaning. Each head is matched with the head of the other model
  whose map of this translation is most similar. One sentence is little evidence about a head.`;

// The chances of the words, and of the whole, as the page shows them: calibrated.
function inChances(one) {
  const chanceIn = (i, number) => one.traces[i].chance(one.traces[i].words("target").find(({ word }) => word === number));
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  return { ...one, log_probs: one.traces.map(({ shown, record }) => sum(shown.log_probs.slice(record.given))),
    words: one.words.map((word) => ({ ...word, first: chanceIn(0, word.number), second: chanceIn(1, word.number) })) };
}

// --- the two translations, with the chances of their words

function texts({ models, unknown_words: unknown }, made) {
  const unseen = (i) => unknown[i]?.length ? html` <span data-says="versus-unseen">${models[i]} never saw ${
    named(unknown[i], (word) => quoted(word, made[0].traces[i].languages[0]))}.</span>` : "";
  if (made.length === 1) return html`${line("Both write", made[0], 0, [])}<p class="fine">${unseen(0)}${unseen(1)}</p>`;
  return models.map((name, i) => html`${line(html`<b>${name}</b>`, made[i], i, newWords(made, i))}<p class="fine">${
    unseen(i)}</p>`);
}

// The translation by model `i`; words of `own` are marked, and below each word its chance for either model.
function line(who, { traces, words }, i, own) {
  const trace = traces[i], [, code] = trace.languages, known = new Map(words.map((word) => [word.number, word]));
  const stack = (text, unit) => {
    const { first, second } = known.get(unit.word) ?? {}, said = (p) => p === undefined ? "–" : chance(p);
    return html`<span class="stack"><span ${inLanguage(code)}>${own.includes(unit) ? html`<mark>${text}</mark>` : text
      }</span><small>${said(first)}</small><small>${said(second)}</small></span>`;
  };
  return html`<div class="wrote"><div class="stack who"><span>${who}</span>${traces.map(({ record }) =>
    html`<small>${record.model}</small>`)}</div><p>${stretches(trace.target, trace.words("target"), stack)}</p></div>`;
}

// The first words, and how many more there are.
const named = (words, wordOf) => html`${listed(words.slice(0, NAMED), wordOf)}${
  words.length > NAMED ? ` and ${words.length - NAMED} more` : ""}`;
const wordsOf = ({ traces }, i) => traces[i].words("target");

// The words of the translation by model `i` that the other one lacks in that place.
function newWords(made, i) {
  const [other, own] = [wordsOf(made[1 - i], 1 - i), wordsOf(made[i], i)], textOf = ({ text }) => text;
  return unshared(other.map(textOf), own.map(textOf)).map((j) => own[j]);
}

// --- sentences

function wordsSentence(models, made) {
  if (made.length === 1) return html`<span data-says="versus-same">Both write the same translation.</span>`;
  const [, code] = made[0].traces[0].languages, own = models.map((_, i) => newWords(made, i));
  const others = (words, i) => html`${models[i]} has ${words.length || "no"} other ${
    words.length === 1 ? "word" : "words"}${words.length ? html` (${
    named(words, ({ text }) => quoted(text, code))})` : ""}`;
  return html`<span data-says="versus-words">Both write the same ${
    wordsOf(made[0], 0).length - own[0].length} words and punctuation marks in the same order. ${
    listed(own.map(others), (one) => one, ". ")}.</span>`;
}

function chanceSentence(models, { words, traces: [{ languages: [, code] }] }) {
  const apart = ({ first, second }) => Math.abs(first - second);
  const [most] = [...words].sort((a, b) => apart(b) - apart(a));
  if (!most) return "";
  if (apart(most) < 0.01) {
    return html`<span data-says="versus-chance">For every word, the two chances differ by less than 1 percentage
      point.</span>`;
  }
  return html`<span data-says="versus-chance">The models differ most on ${quoted(most.word, code)}: its chance is <b>${
    chance(most.first)}</b> for ${models[0]} and <b>${chance(most.second)}</b> for ${models[1]}.</span>`;
}

function wholeSentence(models, { log_probs: [first, second] }) {
  const fall = first - second, like = Math.abs(fall) < 0.14 ? "as" : "than";
  const said = Math.abs(fall) < Math.log(MOST_TIMES) ? times(fall)
    : html`<b>over ${count(MOST_TIMES)}×</b> ${fall > 0 ? "less" : "more"} likely`;
  return html`<span data-says="versus-whole">The whole translation is ${said} for ${models[1]} ${like} for ${
    models[0]}.</span>`;
}

// Which kind of attention differs most and least, and how many heads have no partner.
function whereSentence(models, { heads, alone }) {
  const mean = (all) => all.reduce((sum, one) => sum + one.distance, 0) / all.length;
  const found = KINDS.map((kind) => [kind, heads.filter(({ first }) => first[0] === kind)]).filter(([, all]) => all.length)
    .map(([kind, all]) => [TECHNICAL[kind], mean(all)]).sort((a, b) => b[1] - a[1]);
  if (!found.length) return html`<span data-says="versus-where">No heads of the two models match.</span>`;
  const [[most, at], [least, low]] = [found[0], found.at(-1)];
  const left = models.map((name, i) => [name, alone.filter(([which]) => which === i).length]).filter(([, n]) => n);
  return html`<span data-says="versus-where">${heads.length} pairs of heads are matched. Pairs of ${
    most} differ most: on average, ${percent(at)} of their attention goes to different words.${found.length > 1
    && html` Pairs of ${least} differ least (${percent(low)}).`}</span>${left.length
    ? html` <span data-says="versus-alone">Without a match: ${listed(left, ([name, n]) => html`${n} ${
    n === 1 ? "head" : "heads"} of ${name}`)}.</span>` : ""}`;
}

function pairSentence(models, { distance, row, first: [kind] }, [source, target]) {
  if (distance < 0.005) return html`<span data-says="versus-pair">The two maps differ by less than 1%.</span>`;
  const [rowCode, columnCode] = [kind === "encoder" ? source : target, kind === "decoder" ? target : source];
  const look = ([word, share], name) => html`The head of ${name} looks most at ${word === MARKS ? "special tokens"
    : quoted(word, columnCode)} (${percent(share)}).`;
  return html`<span data-says="versus-pair"><b>${percent(distance)}</b> of their attention goes to
    different words. They differ most while ${kind === "encoder" ? "reading" : "writing"} ${
    quoted(row.word, rowCode)}. ${look(row.first, models[0])} ${look(row.second, models[1])}</span>`;
}

// --- matched heads

const headAt = ([kind, layer, head]) => ({ kind, layer, head });

function pairs(state, root, models, { heads, traces }) {
  const [trace] = traces, { languages } = trace, own = heads.find(({ first }) => same(headAt(first), state.head));
  const picked = state.pinned && own || heads[0];
  const entry = (one, i) => {
    const [first, second] = [headAt(one.first), headAt(one.second)], name = nameOf(first);
    return html`<button class="tone-slate" data-head="${name}" data-k="pair-${name}" aria-pressed="${one === picked}"><b
      class="rank">${i + 1}</b><span class="nm">${direction(first.kind, languages)}</span><span class="l2"><span
      class="wd">${placeOf(first)} · ${placeOf(second)}</span><span class="out"><b>${percent(one.distance)}</b></span></span></button>`;
  };
  const ones = [picked.first, picked.second].map(headAt), stacked = isNarrow() || root.clientWidth < 1000;
  const room = { width: root.clientWidth - (stacked ? 60 : 96 + LIST), height: 640, largest: LARGEST };
  const maps = traces.map((one, i) => [`${models[i]}: ${headName(ones[i], one)}`, one.map(ones[i])]);
  const drawn = stacked ? maps.map((one) => smallMaps([one], state.theme, room)) : smallMaps(maps, state.theme, room);
  return html`<div class="matched"><div><p class="second heading"><span>${models.join(" · ")}</span><span>different
    attention</span></p><div
    class="story">${heads.map(entry)}</div></div><div><p class="verdict">${
    pairSentence(models, picked, languages)}</p><p class="fine">${
    reading(ones[0].kind, "raw", languages, state.theme === "dark")}</p>${scrollable("Both heads’ maps", drawn)}</div></div>`;
}
