// The lab's questions about one translation, by tool, as `/v1/inside` answers them.

import { Weighing, allHeads } from "./evidence.js";
import { bestOf, chancesOf, logChance } from "./probabilities.js";
import { beamSearch, headsOff, layerNorm, linear, recorder } from "../model/network.js";
import { label, recordOfMoment } from "./trace_record.js";
import { attentionOf, layersOf } from "./views.js";
import { splitWords, tokenSpans } from "../model/words.js";

const LENS = 5, NEAR = 10, STEP = 3;  // candidates of a layer, neighbours of a word, candidates of a step
const list = (numbers, change) => Array.from(numbers, change);
const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0), length = (a) => Math.sqrt(dot(a, a));
export const similarity = (a, b) => dot(a, b) / Math.max(length(a) * length(b), 1e-12);

// --- one row of one head's map, number by number (`lens/questions/arithmetic.py`)

export function arithmetic(forced, { kind, layer, head, row }) {
  const { query, key, value, weight, mixed, T, S, H, E, D } = layersOf(forced.seen, kind)[layer] ?? {};
  if (!(head < H)) throw new Error(`there is no head ${head} in ${kind} layer ${layer} here`);
  if (!(row < T)) throw new Error(`there is no row ${row} in this map: expected 0 to ${T - 1}`);
  const own = (matrix, at) => list(matrix.subarray(at * D + head * E, at * D + (head + 1) * E));
  const each = (make) => Array.from({ length: S }, (_, c) => make(c)), q = own(query, row), scale = E ** -0.5;
  const { out_proj: output } = attentionOf(forced.network, kind, layer), mine = own(mixed, row);
  const keys = each((c) => own(key, c)), products = keys.map((one) => dot(one, q));
  const allowed = each((c) => kind !== "decoder" || c <= row), start = (head * T + row) * S;
  return {
    query: q, keys, products, scale, bias: each(() => 0), allowed, mixed: mine,
    scores: products.map((one, c) => allowed[c] ? one * scale : null), weights: list(weight.subarray(start, start + S)),
    values: each((c) => own(value, c)),
    output: Array.from({ length: D }, (_, o) => dot(mine, own(output.weight, o))),
    length: length(linear(output, mixed.subarray(row * D, (row + 1) * D), 1)),
  };
}

// --- what each decoder layer would predict as the last one (`lens/questions/logits.py`)

export function layers({ network, tokenizer, ids, seen: { streams }, calibrator }) {
  const found = { log_probs: [], ranks: [], top: [] }, { layers: all, layer_norm: norm } = network.decoder;
  for (let layer = 1; layer <= all.length; layer++) {
    const [states] = streams[layer < all.length ? `decoder.layers.${layer}.self_attn` : "decoder.layer_norm"];
    const logits = network.logits(layerNorm(norm, states, ids.length));
    const steps = ids.map((id, t) => {
      const scores = logits.subarray(t * network.V, (t + 1) * network.V), chances = chancesOf(scores, calibrator);
      return { logProb: logChance(chances, id), rank: scores.reduce((rank, one) => rank + (one > scores[id]), 0),
        top: bestOf(scores, LENS).map((one) => [label(tokenizer.tokens[one]), logChance(chances, one)]) };
    });
    found.log_probs.push(steps.map((one) => one.logProb));
    found.ranks.push(steps.map((one) => one.rank));
    found.top.push(steps.map((one) => one.top));
  }
  return found;
}

// --- the tree of a beam search: nodes [token, parent, log-probability, score] by step (`lens/questions/beam_search_tree.py`)

export function tree(model, pair, { text, num_beams: beams = 4 }) {
  const { network } = model, tokenizer = model.tokenizerOf(pair), encoded = network.encode(tokenizer.encode(text).ids);
  const { hypotheses, steps } = beamSearch(network, encoded, { beams, prefix: model.tag(pair[1]) });
  const node = ({ id, parent, logProb, score }) => [label(tokenizer.tokens[id]), parent, logProb, score];
  return { steps: steps.map((nodes) => nodes.map(node)), length_penalty: network.generation.length_penalty ?? 1,
    hypotheses: hypotheses.map(({ at, ids, score }) => [...at, tokenizer.decode(ids), score]) };
}

// --- one word in several sentences: by layer on a plane, and cosine distances (`lens/questions/embeddings.py`)

