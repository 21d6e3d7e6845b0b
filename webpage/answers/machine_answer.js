// The numbers of the whole machine (`lens/sums/machine.py`): what every block adds to the logit of one token of a
// translation, and to its margin over the runner-up, the best other token.
//
//     const answer = await machineOf(forced, step, pause, seconds)    /v1/inside has its fields
//
// The last state is a sum: the embedding, and what each block added.  So with the last norm frozen the logit is the sum
// of what they add along one direction [D], the output weights carried back through that norm (direct attribution).
// Where a norm stands after each block, as in Marian, every norm from a block on
// is frozen.  A head's part splits by the positions that it mixes.  What cross-attention takes from a source position is
// a state of the encoder.  This is a sum too, and its parts are found in the same way: attention and norms are frozen.
//
// `without` is an effect instead: the margin when a head, or a feed-forward block of the decoder, gives its mean.
// Matrices are those of the pass, in float32; what is summed over them is in float64.

import { RULES } from "../data.js";
import { allHeads, isSameWord, secondsOf } from "./evidence.js";
import { bestOf, chancesOf, logChance } from "./probabilities.js";
import { feedForwardOff, headsOff, linear, logSum, momentsOf, recorder, together } from "../model/network.js";
import { project } from "./lab_answers.js";
import { labels, specialLabel } from "./trace_record.js";
import { attentionOf, layersOf } from "./views.js";

const { LEAST_CHANGE, MOST_LAYERS, MOST_ROWS, NEURONS, STRIP, TOKENS_ON, WAVES, WORDS_COMPARED } = RULES;

// T steps, S source positions, C columns of a map, L layers, H heads, E size of one head, D model width, F inner width,
// V vocabulary

const CELLS = 1_024;  // neurons whose activations are given

export async function machineOf(forced, step, pause, seconds) {
  check(forced, step);
  const { network, tokenizer, ids, sourceIds: { length: S } } = forced;
  const scores = forced.scores(step), id = ids[step], runner = runnerUp(forced, step), T = step + 1;
  const own = outputOf(network, id), over = less(own, outputOf(network, runner));
  const parts = { for: partsOf(forced, step, less(own, meanOutput(network)), true), over: partsOf(forced, step, over) };
  await pause();
  const margin = scores[id] - scores[runner], effects = forced.effects ??= new Effects(forced);
  const without = await effects.compute(pause, seconds) ? effects.margins(step, over) : null;
  const steers = without && effects.steered(step, over, { margin, ...without, before: parts.over.feed_forward });
  return {
    step, id, word: textOf(tokenizer, id), runner: { id: runner, text: textOf(tokenizer, runner) },
    logit: scores[id] - meanOf(scores), margin, vocabulary: network.V, top: candidates(forced, scores),
    lengths: { encoder: lengthsOf(forced, "encoder", S), decoder: lengthsOf(forced, "decoder", T) },
    strips: stripsOf(forced, T),
    positions: { source: wavesOf(network, "encoder", S), inputs: wavesOf(network, "decoder", T) },
    parts, without, steers,
  };
}

function check({ network, ids }, step) {
  if (!(step < ids.length)) throw new Error(`there is no step ${step} here: expected 0 to ${ids.length - 1}`);
  for (const stack of ["encoder", "decoder"]) {
    const { length: count } = network[stack].layers;
    if (count > MOST_LAYERS) throw new Error(`the ${stack} has ${count} layers: the whole machine is shown of models`
      + ` with up to ${MOST_LAYERS}; look at single heads and layers instead`);
  }
  if (network.decoder.embedding_norm) throw new Error("In this page the whole machine is shown of models without a norm"
    + " after the embedding. Open this model with seq2see serve.");
}

// --- tokens and their output weights

const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const sum = (values) => values.reduce((total, one) => total + one, 0);
const meanOf = (values) => sum(values) / values.length;

// A token as it is shown, without the space before a word.
function textOf({ tokens }, id) { return specialLabel(tokens[id].replace(/^[ ▁]+|[ ▁]+$/g, "") || tokens[id]); }

