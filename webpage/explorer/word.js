// The chosen word: the heads that matter for it, what else could have been written, which words mattered.

import { RULES } from "../data.js";
import { flipOf } from "../common/flips.js";
import { headRow } from "./heads.js";
import { inLanguage } from "../common/languages.js";
import { about, html, icon, listed, slide, tipped } from "../common/markup.js";
import { matters } from "../common/effects.js";
import { looking, traceOf } from "../common/state.js";
import { same } from "./texts.js";
import { ENDS, bare, hasHeads } from "../common/trace.js";
import { averageOf, chance, chanceRange, duration, elided, nth, oneIn, percent, quoted,
  roleName } from "../common/wording.js";

const SHORT = 7;  // characters of a word that fit beside its place in large type

export function wordPanel(state, settings) {
  const trace = traceOf(state), list = trace.written, [, code] = trace.languages;
  const piece = state.head.kind === "encoder" ? state.word : looking(state);
  const at = Math.max(0, list.findIndex((one) => one.pieces.includes(piece))), unit = list[at];
  const step = (by, key, label, tip, name) => html`<button class="icon"
    data-word="${list[(at + by + list.length) % list.length].pieces[0]}" data-k="${key}" aria-label="${label}"
    ${tipped(tip)}>${icon(name)}</button>`;
  return html`<div class="top"><span class="big ${unit.label.length > SHORT ? "long" : ""}" ${inLanguage(code)}>${
    elided(unit.label, 14)}</span>
    <span class="second">word ${at + 1} of ${list.length}</span>
    <span class="stepper">${step(-1, "back", "Previous word", "Previous word (,)", "left")}${
      step(1, "on", "Next word", "Next word (.)", "right")}</span></div>
    ${heads(state, trace, unit)}
    <h3>Other possible words ${about(chanceTip(trace))}</h3>
    ${candidates(state, trace, unit, settings)}
    ${rests(state, trace, unit, settings)}`;
}

// --- the heads that matter

const headsTip = (trace, unit) => html`“Looked at” shows where a head looked. “Head off” shows what it was needed for:
  each head in turn gives ${averageOf(trace)} instead of its output. The figure is then the chance of the whole word,
  ↓ lower or ↑ higher than with all heads (${chance(trace.chance(unit))}). If the model writes another word, that word
  is shown. A head matters if the model writes another word without it, or if the chance of the word falls by at least
  ${Math.round(100 * RULES.MATTERS)} percentage points.`;

function heads(state, trace, unit) {
  const piece = unit.pieces[0], [, target] = trace.languages;
  const rows = (some, effectOf) =>
    html`<div class="story">${some.map((one, i) => headRow(state, trace, one, effectOf(one), i + 1, piece))}</div>`;
  if (!trace.effectsKnown) return firstLook(state, trace, rows(trace.hardest(piece).slice(0, 3), () => null));
  const all = trace.effects(piece), shown = trace.mattering(piece), rest = all.filter((one) => !matters(one));
  const more = all.length - rest.length - shown.length, tip = about(headsTip(trace, unit));
  if (!shown.length) {
    return html`<h3>No head matters alone ${tip}</h3><p class="needed"
      data-says="no-head">With any one of the ${all.length} heads off, the chance of ${quoted(unit.label, target)} ${
        stays(rest)}.</p>${instead(state, trace, piece)}`;
  }
  const title = shown.length > 1 ? "Heads that matter for this word" : "The head that matters";
  const others = more
    ? `${more} more head${more === 1 ? " matters" : "s matter"}. “Words” in the list of all heads shows them.`
    : rest.length ? html`With any other head off, its chance ${stays(rest)}.` : "";
  return html`<h3>${title} ${tip}</h3><p class="fine hint"><span>looked at</span><span>head off</span></p>${
    rows(shown, (one) => one)}<p class="fine others" ${others && html`data-says="other-heads"`}>${others}</p>`;
}

// What the map shows where no head matters.
function instead({ head, view }, trace, piece) {
  if (!hasHeads(view) || !same(head, trace.usual(piece))) return "";
  const which = trace.wordForWord(piece) ? html`head <i>${roleName(trace.role(head))}</i>`
    : "cross-attention head that looks most at one word";
  return html`<p class="needed" data-says="usual-head">The map shows the ${which}.</p>`;
}

