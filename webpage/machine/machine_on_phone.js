// The machine on a phone: three cards, one below the other, with the same figures.  The vector of the next word runs
// down the second, from block to block.

import { css, shade } from "../common/colour.js";
import { plain, restOf, signed, sumOf } from "./machine_figures.js";
import { FAMILY, blockName, columnName, mostSeen, namesOf, readWord } from "./machine_names.js";
import { figureTone } from "./machine_river.js";
import { chanceOf } from "./machine_sentences.js";
import { folded, sums } from "./machine_sums.js";
import { html } from "../common/markup.js";
import { language } from "../common/languages.js";
import { bare } from "../common/trace.js";
import { chance, count, elided, quoted } from "../common/wording.js";

const LINE = 2.6;                       // pixels that a point adds to a row's thickness
const WIDEST = 70, MOST = 4;            // pixels: of the river and of a point in it, at most
const RIVER = 84, HIGH = 66;            // its column, and one block's piece of it
const MIDDLE = HIGH / 2, FROM = MIDDLE - 11, TO = MIDDLE + 11;  // of its step
const HOT = 0.18, NAMED = 0.1;          // points from which a row has a figure, and a word is named
const BANDS = ["cross", "decoder", "own", "feed_forward"];  // of the river, from left to right

export function phoneSections(data, trace, state) {
  const at = { data, trace, state, sums: sums(data, state.machine.mode) };
  return html`<div class="tall">${read(at)}${write(at)}${choose(at)}</div>`;
}

const card = (title, about, body) => html`<section class="card"><h2>${title}</h2><p class="second">${about}</p>${
  body}</section>`;
const figure = (kind, value) => html`<b class="in-${figureTone(kind, value)}">${signed(value)}</b>`;
const opener = (address, content) => html`<button class="t-block" data-do="machine_open" data-value="${address}"
  data-k="gate-${address.replace(".", "-")}">${content}</button>`;

// The blocks as drawn, those of layers that add little behind a line.
function grouped(blocks, drawn) {
  const layers = blocks.at(-1).layer + 1;
  return folded(blocks, layers).map(({ layer, from = layer, to = layer, value }) => {
    const inside = drawn.filter((_, i) => blocks[i].layer >= from && blocks[i].layer <= to);
    return value === undefined ? inside : html`<li class="fold"><details><summary>${to > from
      ? html`layers ${from + 1} to ${to + 1}` : html`layer ${from + 1}`}: ${signed(value)}</summary><ul>${
      inside}</ul></details></li>`;
  });
}

// --- the words that are read

function read({ data, trace, state, sums: { source, blocks: all, read: { blocks, start, constant } } }) {
  const names = namesOf(trace, "source"), strips = data.strips.source, [from] = trace.languages;
  const taken = sumOf(all.filter(({ kind }) => kind === "cross").map((one) => one.figure));
  const most = Math.max(1e-6, ...strips.flat().map(Math.abs));
  const number = (value) => html`<i style="background:${css(shade(value / most, "blue", state.theme))}"></i>`;
  const row = (name, s) => {
    const isHot = Math.abs(source[s]) >= HOT, tone = `${isHot ? "hot" : ""} ${source[s] < 0 ? "against" : ""}`;
    return html`<li class="${tone}"><span class="t-name">${elided(name, 14)}</span><span class="t-cells"
      aria-hidden="true">${strips[s].map(number)}</span><i class="t-line" style="--thick:${
      (LINE * Math.abs(source[s])).toFixed(1)}px"></i><b>${isHot && signed(source[s])}</b></li>`;
  };
  const block = ({ kind, layer, value }) => html`<li>${opener(`${kind}.${layer}`, html`<span>${
    blockName(kind, trace)}<small>${FAMILY[kind]} · layer ${layer + 1}</small></span>${figure(kind, value)}`)}</li>`;
  const own = sumOf([...start, ...constant]), rest = restOf(taken, [own, ...blocks.map(({ value }) => value)]);
  const line = (name, about, value) => html`<li><span class="t-block"><span>${name}<small>${about}</small></span>${
    figure("encoder", value)}</span></li>`;
  return card(html`1 Read the ${language(from, "source")}`, html`Encoder: ${
    blocks.length / 2} layers. A thicker line means that more is taken from the word.`, html`<ul class="taken"
      data-area="words memory">${
    names.map(row)}</ul><p class="second">Looking at ${language(from, "the source")} adds ${
    signed(taken)}. These are its parts:</p><ul class="gates" data-area="encoder">${
    line("The words themselves", "embedding, position, biases", own)}${grouped(blocks, blocks.map(block))}${
    rest !== 0 && line("The rest", "biases of cross-attention, rounding", rest)}</ul>`);
}

// --- the word that is written: its vector runs down, and every block adds to it