// The best token that looks unlike the written one, and with which the network does not go on to the same word.
function runnerUp(forced, step) {
  const { tokenizer, ids } = forced, plain = (id) => textOf(tokenizer, id).normalize("NFKC").trim().toLowerCase();
  const scores = Float64Array.from(forced.scores(step)), own = plain(ids[step]);
  while (true) {
    const [best] = bestOf(scores, 1), other = plain(best), isBegun = own.startsWith(other) || other.startsWith(own);
    if (other !== own && !(isBegun && isSameWord(forced, step, best))) return best;
    scores[best] = -Infinity;
  }
}

function candidates({ tokenizer, calibrator, network: { V } }, scores) {
  const total = logSum(scores), mean = sum(scores) / V, chances = chancesOf(scores, calibrator);
  return bestOf(scores, WORDS_COMPARED).map((id) => ({ id, text: textOf(tokenizer, id), logit: scores[id] - mean,
    raw: Math.exp(scores[id] - total), chance: Math.exp(logChance(chances, id)) }));
}

// What makes the logit of a token of the last state: { weight [D], bias }.
function outputOf({ lm_head: { weight, bias }, D }, id) {
  return { weight: weight.subarray(id * D, (id + 1) * D), bias: bias[id] };
}

function meanOutput({ lm_head: { weight, bias }, D, V }) {
  const mean = new Float64Array(D);
  for (let at = 0; at < weight.length; at++) mean[at % D] += weight[at] / V;
  return { weight: mean, bias: meanOf(bias) };
}

const less = (one, other) =>
  ({ weight: Float64Array.from(one.weight, (value, i) => value - other.weight[i]), bias: one.bias - other.bias });

// --- directions: what counts, carried back

// The sum of a[i] b[i] over `size` numbers, from these places on.
function dot(a, b, size = b.length, atA = 0, atB = 0) {
  let total = 0;
  for (let i = 0; i < size; i++) total += a[atA + i] * b[atB + i];
  return total;
}

// Before a projection: W^T u [I].
function before({ weight, inputs, outputs }, direction) {
  const found = new Float64Array(inputs);
  for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) found[i] += weight[o * inputs + i] * direction[o];
  return found;
}

// Before the norm of row r of x, frozen: it subtracts the mean, then divides and scales.
function beforeNorm({ weight }, x, r, direction) {
  const D = weight.length, { spread } = momentsOf(x, r * D, D);
  const scaled = Float64Array.from(weight, (one, i) => direction[i] * one / spread), mean = meanOf(scaled);
  return scaled.map((one) => one - mean);
}

// The blocks of a stack: { name, norm, sum [R,D] }, with the norm after their sum where there is one.
function blocksOf(network, seen, stack) {
  const attention = stack === "encoder" ? { encoder: "self_attn" } : { decoder: "self_attn", cross: "encoder_attn" };
  return network[stack].layers.flatMap((block, layer) => {
    const summed = (part, norm, output) => block.isFirst ? {}
      : { norm: block[norm], sum: output().map((one, i) => one + seen.streams[`${block.name}.${part}`][0][i]) };
    const attended = Object.entries(attention).map(([kind, part]) => ({ name: `${kind}.${layer}`,
      ...summed(part, `${part}_layer_norm`, () => {
        const { mixed, T } = layersOf(seen, kind)[layer];
        return linear(attentionOf(network, kind, layer).out_proj, mixed, T);
      }) }));
    const output = () => seen.neurons[`${block.name}.fc2`][0].output;
    return [...attended, { name: `fed.${layer}`, ...summed("fc1", "final_layer_norm", output) }];
  });
}

// Along which direction what each block adds to a row counts, where the last state does along this one; `first` is that
// of the embedding, and `constant` what the norms' biases add.
function carriedBack({ layer_norm: last }, stack, seen, blocks, row, direction) {
  const along = {};
  let constant = 0;
  const carry = (norm, x) => {
    constant += dot(norm.bias, direction);
    direction = beforeNorm(norm, x, row, direction);
  };
  if (last) carry(last, seen.streams[`${stack}.layer_norm`][0]);
  for (const { name, norm, sum: x } of blocks.toReversed()) {
    if (norm) carry(norm, x);
    along[name] = direction;
  }
  return { along, first: direction, constant };
}

