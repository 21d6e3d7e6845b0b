// What a click on a block of the machine opens: its sentence, with every figure in it, and its parts.  `insideBlock`
// gives HTML, `insideActions` what its controls do.

import { inside, scrollable, shown } from "../common/tool_parts.js";
import { inLanguage } from "../common/languages.js";
import { layers } from "../lab/layers.js";
import { largestAt, plain, restOf, signed } from "./machine_figures.js";
import { TONE, rowSteps, wholeMap } from "./machine_head.js";
import { FAMILY, blockName, columnName, goalOf, isAttention, leadOf, mostSeen, rowName, runnerUp,
  writtenWord } from "./machine_names.js";
import { encoderNeurons, neurons } from "./machine_neurons.js";
import { points, steeredBlock } from "./machine_sentences.js";
import { blockOf, sums } from "./machine_sums.js";
import { html } from "../common/markup.js";
import { SHOWN, imageOf } from "../common/small_map.js";
import { bare, headOf, nameOf } from "../common/trace.js";
import { chance, count, percent, quoted } from "../common/wording.js";

const LONG = 24;  // columns of a map: with more it stands above the row, not beside it
const DRAWS = { encoder: attention, decoder: attention, cross: attention, feed_forward: neurons,
  encoder_feed_forward: encoderNeurons, choose, lens };

export function insideBlock(open, data, trace, state, context) {
  const { mode } = state.machine, parts = data.parts[mode];
  const at = { open, data, trace, state, context, parts, sums: sums(data, mode) };
  return html`<div class="opened" data-kind="${open.kind}"><p class="second">${familyOf(at)}</p><h2 id="opened-name">${
    blockName(open.kind, trace)}</h2><button class="chip back" data-do="machine_close"
    data-k="machine-close">Back to the machine</button>${DRAWS[open.kind](at)}</div>`;
}

function familyOf({ open: { kind, layer }, trace }) {
  const place = layer === undefined || layer === null ? "" : `layer ${layer + 1} · `;
  const side = isAttention(kind) ? ` · ${trace.sizes[kind][1]} heads side by side` : "";
  return `${place}${FAMILY[kind]}${side}`;
}

// What the controls in it do; those of `machine.js` open and close blocks.
export function insideActions({ state, set }) {
  const change = (changes) => set({ machine: { ...state.machine, ...changes } });
  const open = (changes) => change({ open: { ...state.machine.open, ...changes } });
  return {
    machine_head: ({ dataset: { value } }) => open({ head: +value }),
    machine_row({ dataset: { value } }) {
      if (state.machine.open.kind === "encoder") open({ row: +value }); else change({ step: +value });
    },
    machine_explore({ dataset: { value, row } }) {
      const head = headOf(value), word = head.kind === "encoder" ? { read: +row } : { word: +row };
      set({ head, ...word, chosen: true, hover: null, view: "raw", as: "map" });
      location.hash = "see";
    },
  };
}

// --- attention

function attention(at) {
  const { open, data, trace } = at, { kind, layer } = open, adds = at.sums.heads[kind][layer];
  const number = open.head ?? largestAt(adds), head = { kind, layer, head: number };
  const row = kind === "encoder" ? open.row ?? largestAt(at.sums.source) : data.step;
  const isLong = trace.sizes[kind].at(-1) > LONG;
  return html`${sentence(at, head, row, adds[number])}${layerOf(at, head, adds)}<div class="two ${
    isLong && "long"}"><section><h3>The whole
    map <small>one row for each word; a stronger colour means more attention</small></h3>${
    scrollable("The whole map", wholeMap(at, head, row))}<p class="fine from-here">Numbers are shown from ${
    percent(SHOWN)}.</p><button class="chip"
    data-do="machine_explore" data-value="${nameOf(head)}" data-row="${row}" data-k="machine-explore">Show this map in
    See</button></section><section><h3>The row ${rowName(trace, kind, row)}, step
    by step <small>each strip is a vector: blue is above zero, orange below</small></h3>${
    rowSteps(at, head, row)}</section></div>`;
}

