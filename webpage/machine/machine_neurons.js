// A feed-forward block of the machine: its neurons, the five that add most, and the tokens that go with each.

import { scrollable } from "../common/tool_parts.js";
import { css, inkOn, shade } from "../common/colour.js";
import { inLanguage } from "../common/languages.js";
import { digitsFor, plain, restOf, signed, sumOf } from "./machine_figures.js";
import { countOf, goalOf, headWords, leadOf, sourceWord, writtenWord } from "./machine_names.js";
import { steeredBlock } from "./machine_sentences.js";
import { blockOf } from "./machine_sums.js";
import { html } from "../common/markup.js";
import { bare, nameOf } from "../common/trace.js";
import { count, elided } from "../common/wording.js";

const DRAWN = 256;  // cells

// --- of the decoder

export function neurons(at) {
  const { data, trace, open: { layer }, parts } = at, found = parts.neurons[layer];
  const total = blockOf(at.sums, "feed_forward", layer).figure;
  const adds = html`<b>${signed(total)}</b> to ${goalOf(at)}`, word = writtenWord(trace, data.step);
  if (!found) {
    return html`<p class="say" data-says="machine-experts">This block is a mixture of experts. A router
      chooses some experts for every word, so there is no single list of neurons. For ${word}, the chosen experts
      together add ${adds}.</p>${effects(at)}`;
  }
  const full = data.parts.for.neurons[layer], isReLU = full.activations.every((one) => one >= 0);
  const many = isReLU ? html`<b>${count(found.active)}</b> of ${count(found.count)} neurons are active`
    : html`all ${count(found.count)} neurons take part`;
  return html`<p class="say" data-says="machine-feed-forward">For ${word}, ${many}. The block adds ${adds}.</p>${
    effects(at)}<div class="two"><section>${cells(full, found.list, at.state.theme, isReLU)}</section><section>${
    strongest(at, found, total)}</section></div>`;
}

// What the block is worth, as an effect; and which head steers it.
function effects({ data, trace, open: { layer } }) {
  const { margin, without, steers } = data, own = without?.feed_forward.find((one) => one.layer === layer);
  const steered = steers?.feed_forward === layer && html`<p class="effect" data-says="machine-steered">The head ${
    headWords(steers, data, trace)} also steers this block. ${steeredBlock(data, trace)} <button class="chip"
    data-do="machine_open" data-k="machine-steers" data-value="${nameOf(steers)}">Open that
    head</button></p>`;
  return html`${own && html`<p class="effect" data-says="machine-feed-forward-off">If this block gives its
    average instead of its output, ${leadOf(data, trace)} changes from ${plain(margin)} to ${
    plain(own.margin)}.</p>`}${steered}`;
}

// The neurons as cells, a shade for how active each is; of many, the most active.
function cells({ activations, count: size }, list, theme, isReLU) {
  const isAll = size <= DRAWN, most = Math.max(1e-6, ...activations.map(Math.abs)), all = [...activations.keys()];
  const drawn = isAll ? all : all.sort((a, b) => activations[b] - activations[a]).slice(0, DRAWN);
  const placeOf = ({ number, activation }) => size === activations.length ? number : activations.indexOf(activation);
  const places = list.map(placeOf);
  const cell = (i) => {
    const value = activations[i], rank = places.indexOf(i) + 1, amount = 0.12 + 0.88 * Math.abs(value) / most;
    const colour = shade(Math.sign(value) * amount, "slate", theme);
    return html`<i class="${rank ? "best" : value ? "" : "off"}" style="background:${css(colour)};color:${
      inkOn(colour)}">${rank || ""}</i>`;
  };
  const stronger = `A stronger colour means more active${isReLU ? "" : "; orange is below zero"}.`;
  return html`<h3>${isAll ? `All ${size} neurons` : `The ${DRAWN} most active of ${count(size)} neurons, in order`}</h3>
    <p class="fine">${stronger} The numbers mark the ${list.length} neurons that add most.</p><div class="cells-grid"
    role="img" aria-label="${drawn.length} neurons, ${drawn.filter((i) => activations[i] > 0).length} above zero">${
    drawn.map(cell)}</div>
    <p class="fine">${isReLU ? "A neuron is active when its input is above zero (ReLU)."
      : "In this model, the activation of a neuron can also be below zero."}</p>`;
}