const decoderBack = (network, seen, step, { weight }) =>
  carriedBack(network.decoder, "decoder", seen, blocksOf(network, seen, "decoder"), step, weight);

// --- the parts of a logit

// Of what these output weights make of the last state; with `isWhole` also the activations of all neurons.
function partsOf(forced, step, output, isWhole = false) {
  const { network, seen } = forced, { decoder, D } = network;
  const { along, first: u, constant } = decoderBack(network, seen, step, output);
  const position = dot(network.position("decoder", step), u), [first] = seen.streams["decoder.layers.0.self_attn"];
  const outputs = (kind) => decoder.layers.map((_, layer) => attentionOf(network, kind, layer).out_proj);
  const from = (kind) => outputs(kind).map((one, layer) =>
    mixedFrom(layersOf(seen, kind)[layer], step, before(one, along[`${kind}.${layer}`])));
  const [own, across] = ["decoder", "cross"].map((kind) =>
    outputs(kind).map((one, layer) => dot(one.bias, along[`${kind}.${layer}`])));
  const fed = feedForwardParts(network, seen, step, along);
  return {
    embedding: dot(first, u, D, step * D) - position, position,
    constant: constant + output.bias,
    decoder: from("decoder").map((heads) => heads.map((one) => one.slice(0, step + 1))), cross: from("cross"),
    bias: own.map((one, layer) => [one, across[layer]]),
    feed_forward: fed.map(({ part }) => part),
    neurons: fed.map((one, layer) => neuronsOf(forced, decoder.layers[layer], one, isWhole)),
    encoder: encoderParts(forced, step, along),
  };
}

// What each head adds to a row from each column [H][C], where what it mixes counts along `counts` [D].
function mixedFrom({ weight, value, T, S, H, E, D }, row, counts) {
  return each(H, (h) => each(S, (c) => weight[(h * T + row) * S + c] * dot(value, counts, E, c * D + h * E, h * E)));
}

// What a feed-forward block adds to a row: each neuron [F], the bias, and their sum.
function fedBy({ fc2, name }, seen, row, u) {
  const F = fc2.inputs, inner = seen.neurons[`${name}.fc2`][0].inner.subarray(row * F, (row + 1) * F);
  const adds = before(fc2, u).map((counts, n) => counts * inner[n]), bias = dot(fc2.bias, u);
  return { inner, adds, bias, part: sum(adds) + bias };
}
const feedForwardParts = ({ decoder }, seen, step, along) =>
  decoder.layers.map((layer) => fedBy(layer, seen, step, along[`fed.${layer.layer}`]));

// The neurons of a feed-forward block that add most.
function neuronsOf({ network, tokenizer }, layer, { inner, adds, bias }, isWhole) {
  const list = bestOf(adds, NEURONS).map((number) => ({ number, activation: inner[number], adds: adds[number],
    raises: raisedBy(network, tokenizer, layer, number, inner[number] < 0 ? -1 : 1) }));
  const activations = isWhole ? bestOf(inner.map(Math.abs), CELLS).sort((a, b) => a - b).map((number) => inner[number]) : null;
  return { active: inner.filter((one) => one > 0).length, count: inner.length, bias, list, activations };
}

// The tokens whose logits what a neuron writes raises most, each text once.
function raisedBy({ decoder, lm_head: head, D, V }, tokenizer, { fc2, layer }, number, sign) {
  const column = each(D, (i) => sign * fc2.weight[i * fc2.inputs + number]);
  const written = normsAfter(decoder, layer).reduce((x, { weight }) => {
    const mean = meanOf(x);
    return x.map((one, i) => (one - mean) * weight[i]);
  }, column);
  const scores = each(V, (id) => tokenizer.special.has(id) || id === tokenizer.unknown ? -Infinity : dot(head.weight, written, D, id * D));
  const texts = bestOf(scores, 4 * NEURONS).map((id) => textOf(tokenizer, id));  // il, Il and a space before each
  return [...new Set(texts)].slice(0, NEURONS);
}

