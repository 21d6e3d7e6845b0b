// The chosen word: the heads that matter for it, what else could have been written, which words it rests on.

import { about, html, icon, tipped } from "./markup.js";
import { looking, traceOf } from "./state.js";
import { flipOf, same } from "./texts.js";
import { bare, nameOf } from "./trace.js";
import { chance, direction, elided, lookedAt, nats, oneIn, percent, placeOf, quoted, roleName,
  roleTip } from "./wording.js";

export function wordPanel(state, settings) {
  const trace = traceOf(state), list = trace.written, piece = state.head.kind === "encoder" ? state.word
    : looking(state);
  const at = Math.max(0, list.findIndex((one) => one.pieces.includes(piece))), unit = list[at],
    [, code] = trace.languages;
  return html`<div class="top"><span class="big" lang="${code}" dir="auto">${elided(unit.label, 14)}</span><span
    class="soft">word ${at + 1} of ${list.length}</span>
      <span class="stepper"><button data-word="${list[(at + list.length - 1) % list.length].pieces[0]}" data-k="back"
        aria-label="Previous word" ${tipped("Previous word (,)")}>${icon("left")}</button
      ><button data-word="${list[(at + 1) % list.length].pieces[0]}" data-k="on" aria-label="Next word"
        ${tipped("Next word (.)")}>${icon("right")}</button></span></div>
    ${heads(state, trace, unit, settings)}
    <h3>What else it could have written ${about(chanceTip(trace, unit, state))}</h3>
    ${candidates(state, trace, unit, settings)}
    ${rests(state, trace, unit, settings)}`;
}

// --- the heads that matter

const headsTip = html`Each head in turn has its average put in its place. Those without which the word’s margin over its runner-up falls most stand here.
  A share says where a head looked; “without it” says what it was needed for.`;

function heads(state, trace, unit, settings) {
  const piece = unit.pieces[0], telling = trace.telling(piece);
  if (!trace.evidence) {
    return html`<h3>Where heads looked most</h3><div class="story">${mostLooking(trace, piece).map((one) =>
      headRow(state, trace, unit, one, null))}</div>${
      settings.engine ? html`<p class="fine">${state.busy === "weighing" ? "Switching off each head in turn…"
        : ""}</p>` : ""}`;
  }
  if (!telling.length) {
    return html`<h3>No head matters alone ${about(headsTip)}</h3><p
      class="needed">Without any single one of the ${trace.heads.length} heads, ${
      quoted(unit.label, trace.languages[1])} stays about as likely.</p>`;
  }
  return html`<h3>${telling.length > 1 ? "Heads that matter for this word"
    : "The head that matters here"} ${about(headsTip)}</h3>
    <p class="fine hint">Margin over ${quoted(trace.runnerUp(piece),
      trace.languages[1])}: <b>${nats(trace.margin(piece))}</b></p><div
      class="story">${telling.map((one) => headRow(state, trace, unit, one, one))}</div>`;
}

function headRow(state, trace, unit, head, effect) {
  const piece = unit.pieces[0], tone = trace.tone(head, piece), role = tone === "slate" ? null : trace.role(head),
    [source, target] = trace.languages;
  const row = head.kind === "encoder" ? state.read : piece, [[column, share] = [{ label: "" }, 0]] = trace.top(head,
    row, 1);
  const outcome = !effect ? "" : html`without it: ${effect.instead ? quoted(effect.instead, target)
    : html`<b>${nats(effect.margin)}</b>`}`;
  return html`<button class="tone-${tone}" data-head="${nameOf(head)}" data-k="story-${nameOf(head)}"
    aria-pressed="${same(head, state.head)}" ${
    tipped(role ? roleTip(role) : html`<b>${direction(head.kind, trace.languages)}</b>, ${placeOf(head)}.`)}><span
      class="l1"><span class="dot"></span><span class="nm">${
    role ? roleName(role) : html`${lookedAt(head.kind, trace.languages)} · layer ${head.layer + 1}, head ${head.head
      + 1}`}</span><span class="pc">${percent(share)}</span></span><span class="l2"><span class="wd"
      lang="${head.kind === "decoder" ? target : source}">${
    elided(column.label, 14)}</span>${outcome ? html`<span class="out">${outcome}</span>` : ""}</span></button>`;
}
const mostLooking = (trace, piece) => trace.heads.filter((one) => one.kind === "cross")
  .map((one) => [one, trace.top(one, piece, 1)[0]?.[1] || 0]).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([one]) =>
    one);

// --- what else could have been written

function chanceTip(trace, unit, state) {
  const raw = trace.chance(unit, trace.record);
  return trace.record.calibrated
    ? html`The model’s chance for each word at this point, the product over its tokens. Training held every raw figure down (label smoothing);
    that is undone here. Raw: ${(100 * raw).toFixed(1)}%. <br>Temperature acts on the first token. 1.0: smoothing undone; sampling uses the model’s own.`
    : html`The model’s own chance for each word at this point, the product over its tokens. This model has not been calibrated. Temperature acts on the first token.`;
}

