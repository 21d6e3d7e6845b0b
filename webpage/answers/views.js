// The maps of a forced pass, in all views that the page offers (`lens/data/view_names.py`): each is { shape, values }, rows last
// but one.  A pass is kept by `recorder()`.

import { layerNorm, linear, momentsOf } from "../model/network.js";

// R rows, C columns, H heads, E size of one head, D model width, L layers

export const KINDS = ["encoder", "decoder", "cross"];

// Of what a recorder has kept of a forced pass, the attentions of a kind, first layer first.
export const layersOf = ({ parts }, kind) =>
  Object.keys(parts).filter((name) => name.startsWith(kind)).map((name) => parts[name][0]);

// The maps of each kind in one of these views.
export function viewOf(network, seen, view) {
  if (view === "rollout") return rolled(ofKinds((kind) => layersOf(seen, kind).map(averaged)), halves(seen));
  if (view === "contributions") {
    const shares = ofKinds((kind) => layersOf(seen, kind).map((_, layer) => sharesOf(network, seen, kind, layer)));
    return rolled(ofKinds((kind) => shares[kind].map(({ at }) => at)), shares.cross.map(({ residual }) => residual));
  }
  return ofKinds((kind) => {
    const layers = layersOf(seen, kind), [{ H, T, S }] = layers;
    const each = layers.map((parts, layer) => view === "norm" ? normed(network, parts, kind, layer) : parts.weight);
    return { shape: [layers.length, H, T, S], values: joined(each) };
  });
}

const ofKinds = (make) => Object.fromEntries(KINDS.map((kind) => [kind, make(kind)]));
function joined(arrays) {
  const all = new Float32Array(arrays.reduce((size, one) => size + one.length, 0));
  arrays.reduce((at, one) => { all.set(one, at); return at + one.length; }, 0);
  return all;
}

export function attentionOf(network, kind, layer) {
  if (kind === "encoder") return network.encoder.layers[layer].self_attn;
  return network.decoder.layers[layer][kind === "cross" ? "encoder_attn" : "self_attn"];
}

// W_O^h v^h[c], the output of each head if all its weight were on one column: [H,C,D].
function vectors({ out_proj: { weight } }, { value, S, H, E, D }) {
  const found = new Float32Array(H * S * D);
  for (let h = 0, at = 0; h < H; h++) for (let c = 0; c < S; c++) for (let o = 0; o < D; o++, at++) {
    const w = o * D + h * E, v = c * D + h * E;
    for (let i = 0; i < E; i++) found[at] += weight[w + i] * value[v + i];
  }
  return found;
}

// |a W_O^h v^h|: how long the vector is that came from a column (Kobayashi et al. 2020).
function normed(network, parts, kind, layer) {
  const { T, S, H, D, weight } = parts, own = vectors(attentionOf(network, kind, layer), parts);
  const lengths = Array.from({ length: H * S }, (_, i) => Math.hypot(...own.subarray(i * D, (i + 1) * D)));
  return weight.map((share, at) => share * lengths[Math.floor(at / (T * S)) * S + at % S]);
}

// --- through the layers

// Half of the mean of the heads, and half of the residual: the layers of rollout (Abnar and Zuidema 2020).
const halves = (seen) => layersOf(seen, "cross").map(({ T }) => new Float32Array(T).fill(0.5));
function averaged({ T, S, H, weight }) {
  const mean = new Float32Array(T * S);
  for (let i = 0; i < weight.length; i++) mean[i % (T * S)] += weight[i] / H / 2;
  return { T, S, own: 0.5, values: mean };
}