// The norms through which goes what a feed-forward block writes.
function normsAfter({ layers, layer_norm: last }, layer) {
  if (last) return [last];
  return [layers[layer].final_layer_norm, ...layers.slice(layer + 1).flatMap((one) =>
    [one.self_attn_layer_norm, one.encoder_attn_layer_norm, one.final_layer_norm])];
}

// --- the encoder's: of what cross-attention adds from each source position, what put it there

function encoderParts({ network, seen, tokens: { source } }, step, across) {
  const { encoder, D } = network, { layers } = encoder, S = source.length, blocks = blocksOf(network, seen, "encoder");
  const { counts, bias } = readAlong(network, seen, step, across);
  const states = each(S, (s) => carriedBack(encoder, "encoder", seen, blocks, s, counts[s]));
  const attended = layers.map(({ self_attn: { out_proj } }, layer) => {
    const parts = layersOf(seen, "encoder")[layer];
    return states.map(({ along }, s) => mixedFrom(parts, s, before(out_proj, along[`encoder.${layer}`])));  // [S][H][C]
  });
  const fed = layers.map((block, layer) => states.map(({ along }, s) => fedBy(block, seen, s, along[`fed.${layer}`])));
  const summed = (heads) => each(S, (c) => sum(heads.map((one) => one[c])));
  return {
    start: states.map(({ first }, s) => dot(seen.streams["encoder.layers.0.self_attn"][0], first, D, s * D)),
    attention: S <= MOST_ROWS ? attended.map((rows) => rows.map(summed)) : null,
    attention_rows: attended.map((rows) => rows.map((heads) => sum(heads.map(sum)))),
    heads: attended.map((rows) => rows[0].map((_, h) => sum(rows.map((heads) => sum(heads[h]))))),
    feed_forward: fed.map((rows) => rows.map(({ part }) => part)),
    constant: states.map(({ along, constant }, s) => bias[s] + constant
      + sum(layers.map(({ self_attn }, layer) => dot(self_attn.out_proj.bias, along[`encoder.${layer}`])))),
    neurons: fed.map((rows) => writers(rows, labels(source))),
  };
}

// Along which direction [D] the state of each source position counts, through the values of cross-attention; and what
// the biases of these add.
function readAlong(network, seen, step, across) {
  const parts = layersOf(seen, "cross"), [{ S, D, E, H, T }] = parts;
  const counts = each(S, () => new Float64Array(D)), bias = new Float64Array(S);
  parts.forEach(({ weight }, layer) => {
    const { out_proj, v_proj } = attentionOf(network, "cross", layer), mixed = before(out_proj, across[`cross.${layer}`]);
    for (let h = 0; h < H; h++) {
      const own = mixed.map((one, i) => Math.floor(i / E) === h ? one : 0), read = before(v_proj, own);
      const fixed = dot(v_proj.bias, own);
      for (let s = 0; s < S; s++) {
        const share = weight[(h * T + step) * S + s];
        for (let i = 0; i < D; i++) counts[s][i] += share * read[i];
        bias[s] += share * fixed;
      }
    }
  });
  return { counts, bias };
}

// The neurons of a block of the encoder that add most, over all its rows, and the tokens where they are most active.
function writers(rows, texts) {
  const adds = rows[0].adds.map((_, n) => sum(rows.map((one) => one.adds[n])));
  return bestOf(adds, NEURONS).map((number) => {
    const active = rows.map(({ inner }) => inner[number]);
    const on = bestOf(active, TOKENS_ON).filter((s) => active[s] > 0).map((s) => texts[s]);
    return { number, adds: adds[number], on };
  });
}

// --- vectors in a few numbers, for a picture

const rowsOf = (x, count, D) => each(count, (r) => x.subarray(r * D, (r + 1) * D));

// The length of the residual stream before the first block and after each, at the first positions.
function lengthsOf({ network: { D }, seen: { streams } }, stack, count) {
  const all = Object.entries(streams).filter(([name]) => name.startsWith(stack)).map(([, [x]]) => rowsOf(x, count, D));
  return all.map((rows) => rows.map((one) => Math.sqrt(dot(one, one))));
}

