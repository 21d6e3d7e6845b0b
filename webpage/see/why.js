// Why the model wrote the chosen word: one sentence, and what the shown head did; in an example for both sentences.

import { RULES } from "../data.js";
import { matters } from "../common/effects.js";
import { flipOf } from "../common/flips.js";
import { inLanguage } from "../common/languages.js";
import { about, html, listed } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { ENDS, nameOf, same } from "../common/trace.js";
import { choices } from "../lab/candidates.js";
import { beforeOf, partnerOf } from "../maps/difference.js";
import { averageOf, capital, chance, chanceRange, direction, duration, elided, percent, placeOf, quoted,
  roleName } from "../common/wording.js";

const GENDERS = { il: "masculine", ils: "masculine", elle: "feminine", elles: "feminine" };
const SURE = 0.25;  // share from which the word-for-word head is offered
const ALSO = 3;  // other possible words

export function why(state, settings) {
  const trace = traceOf(state), [, code] = trace?.languages ?? [];
  if (!trace) {
    return html`<h2>Why this word?</h2><p class="lead soft">Type a sentence. Each word of its translation can then show
      where the model looked while writing it.</p>`;
  }
  const unit = trace.unitAt("target", state.word), word = html`<span class="ww looks" ${inLanguage(code)}>${
    elided(unit.label, 22)}</span>`;
  return html`<h2>Why ${word}?</h2><p class="lead">${lead(state, trace, unit)}</p>${
    table(state, trace, unit, settings)}${offer(state, trace, unit)}${also(trace, unit)}`;
}

// --- the sentence: the first of these that holds

function lead(state, trace, unit) {
  const piece = unit.pieces[0], [, code] = trace.languages, name = quoted(unit.label, code);
  if (trace.record.antecedent && trace.record.antecedent.written === unit.word) return treated(trace);
  if (!trace.effectsKnown) return untested(state, trace);
  const all = trace.effects(piece), mattering = trace.mattering(piece), effect = trace.effect(state.head, piece);
  if (!mattering.length) {
    return html`<span data-says="no-head">No head alone changes ${name}: with any one of the ${all.length} heads off, its
      chance is ${chanceRange(all)}.</span>`;
  }
  if (matters(effect)) {
    return html`<span data-says="this-head">This head matters for ${name}: with it off, ${
      effect.instead ? writesInstead(effect, code) : moved(trace, unit, effect)}.</span>`;
  }
  return html`<span data-says="this-head">This head does not matter for ${name}: with it off, ${
    moved(trace, unit, effect)}.</span>`;
}

// The source pronoun, the noun, and the pronoun written, as the server found them.
function treated(trace) {
  const { antecedent } = trace.record, [from, to] = trace.languages, source = trace.words("source");
  const [pronoun, noun] = [source[antecedent.pronoun].text.toLowerCase(), source[antecedent.noun].text];
  const written = trace.words("target")[antecedent.written].text.toLowerCase();
  return html`<span data-says="antecedent">The model treats ${quoted(pronoun, from)} as the <b ${inLanguage(from)}>${
    noun}</b> and writes ${quoted(written, to)} (${GENDERS[written]}).</span>`;
}

const writesInstead = ({ instead }, code) => instead === ENDS ? ENDS : html`the model writes ${quoted(instead, code)}`;

function moved(trace, unit, effect) {
  const [before, after] = [chance(trace.chance(unit)), chance(effect.chance)];
  return before === after ? `its chance stays ${after}`
    : `its chance ${effect.fall > 0 ? "falls" : "rises"} from ${before} to ${after}`;
}

const untested = (state, trace) => state.busy === "weighing" ? html`<span class="soft pending">Testing each head…</span>`
  : !trace.evidence ? html`<span class="soft">Without a server, no head can be tested here.</span>`
  : html`<span class="soft">The ${trace.heads.length} heads are not tested yet. It takes about ${
    duration(trace.evidence.heads_take)}.</span> <button class="chip" data-do="weigh" data-k="weigh">Test them</button>`;

// --- what the shown head did

const brief = (p) => chance(p).replace("over ", ">").replace("under ", "<");