function write(at) {
  const { data, trace, sums: all } = at, { own, blocks, total } = all, [, to] = trace.languages;
  const steps = [{ kind: "own", ...own }, ...blocks], river = riverOf(steps);
  const about = ({ kind, layer }) => {
    const from = all[kind]?.[layer] ?? [], sizes = from.map(Math.abs), most = sizes.indexOf(Math.max(...sizes));
    const steers = kind === "feed_forward" && data.steers?.feed_forward === layer;
    return sizes[most] >= NAMED
      ? html`<small>layer ${layer + 1}: ${columnName(trace, kind, most)} ${signed(from[most])}</small>`
      : html`<small>${SHORT[kind] ?? FAMILY[kind]} · layer ${layer + 1}</small>${
        steers && html`<small>${steerer(at)} also steers it</small>`}`;
  };
  const step = (one, i) => html`<li>${river[i]}${opener(`${one.kind}.${one.layer}`, html`<span>${
    titleOf(one.kind, trace)}${about(one)}</span>${figure(one.kind, one.figure)}`)}</li>`;
  const drawn = blocks.map((one, i) => step(one, i + 1));
  const score = at.state.machine.mode === "for" ? `score ${plain(total)}` : `lead ${plain(total)}`;
  return card(html`2 Write the ${language(to, "translation")}`,
    "Decoder: the coloured bands are the vector of the next word.", html`<ol class="t-river"><li data-area="written">${
    river[0]}<div class="t-block last"><span>After ${readWord(trace, data.step)}<small>the last word so
    far</small></span>${figure("own", own.figure)}</div></li>${grouped(blocks, drawn)}</ol><p class="written"><b>${
    namesOf(trace, "target")[data.step]}</b><span>${chance(chanceOf(data, trace))}<small>${score}</small></span></p>`);
}

// A block's name on one line: who looks stands over all of them.
const SHORT = { decoder: "self-attention", feed_forward: "feed-forward" };
const titleOf = (kind, { languages: [from, to] }) => ({ decoder: `Looks back at ${language(to, "translation")}`,
  cross: `Looks at ${language(from, "source")}` })[kind] ?? blockName(kind, { languages: [from, to] });
// What the head looks at that steers a block; of the encoder, its layer.
function steerer({ data: { steers, step }, trace }) {
  if (steers.kind === "encoder") return html`encoder layer ${steers.layer + 1}`;
  return html`<i>${columnName(trace, steers.kind, mostSeen(trace, steers, step)[0])}</i>`;
}

// For every block the piece of the river beside it: from what was there before, to what is there after, with the step
// beside the middle of its card.
function riverOf(steps) {
  const so = { cross: 0, decoder: 0, own: 0, feed_forward: 0 };
  const states = [{ ...so }, ...steps.map(({ kind, value }) => ({ ...so, [kind]: so[kind] += value }))];
  const wide = (bands) => BANDS.reduce((sum, band) => sum + Math.max(0, bands[band]), 0);
  const point = Math.min(MOST, WIDEST / Math.max(1e-6, ...states.map(wide)));
  const edges = (bands) => {
    let x = (RIVER - wide(bands) * point) / 2;
    return BANDS.map((band) => [x, x += Math.max(0, bands[band]) * point]);
  };
  const down = (x0, x1) => `V${FROM}C${x0} ${MIDDLE} ${x1} ${MIDDLE} ${x1} ${TO}V${HIGH}`;
  return steps.map((_, i) => {
    const before = edges(states[i]), after = edges(states[i + 1]);
    const band = (name, k) => {
      const [[a, b], [c, d]] = [before[k], after[k]].map((pair) => pair.map((x) => x.toFixed(1)));
      return html`<path class="band-${name}" d="M${a} 0${down(a, c)}H${d}V${TO}C${d} ${MIDDLE} ${b} ${
        MIDDLE} ${b} ${FROM}V0Z"/>`;
    };
    const [from, to] = [before, after].map((all) => (all.at(-1)[1] + 4).toFixed(1));
    const against = (name) => states[i + 1][name] < -0.05 && html`<path class="band-against" d="M${from} 0${
      down(from, to)}" stroke-width="${Math.max(1, -states[i + 1][name] * point).toFixed(1)}"/>`;
    return html`<svg class="t-piece" viewBox="0 0 ${RIVER} ${HIGH}" preserveAspectRatio="none"
      aria-hidden="true"><path class="band-vector" d="M${RIVER / 2} 0V${HIGH}"/>${
      BANDS.map(band)}${BANDS.map(against)}</svg>`;
  });
}

// --- the word that is chosen

function choose({ data, trace }) {
  const { top, vocabulary, id } = data, [, code] = trace.languages;
  const row = (one) => html`<tr class="${one.id === id ? "best" : ""}"><th scope="row">${
    quoted(bare(one.text), code)}</th><td class="figure">${plain(one.logit)}</td><td class="figure">${
    chance(one.chance)}</td></tr>`;
  return card("3 Choose the word", html`The best six of ${count(vocabulary)} tokens: logits → softmax`, html`<table
    class="most" data-area="choose"><thead><tr><th scope="col">word</th><th scope="col" class="figure">score</th><th
    scope="col" class="figure">chance</th></tr></thead><tbody>${top.map(row)}</tbody></table>${
    opener("choose", html`<span>How scores become chances</span>`)}`);
}