// [{ text, p, chosen, force }], likeliest first after the chosen one; words that differ in case alone are one.
export function choices(trace, unit, temperature, raw) {
  const step = unit.pieces[0], shown = raw ? trace.record : trace.shown,
    at = trace.record.temperatures?.indexOf(temperature) ?? -1;
  const best = raw || !trace.record.calibrated ? trace.record.top[step][0].log_prob
    : trace.record.calibrated.top[step][0];
  const warm = (log) => temperature === 1 || at < 0 ? Math.exp(log)
    : Math.exp((log - best) / temperature - trace.record.log_sums[step][at]);
  const own = { text: unit.label, chosen: true,
    p: trace.chance(unit, shown) / Math.exp(shown.log_probs[step]) * warm(shown.log_probs[step]) };
  const spelt = !raw && unit.word !== null && trace.evidence?.candidates[unit.word];
  const others = spelt ? spelt.map((one) =>
    ({ text: bare(one.text), p: one.probability / one.first * warm(Math.log(Math.max(one.first, 1e-12))) }))
    : trace.record.top[step].map((one, i) => ({ text: bare(one.text), id: one.id,
      p: warm(raw || !trace.record.calibrated ? one.log_prob : trace.record.calibrated.top[step][i]) }))
      .filter((one) => one.id !== trace.record.target_ids[step]);
  const found = [own];
  for (const one of others) {
    const twin = found.find((other) => other.text.toLocaleLowerCase() === one.text.toLocaleLowerCase());
    if (twin) twin.p += one.p; else if (one.text && !/^<.*>$/.test(one.text)) found.push(one);
  }
  return found;
}

function candidates(state, trace, unit, settings) {
  const all = choices(trace, unit, state.temperature, state.raw), shown = all.slice(0, 4),
    rest = Math.max(0, 1 - shown.reduce((sum, one) => sum + one.p, 0));
  const [, code] = trace.languages, can = settings.engine && unit.word !== null && state.moment === null;
  const bar = (p) => html`<span class="bar2"><i style="width:${Math.max(0.8,
    Math.min(100, 100 * p)).toFixed(1)}%"></i></span><small>${chance(p)}</small>`;
  const scale = trace.record.temperatures || [];
  return html`${can ? html`<p class="fine hint">Click one to write that instead.</p>` : ""}<div
    class="cand">${shown.map((one) => one.chosen || !can
    ? html`<div class="${one.chosen ? "chosen" : "plain"}"><span lang="${code}">${elided(one.text,
      12)}</span>${bar(one.p)}</div>`
    : html`<button data-force="${one.text}" data-k="force-${one.text}"
      ${tipped(html`Make it write “${one.text}” and translate the rest again${oneIn(one.p)}`)}><span lang="${code}">${
      elided(one.text, 12)}</span>${bar(one.p)}</button>`)}<div class="rest"><span>others</span>${bar(rest)}</div></div>
    ${scale.length ? html`<label class="slide"><span>Temperature</span><input type="range" min="0"
      max="${scale.length - 1}" value="${scale.indexOf(state.temperature)}"
      data-do="temperature" data-k="temperature"
        aria-valuetext="${written(state.temperature)}"><output>${written(state.temperature)}</output></label>` : ""}`;
}
const written = (temperature) => temperature < 1 ? temperature.toFixed(2).replace(/0$/, "") : temperature.toFixed(1);

// --- which words mattered

const ERASURE = 0.4;  // nats by which a margin must fall without a word for the word to be named
const restsTip = html`A head may look at a word without needing it. So the other word of the pair is put in its place, then each source word is erased in turn, and the
  model is asked whether it still prefers the chosen word to its runner-up.`;

function rests(state, trace, unit, settings) {
  if (!trace.evidence) return "";
  const piece = unit.pieces[0], [source, target] = trace.languages, own = quoted(unit.label, target);
  const twin = twinOf(state, settings, trace, piece), erased = trace.erased(piece),
    flips = erased.filter((one) => one.instead);
  const fell = erased.filter((one) => !one.instead && one.drop >= ERASURE).slice(0, 2), word = (one) =>
    quoted(one.word.text, source);
  const margin = html`Margin over ${quoted(trace.runnerUp(piece), target)}: ${nats(trace.margin(piece))}`;
  const said = [];
  if (twin) {
    said.push(twin.instead ? html`<b>${quoted(twin.other, source)} for ${quoted(twin.own,
      source)}</b> flips it to ${quoted(twin.instead, target)}.`
      : html`${quoted(twin.other, source)} for ${quoted(twin.own, source)} leaves it.`);
  }
  if (flips.length) said.push(html`Erasing ${flips.slice(0, 2).map((one, i) =>
    html`${i ? " or " : ""}${word(one)}`)} flips it.`);
  if (fell.length) said.push(html`${fell.map((one, i) => html`${i ? "; "
    : "Erasing "}${word(one)}: ${nats(one.margin)}`)}.`);
  if (!flips.length && !fell.length) said.push(html`Erasing any one word changes little.`);
  return html`<h3>Which words mattered ${about(restsTip)}</h3><p class="needed">${said.map((one) =>
    html`${one} `)}${trace.telling(piece).length ? "" : html`<span class="soft">${margin}.</span>`}
    <button data-set="view" data-value="left_out" data-k="leave">Show all</button></p>`;
}

// The twin's own translation decides, word by word, where it has as many words; else the same words forced after it.
function twinOf(state, settings, trace, piece) {
  const flip = flipOf(settings, trace.source), effect = trace.evidence.others[0];
  if (!flip || !effect) return null;
  const twin = state.twin?.source === flip.text ? state.twin.words("target") : [], own = trace.words("target");
  const at = own.findIndex((one) => one.pieces.includes(piece));
  if (at < 0 || twin.length !== own.length) return { ...flip, ...trace.after(effect, piece) };
  return { ...flip, instead: twin[at].text === own[at].text ? null : twin[at].text };
}