export async function words(model, pair, { word, sentences }, pause) {
  const found = [], reader = { network: model.network, tokenizer: model.tokenizerOf(pair) };
  for (const sentence of sentences) { found.push(contextual(reader, sentence, word.trim(), pair[0])); await pause(); }
  const planes = found[0].layers.map((_, layer) => project(found.map(({ layers: all }) => all[layer])));
  const distances = {}, read = {};
  found.forEach((one, i) => found.slice(i + 1).forEach((other, j) => {
    const pair = `${i} ${i + 1 + j}`, apart = (a, b) => 1 - similarity(a, b);
    distances[pair] = one.layers.map((vector, layer) => apart(vector, other.layers[layer]));
    read[pair] = apart(one.read, other.read);
  }));
  return { points: planes.map((one) => one.points), shares: planes.map((one) => one.shares), distances, read };
}

// The vectors of a word, the mean of its tokens': of the residual stream before the first layer and after each, `layers`
// [L+1,D], and what cross-attention reads, after the final norm, `read` [D].
function contextual({ network, tokenizer }, text, word, language) {
  const isIt = (one) => one.text.toLowerCase() === word.toLowerCase(), all = splitWords(text, language).map(isIt);
  const count = all.filter(Boolean).length, where = count ? `${count} times` : "not";
  if (count !== 1) throw new Error(`the word ${quoted(word)} is ${where} in ${quoted(text)}: it should be there once`);
  const { ids } = tokenizer.encode(text), { streams, hooks } = recorder(), { D } = network, place = all.indexOf(true);
  const own = tokenSpans(tokenizer, ids, text, language).flatMap((one, s) => one.word === place ? [s] : []);
  if (!own.length) throw new Error(`the word ${quoted(word)} has no tokens of its own: choose another`);
  const { states } = network.encode(ids, hooks);
  const names = network.encoder.layers.map((_, layer) => `encoder.layers.${layer}.self_attn`);
  const at = (name, s) => streams[name][0].subarray(s * D, (s + 1) * D);
  return { layers: [...names, "encoder.layer_norm"].map((name) => meanOf(own.map((s) => at(name, s)))),
    read: meanOf(own.map((s) => states.subarray(s * D, (s + 1) * D))) };
}
const meanOf = (vectors) => Array.from({ length: vectors[0].length }, (_, i) =>
  vectors.reduce((sum, one) => sum + one[i], 0) / vectors.length);
const quoted = (text) => `'${text}'`;

// The first principal components of N vectors, from the products of their differences to the mean, [N,N].
export function project(vectors, count = 2) {
  const mean = meanOf(vectors), centred = vectors.map((one) => one.map((value, i) => value - mean[i]));
  let left = centred.map((a) => centred.map((b) => dot(a, b)));
  const whole = Math.max(left.reduce((sum, row, i) => sum + row[i], 0), 1e-300), shares = [], axes = [];
  for (let axis = 0; axis < count; axis++) {
    const [size, direction] = largest(left);
    const along = mean.map((_, i) => centred.reduce((sum, one, n) => sum + one[i] * direction[n], 0));
    const most = along.reduce((best, one) => Math.abs(one) > Math.abs(best) ? one : best, 0), scale = Math.sqrt(size);
    axes.push(direction.map((one) => one * scale * (Math.sign(most) || 1)));
    shares.push(size / whole);
    left = left.map((row, i) => row.map((one, j) => one - size * direction[i] * direction[j]));
  }
  return { points: vectors.map((_, n) => axes.map((one) => one[n])), shares };
}

// The largest eigenvalue of a symmetric matrix and its vector, by repeated squaring and a last product.
function largest(matrix) {
  let power = matrix;
  for (let i = 0; i < 40 && !isOneVector(power); i++) {
    const most = Math.max(1e-300, ...power.flat().map(Math.abs));
    const scaled = power.map((row) => row.map((one) => one / most));
    power = scaled.map((row) => scaled.map((_, j) => scaled.reduce((sum, other, k) => sum + row[k] * other[j], 0)));
  }
  const own = power.reduce((best, row) => length(row) > length(best) ? row : best), size = length(own);
  const direction = own.map((one) => size ? one / size : 0), image = matrix.map((row) => dot(row, direction));
  return [Math.max(0, dot(image, direction)), direction];
}

// Whether only the largest eigenvalue is left: then the square of the sum of all is the sum of their squares.
function isOneVector(matrix) {
  const sum = matrix.reduce((total, row, i) => total + row[i], 0), all = matrix.flat();
  return sum ** 2 <= dot(all, all) * (1 + 1e-12);
}