function sentence(at, head, row, adds) {
  const { data, trace } = at, { kind } = head, [column, share] = mostSeen(trace, head, row);
  const phrase = html`head ${head.head + 1} looked ${kind === "decoder" ? "back most at" : "most at"} ${
    columnName(trace, kind, column)} (<b>${percent(share)}</b>)`;
  if (kind === "encoder") {
    return html`<p class="say" data-says="machine-attention">While reading ${rowName(trace, kind, row)}, ${phrase}.
      Over all source words, the head adds <b>${signed(adds)}</b> to ${goalOf(at)}.</p>`;
  }
  return html`<p class="say" data-says="machine-attention">While writing ${writtenWord(trace, data.step)}, ${
    phrase}. The head adds <b>${signed(adds)}</b> to ${goalOf(at)}.</p>`;
}

// All heads of the layer: what each adds, and the lead without it.
function layerOf({ open: { kind, layer }, data, trace, sums: all, state: { theme } }, chosen, adds) {
  const { without, margin, steers } = data, { figure } = blockOf(all, kind, layer);
  const leads = (head) => without?.heads.find((one) => nameOf(one) === nameOf({ kind, layer, head }))?.margin;
  const small = (head) => imageOf(trace.map({ kind, layer, head }, { unit: "tokens" }), { tone: TONE[kind], theme });
  const button = (value, head) => html`<button data-do="machine_head" data-value="${head}"
    data-k="machine-head-${head}" aria-pressed="${head === chosen.head}"><img alt="" src="${small(head)}"><b>head ${
    head + 1}</b><span><span class="soft">adds</span> ${signed(value)}${leads(head) !== undefined
      && html`<br><span class="soft">off: lead</span> ${plain(margin)} → ${plain(leads(head))}`}</span></button>`;
  const shared = figure !== undefined && html`All ${adds.length} heads together add ${signed(figure)}, including bias
    and rounding (${signed(restOf(figure, adds))}). `;
  const average = without?.averaged_over ? `${without.averaged_over} sentences` : "this sentence";
  const off = without ? html`“Off” shows ${leadOf(data, trace)} when the head gives its average over ${
    average} instead of its output.`
    : "Switching off every head of this model would take too long here.";
  const isSteering = steers && nameOf(steers) === nameOf(chosen);
  return html`<div class="of-layer" role="group" aria-label="Heads">${adds.map(button)}</div><p class="fine"
    data-says="machine-heads">${shared}${off}</p>${isSteering && steering(data, trace)}`;
}

const steering = (data, trace) => html`<p class="effect" data-says="machine-steers">This head also steers
  the feed-forward block of layer ${data.steers.feed_forward + 1}. ${steeredBlock(data, trace)} <button class="chip"
  data-do="machine_open" data-value="feed_forward.${data.steers.feed_forward}" data-k="machine-steered">Open that
  block</button></p>`;

// --- the choice of the word

function choose(at) {
  const { data, trace } = at, { vocabulary } = data, { calibrated } = trace.record;
  return html`<p class="say" data-says="machine-choose">${lead(at)}</p>${scrollable("From scores to chances",
    scoresTable(data, trace))}${calibrated?.smoothing > 0 && html`<p class="fine" data-says="machine-smoothing">In
    training, label smoothing spread a part of every target over all ${count(vocabulary)} tokens. The calibrated chance
    undoes this.</p>`}<p><button class="chip" data-do="machine_open" data-value="lens"
    data-k="machine-lens">What would each layer write?</button></p>`;
}