// Until the effects are known: what looks provisional is.
const firstLook = (state, trace, rows) => state.busy !== "weighing" ? html`<h3>Where heads looked most</h3>${rows}${
  !trace.evidence ? "" : html`<p class="fine">The ${trace.heads.length} heads are not tested yet. Testing
    which of them matter takes about ${duration(trace.evidence.heads_take)}. <button class="chip" data-do="weigh"
    data-k="weigh">Test them</button></p>`}`
  : html`<div class="provisional"><h3>Where heads looked most</h3>${rows}<p class="fine">Each head is now
    switched off in turn to find those that matter…</p></div>`;

const stays = (effects) => `is ${chanceRange(effects)}`;

// --- what else could have been written

function chanceTip(trace) {
  const smoothing = trace.record.calibrated ? html`It is calibrated on tokens: of those with a chance of 80%, about 80%
    agree with a reference.` : "This model has not been calibrated.";
  return html`This is the model’s chance of writing each word at this point: the product over the tokens of the word. ${
    smoothing} Temperature acts on the first token.`;
}

// [{ text, p, chosen, whole }], likeliest first after the chosen one.  What is not `whole` is the beginning of a word: it
// may go on in several ways, or its end was not asked for.
function choices(trace, unit, temperature, raw) {
  const { record } = trace, step = unit.pieces[0], isOwn = raw || temperature !== 1;
  const shown = isOwn ? record : trace.shown, isRaw = isOwn || !record.calibrated;
  const at = record.temperatures?.indexOf(temperature) ?? -1;
  const logOf = (i) => isRaw ? record.top[step][i].log_prob : record.calibrated.top[step][i], best = logOf(0);
  const warm = (log) => temperature === 1 || at < 0 ? Math.exp(log)
    : Math.exp((log - best) / temperature - record.log_sums[step][at]);
  const ends = trace.evidence?.ends?.[unit.word] ?? 1;
  const own = { text: unit.label, chosen: true, whole: ends > 0.98,
    p: trace.chance(unit, shown) / Math.exp(shown.log_probs[step]) * warm(shown.log_probs[step]) };
  const spelt = !isOwn && unit.word !== null && trace.evidence?.candidates[unit.word];
  const bySpelling = (one) => ({ text: bare(one.text), whole: one.whole,
    p: one.probability / one.first * warm(Math.log(Math.max(one.first, 1e-12))) });
  const others = spelt ? spelt.map(bySpelling)
    : record.top[step].map((one, i) => ({ text: bare(one.text), id: one.id, whole: false, p: warm(logOf(i)) }))
      .filter((one) => one.id !== record.target_ids[step]);
  const found = [own];
  for (const one of others) {
    if (one.text && !/^<.*>$/.test(one.text)) found.push(one);
  }
  return [own, ...found.slice(1).sort((a, b) => b.p - a.p)];
}

function candidates(state, trace, unit, settings) {
  const shown = choices(trace, unit, state.temperature, state.raw).slice(0, 4);
  const rest = Math.max(0, 1 - shown.reduce((sum, one) => sum + one.p, 0));
  const [, code] = trace.languages, can = settings.engine && unit.word !== null && state.moment === null;
  const width = (p) => Math.max(0.8, Math.min(100, 100 * p)).toFixed(1);
  const bar = (p) => html`<span class="bar2"><i style="width:${width(p)}%"></i></span><small>${chance(p)}</small>`;
  const isSame = (one) => !one.chosen && one.whole && one.text === unit.label;
  const name = (one) => html`${elided(one.text, 12)}${one.whole ? "" : "…"}${
    isSame(one) ? html` <small>split differently</small>` : ""}`;
  const row = (one) => html`<span ${inLanguage(code)}>${name(one)}</span> ${bar(one.p)}`;
  const button = (one) => html`<button data-says="candidate" data-force="${one.text}" data-k="force-${one.text}" ${tipped(
    html`Write “${one.text}” here and translate the rest again${oneIn(one.p)}`)}>${row(one)}</button>`;
  return html`${can ? html`<p class="fine hint">Select a word to write it instead.</p>` : ""}<div class="cand">${
    shown.map((one) => one.chosen || isSame(one) || !can ? html`<div class="${one.chosen ? "chosen" : "plain"}"
      data-says="candidate">${row(one)}</div>`
      : button(one))}<div class="rest" data-says="rest"><span>others</span> ${bar(rest)}</div></div>
    ${trace.record.calibrated && (state.raw || state.temperature !== 1) && html`<p class="fine">Not calibrated: the
      model’s own chances, from which sampling draws.</p>`}${
    slider(trace.record.temperatures || [], state.temperature)}`;
}