// --- neighbours of a word, or of word - minus + plus: [token, similarity, whether it is in the question], and vectors

export function near({ network, tokenizer }, { word, minus = "", plus = "" }) {
  const names = [word, minus, plus].map((one) => one.trim()), isAnalogy = Boolean(names[1] || names[2]);
  const wordIds = (isAnalogy ? names : [names[0]]).map((one) => idsOf(tokenizer, one)), rowOf = rowsOf(network);
  const [first, second, third] = wordIds.map((ids) => meanOf(ids.map(rowOf)));
  const vector = isAnalogy ? first.map((one, i) => one - second[i] + third[i]) : first, own = new Set(wordIds.flat());
  const isHidden = (name, id) => tokenizer.special.has(id) || isByte(name) || !isAnalogy && own.has(id);
  const scores = tokenizer.tokens.map((name, id) => isHidden(name, id) ? -Infinity : similarity(rowOf(id), vector));
  const nearest = bestOf(scores, NEAR), rounded = (one) => list(one, (value) => +value.toFixed(4));
  return { near: nearest.map((id) => [label(tokenizer.tokens[id]), scores[id], own.has(id)]),
    vectors: [first, ...nearest.map(rowOf)].map(rounded) };
}
const rowsOf = ({ shared }) => (id) => shared.row(id);
export const embeddingOf = (network, tokenizer, word) => meanOf(idsOf(tokenizer, word).map(rowsOf(network)));
const isByte = (name) => /^<0x..>$/.test(name);
function idsOf(tokenizer, word) {
  if (!word) throw new Error("expected a word, got nothing");
  const ids = tokenizer.bare(word);
  if (!ids.length || ids.some((id) => isByte(tokenizer.tokens[id]) || tokenizer.special.has(id)))
    throw new Error(`the word ${quoted(word)} is not in the vocabulary: choose one from the training data`);
  return ids;
}

// --- each step with or without positions (`lens/questions/word_order.py`)

export function positions(forced, { positions: added }) {
  const { network, tokenizer, sourceIds, ids, calibrator } = forced, named = (id) => label(tokenizer.tokens[id]);
  const hooks = added ? {} : { positions: (row) => row.fill(0) };
  const { logits } = forced.run(network.encode(sourceIds, hooks), hooks);
  const steps = ids.map((_, t) => chancesOf(forced.scores(t, { logits }), calibrator));
  return { tokens: ids.map(named), chances: ids.map((id, t) => steps[t].weights[id] / steps[t].sum),
    top: steps.map(({ weights, sum }) => bestOf(weights, STEP).map((id) => [named(id), weights[id] / sum])) };
}

// --- the odds of each word with each head patched from another sentence (`lens/questions/evidence.py`)

export async function patch(forced, { other }, pause) {
  const { network, tokenizer, sourceIds } = forced, ids = tokenizer.encode(other).ids, donor = recorder();
  if (ids.length !== sourceIds.length)
    throw new Error(`patching needs equal lengths: the texts have ${sourceIds.length} and ${ids.length} tokens`);
  forced.run(network.encode(ids, donor.hooks), donor.hooks);
  const weigh = new Weighing(forced), heads = [];
  for (const head of allHeads(forced.seen)) {
    const { T, E, D, mixed } = layersOf(donor, head.kind)[head.layer], own = new Float32Array(T * E);
    for (let t = 0; t < T; t++) own.set(mixed.subarray(t * D + head.head * E, t * D + (head.head + 1) * E), t * E);
    const hooks = headsOff({ [`${head.kind}.${head.layer}.${head.head}`]: own });
    const { logOdds } = weigh.odds(weigh.pass(forced.text, hooks, head.kind === "encoder"));
    heads.push({ ...head, log_odds: logOdds.map((one) => +one.toFixed(4)) });
    await pause();
  }
  return { heads };
}

// --- the recorded moments of the training, of this sentence or of the first

export function replay(moments, { text }) {
  if (!moments) return { texts: [], moments: [] };
  const texts = moments[0].traces.map((one) => one.source_text), which = Math.max(0, texts.indexOf(text));
  return { texts, moments: moments.map(({ step, loss, bleu, traces }) =>
    ({ step, loss, bleu, trace: recordOfMoment(traces[which]) })) };
}