// Scores, their exponentials, shares of the sum, and the chances that the page shows; all others, and the sum.
function scoresTable({ top, vocabulary, id }, trace) {
  const { calibrated } = trace.record, [, code] = trace.languages, powers = top.map((one) => Math.exp(one.logit));
  const shares = top.map((one) => 100 * one.raw), all = powers[0] / top[0].raw;
  const digits = Math.max(...powers) < 100 ? 1 : 0, most = Math.max(...top.map((one) => Math.abs(one.logit)));
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const written = new Intl.NumberFormat("en-GB", decimals).format;
  const figure = (value) => html`<td class="figure">${value}</td>`;
  const bar = (logit) => html`<i class="amount ${logit < 0 ? "against" : ""}" style="--share:${
    (Math.abs(logit) / most).toFixed(3)}"></i>`;
  const row = (one, i) => html`<tr class="${one.id === id ? "best" : ""}"><th scope="row">${
    quoted(bare(one.text), code)}</th><td>${bar(one.logit)}${plain(one.logit)}</td>${figure(written(powers[i]))}${
    figure(`${plain(shares[i], 2)}%`)}${calibrated && figure(chance(one.chance))}</tr>`;
  const last = (name, power, share) => html`<th scope="row">${name}</th><td></td>${figure(written(power))}${
    figure(`${plain(share, 2)}%`)}${calibrated && html`<td></td>`}`;
  const heading = (name, about, place = "figure") =>
    html`<th scope="col" class="${place}">${name} <small>${about}</small></th>`;
  return html`<table class="most"><thead><tr>${heading("word", "", "")}${
    heading("score", "logit minus the mean", "")}${heading("e to the score", "")}${
    heading("share of the sum", "softmax")}${calibrated && heading("calibrated chance", "")}</tr></thead><tbody>${
    top.map(row)}<tr class="rest">${last(`all other ${count(vocabulary - top.length)}`, restOf(all, powers, digits),
    restOf(100, shares, 2))}</tr></tbody><tfoot><tr>${last(`all ${count(vocabulary)}`, all, 100)}</tr></tfoot></table>`;
}

function lead({ data, trace }) {
  const { margin, step } = data, word = writtenWord(trace, step), other = runnerUp(data, trace);
  if (margin < 0) {
    return html`Every token gets a score. ${other} scores <b>${plain(-margin)}</b> more than ${word}. The search
      chose the translation as a whole, or it was given.`;
  }
  return html`Every token gets a score. ${word} leads by <b>${plain(margin)}</b>. ${points(data, trace)}`;
}

// --- what each layer would have said

function lens(at) {
  const { data: { step }, trace, state, context } = at, answer = inside(context, trace, { tool: "layers" });
  return html`${shown(answer, (found) => html`${ofWord(found, at)}<h3>Every word</h3>${
    layers.draw({ ...context, state: { ...state, word: step } }, trace)}`)}<p><button class="chip"
    data-do="machine_open" data-value="choose" data-k="machine-choose">How the word is chosen</button></p>`;
}

// Of the word that is followed: the likeliest tokens after each layer, and its own chance and place.
function ofWord({ top, ranks, log_probs: logProbs }, { data: { step }, trace }) {
  const [, code] = trace.languages, last = ranks.findLastIndex((one) => one[step] > 0), own = writtenWord(trace, step);
  const token = ([text, logProb]) => html`<span class="token" ${inLanguage(code)}>${trace.named(text)} <small>${
    chance(Math.exp(logProb))}</small></span>`;
  const row = (steps, layer) => html`<tr><th scope="row">after layer ${layer + 1}${
    layer === top.length - 1 ? " (last)" : ""}</th><td>${steps[step].map(token)}</td><td class="figure">${
    chance(Math.exp(logProbs[layer][step]))}</td><td class="figure">${count(ranks[layer][step] + 1)}</td></tr>`;
  const [[text, logProb]] = top[0][step], first = html`${quoted(trace.named(text), code)} (${chance(Math.exp(logProb))})`;
  return html`<p class="say" data-says="machine-lens">If layer 1 were the last, the likeliest token here would
    be ${first}. ${own} ${last + 1 === ranks.length ? "does not rank first after the last layer"
    : `ranks first from layer ${last + 2} on`}.</p>${scrollable("Layer by layer", html`<table
    class="most"><thead><tr><td></td><th scope="col">likeliest tokens</th><th scope="col"
    class="figure">chance of ${own}</th><th scope="col" class="figure">its rank</th></tr></thead><tbody>${
    top.map(row)}</tbody></table>`)}`;
}