function table(state, trace, unit, settings) {
  const flip = state.traces.length === 1 && state.moment === null && settings.engine && !settings.embedded
    ? flipOf(settings, trace.source) : null;
  const before = beforeOf(state), { kind } = state.head, [from] = trace.languages;
  const own = { of: trace, unit, isOwn: true, word: flip?.own };
  const other = before && flip && { of: before, unit: partnerOf(trace, before, unit), word: flip.other };
  const sides = !other ? [own] : flip.options[0] === flip.own ? [own, other] : [other, own];
  const invite = flip && !other;
  const heads = flip && html`<thead><tr><td></td>${sides.map(({ word }) => html`<th scope="col" ${inLanguage(from)}>${word}</th>`)}${
    invite && html`<td></td>`}</tr></thead>`;
  const ghost = invite && html`<td class="ghost" rowspan="3"><button data-swap="${flip.other}" data-k="try"><span>Now
    try</span> <b ${inLanguage(from)}>${flip.other}</b></button></td>`;
  const cell = (draw) => (side) => html`<td class="${side.isOwn ? "on" : ""}">${side.unit ? draw(side) : "–"}</td>`;
  const row = (label, draw, more) => html`<tr><th scope="row">${label}</th>${sides.map(cell(draw))}${more}</tr>`;
  const off = html`Chance with this head off ${about(html`Off: the head gives ${averageOf(trace)} instead of its output.
    A head matters if the model then writes another word, or if the chance of the word falls by at least ${
    Math.round(100 * RULES.MATTERS)} percentage points.`)}`;
  return html`<table class="did">${heads}<tbody>${row("Writes", writes, ghost)}${
    row(kind === "decoder" ? "Looked back at" : "Looked at", (side) => looked(state, side))}${
    row(off, (side) => fell(state, side))}</tbody></table>`;
}

const writes = ({ of, unit }) => html`<b ${inLanguage(of.languages[1])}>${elided(unit.label, 18)}</b>`;

function looked({ head, read }, { of, unit }) {
  const row = head.kind === "encoder" ? Math.min(read, of.record.source.length - 1) : unit.pieces[0];
  const [[column, share] = []] = of.top(head, row, 1);
  return column && html`<span
    data-says="looked"><b ${inLanguage(of.codes(head.kind)[1])}>${elided(column.label, 18)}</b> ${percent(share)}</span>`;
}

function fell({ head, busy }, { of, unit, isOwn }) {
  const effect = of.effect(head, unit.pieces[0]), own = brief(of.chance(unit));
  if (!effect) return html`<span class="soft">${isOwn && busy === "weighing" ? "Testing…" : "not tested"}</span>`;
  const after = brief(effect.chance), [, code] = of.languages;
  const said = own === after && !effect.instead ? html`stays <b>${after}</b>` : html`<b>${own} → ${after}</b>`;
  const then = effect.instead && html`, ${effect.instead === ENDS ? ENDS : html`writes ${quoted(effect.instead, code)}`}`;
  const meter = html`<span class="meter" aria-hidden="true"><i style="width:${(100 * effect.chance).toFixed(1)}%"></i></span>`;
  return html`<span class="fall" data-says="head-off-here"><span>${said}${then}</span>${meter}</span>`;
}

// --- another head that matters more, or that goes word for word

function offer(state, trace, unit) {
  const piece = unit.pieces[0], [, code] = trace.languages, [best] = trace.mattering(piece), { head } = state;
  const show = (one) => html`<button class="chip" data-head="${nameOf(one)}" data-k="show-it">Show it</button>`;
  if (!trace.effectsKnown) return "";
  if (best && !same(best, head)) {
    const more = matters(trace.effect(head, piece)) ? "matters more" : "matters";
    return html`<div class="offer"><p data-says="other-head" data-of="${nameOf(best)}">${
      capital(placeOf(best))} (<span class="soft">${direction(best.kind, trace.languages)}</span>) ${more} for ${quoted(unit.label, code)}: with it off alone, ${brief(trace.chance(unit))} → ${
      brief(best.chance)}${best.instead && html`, and ${writesInstead(best, code)}`}.</p>${show(best)}</div>`;
  }
  const usual = trace.wordForWord(piece);
  if (best || !usual || same(usual, head) || trace.share(usual, piece) < SURE) return "";
  const [[column, share]] = trace.top(usual, piece, 1);
  return html`<div class="offer"><p data-says="usual-head">The head <i>${roleName(trace.role(usual))}</i> looked at ${
    quoted(column.label, trace.languages[0])} (${percent(share)}).</p>${show(usual)}</div>`;
}

// Where there is room, what else could have been written, without another press.
function also(trace, unit) {
  const [, code] = trace.languages, others = choices(trace, unit, 1, false).slice(1, 1 + ALSO);
  return others.length > 0 && html`<p class="also second">Also possible: ${listed(others, ({ text, p, whole }) =>
    html`<i ${inLanguage(code)}>${elided(text, 12)}${whole ? "" : "…"}</i> ${chance(p)}`)}</p>`;
}