function strongest(at, { list }, total) {
  const { trace } = at, adds = list.map((one) => one.adds), digits = digitsFor(adds), own = bare(at.data.word);
  const most = Math.max(1e-6, ...list.map((one) => Math.abs(one.activation)));
  const token = (text) => html`<span class="token ${bare(text) === own ? "own" : ""}" ${
    inLanguage(trace.languages[1])}>${elided(bare(text), 14)}</span>`;
  const row = (one, i) => html`<tr><td><b class="rank">${i + 1}</b></td><td>${one.number + 1}</td><td><i class="amount"
    style="--share:${(Math.abs(one.activation) / most).toFixed(3)}"></i>${plain(one.activation)}</td><td
    class="figure"><b>${signed(one.adds, digits)}</b></td><td>${one.raises.map(token)}</td></tr>`;
  return html`<h3>The ${list.length} neurons that add most</h3>${scrollable("The neurons that add most", html`<table
    class="most"><thead><tr><td></td><th scope="col">neuron</th><th scope="col">activation</th><th scope="col"
    class="figure">adds to ${countOf(at)}</th><th scope="col">tokens it raises most</th></tr></thead><tbody>${
    list.map(row)}<tr><td></td><td colspan="2" class="soft">all others, and the bias</td><td class="figure">${
    signed(restOf(total, adds, digits), digits)}</td><td></td></tr></tbody><tfoot><tr><td></td><th colspan="2"
    scope="row">together</th><td class="figure">${signed(total, digits)}</td><td></td></tr></tfoot></table>`)}
    <p class="fine">Each neuron raises the scores of some tokens and lowers others. The block adds the sum of many small
    effects.</p>`;
}

// --- of the encoder

export function encoderNeurons(at) {
  const { trace, open: { layer }, parts: { encoder } } = at, rows = encoder.feed_forward[layer], total = sumOf(rows);
  const list = encoder.neurons[layer], adds = html`<b>${signed(total)}</b> to ${goalOf(at)}`;
  const most = Math.max(1e-6, ...rows.map(Math.abs)), digits = digitsFor(rows);
  const row = (value, s) => html`<tr><th scope="row">${sourceWord(trace, s)}</th><td><i class="amount ${
    value < 0 ? "against" : ""}" style="--share:${(Math.abs(value) / most).toFixed(3)}"></i></td><td class="figure">${
    signed(value, digits)}</td></tr>`;
  const rest = restOf(total, rows, digits);
  return html`<p class="say" data-says="machine-encoder-feed-forward">This block adds ${adds},
    through what the decoder takes from the source words.</p><div class="two"><section><h3>By source word</h3><table
    class="most"><tbody>${
    rows.map(row)}${rest !== 0 && html`<tr><td class="soft">rounding</td><td></td><td class="figure">${
    signed(rest, digits)}</td></tr>`}</tbody><tfoot><tr><th scope="row">together</th><td></td><td class="figure">${
    signed(total, digits)}</td></tr></tfoot></table></section><section>${list ? writers(at, list, total) : html`<p
    data-says="machine-encoder-experts">This block is a mixture of experts, so there is no single list of
    neurons.</p>`}</section></div>`;
}

function writers(at, list, total) {
  const adds = list.map((one) => one.adds), digits = digitsFor(adds);
  const token = (text) =>
    html`<span class="token" ${inLanguage(at.trace.languages[0])}>${elided(bare(text), 14)}</span>`;
  const row = (one) => html`<tr><td>${one.number + 1}</td><td class="figure"><b>${
    signed(one.adds, digits)}</b></td><td>${
    one.on.length ? one.on.map(token) : html`<span class="soft">none</span>`}</td></tr>`;
  return html`<h3>The ${list.length} neurons that add most</h3>${scrollable("The neurons that add most", html`<table
    class="most"><thead><tr><th scope="col">neuron</th><th scope="col" class="figure">adds to ${countOf(at)}</th><th
    scope="col">most active on</th></tr></thead><tbody>${list.map(row)}<tr><td class="soft">all others, and the
    bias</td><td class="figure">${signed(restOf(total, adds, digits), digits)}</td><td></td></tr></tbody><tfoot><tr><th
    scope="row">together</th><td class="figure">${signed(total, digits)}</td><td></td></tr></tfoot></table>`)}`;
}