const slider = (scale, temperature) => scale.length > 0 && slide("Temperature", scale.length - 1,
  scale.indexOf(temperature), html`data-do="temperature" data-k="temperature"`,
  temperature < 1 ? temperature.toFixed(2).replace(/0$/, "") : temperature.toFixed(1));

// --- which words mattered

const restsTip = (share) => html`A head may look at a word without needing it. So this test erases each source word in
  turn and shows how the chosen word and its chance change. In an example, it also uses the other word of the pair. The
  translation so far stays the same, so erasing a word that it already contains has little effect.${
  share === undefined ? "" : html` By contributions (ALTI+, through all layers), ${
  percent(share)} of the chosen word comes from the source and the rest from the translation so far. Invented words take
  less from the source than faithful words.`}`;

function rests(state, trace, unit, settings) {
  if (!trace.evidence) return "";
  const piece = unit.pieces[0], [source, target] = trace.languages, said = [];
  const erased = trace.erased(piece), twin = twinOf(state, settings, trace, piece);
  const alike = (word) => trace.words("source").filter((one) => one.text === word.text);
  const name = ({ word }) => html`${quoted(word.text, source)}${alike(word).length > 1
    ? ` (${nth(alike(word).indexOf(word) + 1)})` : ""}`;
  const moves = (effect) => `${effect.fall > 0 ? "falls" : "rises"} to ${chance(effect.chance)}`;
  const one = (effect) => html`${moves(effect)} without ${name(effect)}`;
  if (twin) {
    const result = twin.instead === ENDS ? ENDS : twin.instead ? html`the word becomes ${quoted(twin.instead, target)}`
      : twin.fall === undefined ? "the word stays the same"
      : `its chance ${matters(twin) ? moves(twin) : stays([twin])}`;
    said.push(["twin", html`With <b>${quoted(twin.other, source)}</b> instead of ${
      quoted(twin.own, source)}, ${result}.`]);
  }
  const flips = erased.filter(({ instead }) => instead !== null).slice(0, 2);
  const moved = erased.filter((effect) => effect.instead === null && matters(effect)).slice(0, 2);
  for (const effect of flips) {
    said.push(["word-flips", html`Without ${name(effect)}, ${
      effect.instead === ENDS ? ENDS : html`the word becomes ${quoted(effect.instead, target)}`}.`]);
  }
  if (moved.length && !flips.length) said.push(["word-moves", html`Its chance ${listed(moved, one, " and ")}.`]);
  if (!flips.length && !moved.length) {
    said.push(["no-word", html`Without any one source word, its chance ${stays(erased)}.`]);
  }
  return html`<h3>Which words mattered ${about(restsTip(trace.sourceShare(piece)))}</h3><p class="needed">${
    said.map(([kind, line]) => html`<span data-says="${kind}">${line}</span> `)}
    <button data-set="view" data-value="left_out" data-k="leave">Show all</button></p>`;
}

// The twin's own translation decides, word by word, if it has as many words; else the same words, forced.
function twinOf(state, settings, trace, piece) {
  const flip = flipOf(settings, trace.source), effect = trace.evidence.others[0];
  if (!flip || !effect) return null;
  const twin = state.twin?.source === flip.text ? state.twin.words("target") : [], own = trace.words("target");
  const at = own.findIndex((one) => one.pieces.includes(piece));
  if (at < 0 || twin.length !== own.length) return { ...flip, ...trace.after(effect, piece) };
  return { ...flip, instead: twin[at].text === own[at].text ? null : twin[at].text };
}