// The share of each column in the output y of a block (ALTI: Ferrando et al. 2022): how much closer its part x brings
// the sum to the output, max(0, |y| - |y - x|) in the L1 norm; of cross-attention the residual's share apart.  A norm
// after the sum is frozen, and each part goes through it (Kobayashi et al. 2021).
function sharesOf(network, seen, kind, layer) {
  const parts = layersOf(seen, kind)[layer], { T, S, H, D, weight, mixed } = parts;
  const attention = attentionOf(network, kind, layer), own = vectors(attention, parts);
  const stack = kind === "encoder" ? "encoder" : "decoder";
  const [residual] = seen.streams[`${stack}.layers.${layer}.${kind === "cross" ? "encoder_attn" : "self_attn"}`];
  const block = network[stack].layers[layer], norm = block[kind === "cross" ? "encoder_attn_layer_norm" : "self_attn_layer_norm"];
  const sum = linear(attention.out_proj, mixed, T).map((value, i) => value + residual[i]);
  const output = block.isFirst ? sum : layerNorm(norm, sum, T);
  const at = new Float32Array(T * S), left = new Float32Array(T), columns = kind === "cross" ? S + 1 : S;
  for (let r = 0; r < T; r++) {
    const row = Array.from({ length: columns }, () => new Float64Array(D));
    for (let h = 0; h < H; h++) for (let c = 0; c < S; c++) {
      const share = weight[(h * T + r) * S + c];
      for (let d = 0; d < D; d++) row[c][d] += share * own[(h * S + c) * D + d];
    }
    for (let d = 0; d < D; d++) row[kind === "cross" ? S : r][d] += residual[r * D + d];
    const { spread } = momentsOf(sum, r * D, D);
    if (!block.isFirst) for (const part of row) throughFrozen(norm, spread, part);
    const shares = nearer(row, output.subarray(r * D, (r + 1) * D));
    at.set(shares.slice(0, S), r * S);
    if (kind === "cross") left[r] = shares[S];
  }
  return { at: { T, S, own: 0, values: at }, residual: left };
}

function throughFrozen({ weight }, spread, part) {
  const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
  for (let d = 0; d < part.length; d++) part[d] = (part[d] - mean) / spread * weight[d];
}

function nearer(row, output) {
  const length = (x) => x.reduce((sum, value) => sum + Math.abs(value), 0), whole = length(output);
  let found = row.map((part) => Math.max(0, whole - length(output.map((value, d) => value - part[d]))));
  if (!found.some(Boolean)) found = row.map(length);  // no part brings it closer, as in an untrained model
  const sum = found.reduce((total, one) => total + one, 0);
  return found.map((one) => one / sum);
}

// What each state comes from through all layers: rows of the encoder sum to 1, those of cross and decoder together.
// Layers are { T, S, values } and, with half of the residual still to be added to the diagonal, `own` of it.
function rolled({ encoder, decoder, cross }, residual) {
  const [{ S }] = encoder, [{ T }] = cross, found = { encoder: [], decoder: [], cross: [] };
  let states = unit(S, 1), source = new Float32Array(T * S), prefix = unit(T, 1);
  for (const layer of encoder) found.encoder.push(states = times(withOwn(layer), states, S, S, S));
  decoder.forEach((layer, l) => {
    const kept = withOwn(layer).map((value, i) => value * residual[l][Math.floor(i / T)]);
    const across = times(cross[l].values, states, T, S, S);
    source = times(kept, source, T, T, S).map((value, i) => value + across[i]);
    prefix = times(kept, prefix, T, T, T);
    found.cross.push(source);
    found.decoder.push(prefix);
  });
  const sizes = { encoder: [S, S], decoder: [T, T], cross: [T, S] };
  return ofKinds((kind) => ({ shape: [found[kind].length, ...sizes[kind]], values: joined(found[kind]) }));
}

function unit(size, value) {
  const found = new Float32Array(size * size);
  for (let i = 0; i < size; i++) found[i * size + i] = value;
  return found;
}
function withOwn({ T, own, values }) {
  const diagonal = unit(T, own);
  return values.map((value, i) => value + diagonal[i]);
}

// [R,K] by [K,C]
function times(a, b, R, K, C) {
  const found = new Float32Array(R * C);
  for (let r = 0; r < R; r++) for (let k = 0; k < K; k++) for (let c = 0; c < C; c++)
    found[r * C + c] += a[r * K + k] * b[k * C + c];
  return found;
}