// The embeddings of source and inputs, without positions, along their joint principal components, each turned so that
// the number furthest from 0 is positive.
function stripsOf({ network, seen: { streams }, sourceIds: { length: S }, ids }, T) {
  const { D } = network;
  const all = [["encoder", S], ["decoder", ids.length]].flatMap(([stack, count]) =>
    rowsOf(streams[`${stack}.layers.0.self_attn`][0], count, D).map((row, at) => {
      const position = network.position(stack, at);
      return row.map((value, i) => value - position[i]);
    }));
  const { points } = project(all, STRIP), furthest = (a, b) => Math.abs(b) > Math.abs(a) ? b : a;
  const signs = each(STRIP, (i) => Math.sign(points.map((one) => one[i]).reduce(furthest)));
  const strips = points.map((one) => one.map((value, i) => value * signs[i]));
  return { source: strips.slice(0, S), inputs: strips.slice(S, S + T) };
}

// Numbers of each position, of waves from short to long.
function wavesOf(network, stack, count) {
  const apart = Math.max(1, Math.floor(network.D / (4 * WAVES)));
  return each(count, (at) => each(WAVES, (i) => network.position(stack, at)[i * apart]));
}

// --- effects: passes with a mean in place of what a head, or a feed-forward block of the decoder, gives

class Effects {
  constructor(forced) {
    const { seen, network, model, languages } = forced;
    const { averaged_over, ...means } = model.means(languages, () => forced);
    const heads = allHeads(seen), blocks = network.decoder.layers.map((_, layer) => ({ layer }));
    Object.assign(this, { forced, means, averaged_over, heads, blocks, parts: [...heads, ...blocks], states: [] });
  }

  // The last states [T,D] without this part.
  without({ kind, layer, head }, hooks = {}) {
    const { forced: { network, encoded, sourceIds, inputIds }, means } = this, name = `${kind}.${layer}.${head}`;
    const off = kind ? headsOff({ [name]: means.heads[name] })
      : feedForwardOff({ [`decoder.layers.${layer}.fc2`]: means.feed_forward[layer] });
    const all = together(off, hooks), source = kind === "encoder" ? network.encode(sourceIds, all) : encoded;
    return network.decode(inputIds, [network.cache()], source, all);
  }

  // Of each part, the same for every step and runner-up; whether that takes at most so many `seconds`.
  async compute(pause, seconds) {
    const { forced: { network, encoded, sourceIds, inputIds }, parts, states } = this;
    const left = parts.slice(states.length);
    const write = () => network.decode(inputIds, [network.cache()], encoded), read = () => network.encode(sourceIds);
    if (left.length && secondsOf(left, { write, read }) > seconds) return false;
    while (states.length < parts.length) {
      states.push(this.without(parts[states.length]));
      await pause();
    }
    return true;
  }

  // The margins at a step over a runner-up.
  margins(step, { weight, bias }) {
    const { heads, blocks, averaged_over, states } = this, D = weight.length;
    const at = (one, i) => ({ ...one, margin: dot(states[i], weight, D, step * D) + bias });
    return { heads: heads.map(at), feed_forward: blocks.map((one, i) => at(one, heads.length + i)), averaged_over };
  }

  // The head without which the margin is smallest, and the later feed-forward block whose part of it, `before`, then
  // changes most; null if no head lowers the margin, or it steers none.
  steered(step, over, { margin, heads, before }) {
    const found = heads.reduce((best, one) => one.margin < best.margin ? one : best), { kind, layer, head } = found;
    if (found.margin >= margin) return null;
    const { forced: { network } } = this, seen = recorder(), first = kind === "encoder" ? 0 : layer;
    this.without(found, seen.hooks);
    const { along } = decoderBack(network, seen, step, over);
    const after = feedForwardParts(network, seen, step, along).map(({ part }) => part);
    const change = (block) => Math.abs(after[block] - before[block]), later = [...after.keys()].slice(first);
    const block = later.reduce((best, one) => change(one) > change(best) ? one : best);
    if (change(block) < LEAST_CHANGE) return null;
    return { kind, layer, head, feed_forward: block, before: before[block], after: after[block] };
  }
}
