// The whole network once more, in plain JavaScript, top to bottom: norm, positions, attention, layers, cache,
// embedding, encoder, decoder, greedy search, beam search.  It computes what `modeling/` computes, with the same names,
// for one source at a time and in evaluation mode; and Marian, M2M-100, NLLB, mBART and BART, which differ from it in
// what an architecture says (`webpage_data/architecture.py`): where norms stand, the activation, the positions.
// Placeholders, HTML and the detection of languages are not here: the server's Python has them.
//
//     const network = new Network(architecture, generation, weights)   generation_config.json; see weights.js
//     const encoded = network.encode(sourceIds, hooks)           the source ends with </s>
//     const { ids, logProb, logits } = greedy(network, encoded, { prefix: [tag], hooks })
//     const { hypotheses: [best], steps } = beamSearch(network, encoded, { prefix: [tag], beams: 4 })
//     const { states, logits } = network.force(encoded, targetIds, hooks)        one pass over a known translation
//     network.shared.weight                                      the embeddings [V,D]
//
// `encoded` may serve several searches and passes; encode again for hooks that act in the encoder.
//
// Hooks look inside, or change what happens.  They are functions of one plain object, called while the network runs:
//
//     stream(name, x, start)     the residual stream x [R,D] as a sub-layer reads it, named as in modeling/:
//                                "encoder.layers.0.self_attn", "decoder.layers.0.encoder_attn",
//                                "decoder.layers.0.fc1"; "decoder.layer_norm" reads what the last layer left
//     scores(place, parts)       before the softmax; `place` is { kind, layer }: "encoder", "decoder" or "cross"
//     weights(place, parts)      after the softmax
//     mixed(place, parts)        after the weighted sum, before the output projection
//     positions(row)             a position [D], before it is added to an embedding; it may be overwritten
//     neurons(name, parts)       after a feed-forward layer, named "decoder.layers.0.fc2", before its output is added;
//                                `parts` are { R, inner [R,F], output [R,D] }; the output may be overwritten
//
// Of attention, `parts` are { T, S, H, E, D, start, query [T,D], key [S,D], value [S,D], weight [H,T,S], mixed [T,D] }
// of one hypothesis.  Head h owns columns h*E to (h+1)*E; `weight` holds the scores until the softmax; row t is position
// start + t.  All may be overwritten, but keys and values are kept for the next steps: put a changed copy in their
// place.  Ready hooks are at the end: `recorder`, `headsOff`, `feedForwardOff`, `together`.

// T target positions, S source positions (or positions attended to), R rows of several hypotheses, H heads,
// E size of one head, D = H * E model width, F inner width, V vocabulary, K beams

// --- one matrix, one norm

// y = W x + b for R rows: [R,I] to [R,O].  Four rows or outputs at a time, so that each number is read once for several
// products.  Where O is odd the last output is computed twice.  In int8 each row of W has a scale, and four numbers are
// read as one of 32 bits, which is a third faster.
export function linear({ numbers, fours, scales, bias, inputs, outputs }, x, R) {
  const y = new Float32Array(R * outputs), [weight, four, one] = fours ? [fours, fourRowsOfInt8, oneRowOfInt8]
    : [numbers, fourRows, oneRow];
  let r = 0;
  for (; r + 4 <= R; r += 4) four(weight, inputs, outputs, x, r, y);
  for (; r < R; r++) one(weight, inputs, outputs, x, r, y);
  for (let at = 0, row = 0; row < R; row++) for (let o = 0; o < outputs; o++, at++)
    y[at] = (scales ? y[at] * scales[o] : y[at]) + bias[o];
  return y;
}

function fourRows(weight, I, O, x, r, y) {
  const a = r * I, b = a + I, c = b + I, d = c + I;
  for (let o = 0; o < O; o += 2) {
    const p = Math.min(o + 1, O - 1), v = o * I, w = p * I, to = r * O;
    let an = 0, bn = 0, cn = 0, dn = 0, ap = 0, bp = 0, cp = 0, dp = 0;
    for (let i = 0; i < I; i++) {
      const wo = weight[v + i], wp = weight[w + i], xa = x[a + i], xb = x[b + i], xc = x[c + i], xd = x[d + i];
      an += wo * xa; bn += wo * xb; cn += wo * xc; dn += wo * xd;
      ap += wp * xa; bp += wp * xb; cp += wp * xc; dp += wp * xd;
    }
    y[to + o] = an; y[to + O + o] = bn; y[to + 2 * O + o] = cn; y[to + 3 * O + o] = dn;
    y[to + p] = ap; y[to + O + p] = bp; y[to + 2 * O + p] = cp; y[to + 3 * O + p] = dp;
  }
}

function oneRow(weight, I, O, x, r, y) {
  const from = r * I, to = r * O;
  for (let o = 0; o < O; o += 4) {
    const p = Math.min(o + 1, O - 1), q = Math.min(o + 2, O - 1), s = Math.min(o + 3, O - 1);
    const vo = o * I, vp = p * I, vq = q * I, vs = s * I;
    let yo = 0, yp = 0, yq = 0, ys = 0;
    for (let i = 0; i < I; i++) {
      const one = x[from + i];
      yo += one * weight[vo + i]; yp += one * weight[vp + i]; yq += one * weight[vq + i]; ys += one * weight[vs + i];
    }
    y[to + o] = yo; y[to + p] = yp; y[to + q] = yq; y[to + s] = ys;
  }
}

function fourRowsOfInt8(fours, I, O, x, r, y) {
  const a = r * I, b = a + I, c = b + I, d = c + I, to = r * O;
  for (let o = 0, at = 0; o < O; o++) {
    let ya = 0, yb = 0, yc = 0, yd = 0;
    for (let i = 0; i < I; i += 4, at++) {
      const four = fours[at], w0 = four << 24 >> 24, w1 = four << 16 >> 24, w2 = four << 8 >> 24, w3 = four >> 24;
      ya += w0 * x[a + i]; yb += w0 * x[b + i]; yc += w0 * x[c + i]; yd += w0 * x[d + i];
      ya += w1 * x[a + i + 1]; yb += w1 * x[b + i + 1]; yc += w1 * x[c + i + 1]; yd += w1 * x[d + i + 1];
      ya += w2 * x[a + i + 2]; yb += w2 * x[b + i + 2]; yc += w2 * x[c + i + 2]; yd += w2 * x[d + i + 2];
      ya += w3 * x[a + i + 3]; yb += w3 * x[b + i + 3]; yc += w3 * x[c + i + 3]; yd += w3 * x[d + i + 3];
    }
    y[to + o] = ya; y[to + O + o] = yb; y[to + 2 * O + o] = yc; y[to + 3 * O + o] = yd;
  }
}

function oneRowOfInt8(fours, I, O, x, r, y) {
  const from = r * I, to = r * O, size = I / 4;
  for (let o = 0; o < O; o += 2) {
    const p = Math.min(o + 1, O - 1);
    let v = o * size, w = p * size, yo = 0, yp = 0, zo = 0, zp = 0;
    for (let i = from; i < from + I; i += 4, v++, w++) {
      const one = fours[v], other = fours[w], x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
      yo += x0 * (one << 24 >> 24); zo += x1 * (one << 16 >> 24); yo += x2 * (one << 8 >> 24); zo += x3 * (one >> 24);
      yp += x0 * (other << 24 >> 24); zp += x1 * (other << 16 >> 24); yp += x2 * (other << 8 >> 24); zp += x3 * (other >> 24);
    }
    y[to + o] = yo + zo; y[to + p] = yp + zp;
  }
}

// Each row [D] gets mean 0 and variance 1, then the norm's own scale and shift; without a norm it stays.
export function layerNorm(norm, x, R) {
  if (!norm) return x;
  const { weight, bias } = norm, D = weight.length, y = new Float32Array(R * D);
  for (let at = 0; at < R * D; at += D) {
    const { mean, spread } = momentsOf(x, at, D);
    for (let i = 0; i < D; i++) y[at + i] = (x[at + i] - mean) / spread * weight[i] + bias[i];
  }
  return y;
}

// The mean of a row, and what a norm divides it by.
export function momentsOf(x, at, D) {
  let mean = 0, variance = 0;
  for (let i = 0; i < D; i++) mean += x[at + i] / D;
  for (let i = 0; i < D; i++) variance += (x[at + i] - mean) ** 2 / D;
  return { mean, spread: Math.sqrt(variance + 1e-5) };
}

const added = (x, y) => x.map((value, i) => value + y[i]);  // the residual connection

// --- activations

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const ACTIVATIONS = {
  relu: (x) => x > 0 ? x : 0,
  silu: (x) => x * sigmoid(x),
  gelu: (x) => x * (1 + erf(x / Math.SQRT2)) / 2,
  gelu_new: (x) => x * sigmoid(Math.sqrt(8 / Math.PI) * (x + 0.044715 * x ** 3)),
};

// Within 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26).
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

// --- positions

// Row p of the table of Vaswani et al. 2017 (section 3.5) is the hands of D/2 clocks at time p, as sine and cosine: side
// by side, or all sines and then all cosines.  The slowest clock but for `intervals` turns once in 2 pi * 10,000 steps.
function sinusoid(position, D, { interleaved, intervals }) {
  const row = new Float32Array(D), [step, cosines] = interleaved ? [2, 1] : [1, D / 2];
  for (let i = 0; i < D / 2; i++) {
    const angle = position / 10_000 ** (i / intervals);
    row[i * step] = Math.sin(angle);
    row[i * step + cosines] = Math.cos(angle);
  }
  return row;
}

// --- attention

// Mixes values by how well queries match keys: softmax(Q K^T / sqrt(E)) V, for each head (Vaswani et al. 2017, eq. 1).
// With `causal`, row t of T sees the keys up to its own, the last T of S being those of the rows.  Gives mixed [T,D].
function attend(parts, { causal, place, hooks }) {
  const { T, S, H } = parts;
  parts.weight = scores(parts, causal);
  hooks.scores?.(place, parts);
  for (let row = 0; row < H * T; row++) softmax(parts.weight, row * S, S);
  hooks.weights?.(place, parts);
  parts.mixed = mix(parts);
  hooks.mixed?.(place, parts);
  return parts.mixed;
}

// score[h,t,s] = q[t] . k[s] / sqrt(E) in the columns of head h; [H,T,S]
function scores({ query, key, T, S, H, E, D }, causal) {
  const score = new Float32Array(H * T * S), scale = E ** -0.5;
  for (let h = 0, at = 0; h < H; h++) for (let t = 0; t < T; t++) for (let s = 0; s < S; s++, at++) {
    const q = t * D + h * E, k = s * D + h * E;
    let product = 0;
    for (let i = 0; i < E; i++) product += query[q + i] * key[k + i];
    score[at] = causal && s > S - T + t ? -Infinity : product * scale;
  }
  return score;
}

function softmax(x, at, size) {
  let most = -Infinity, sum = 0;
  for (let i = at; i < at + size; i++) if (x[i] > most) most = x[i];
  for (let i = at; i < at + size; i++) sum += x[i] = Math.exp(x[i] - most);
  for (let i = at; i < at + size; i++) x[i] /= sum;
}

// mixed[t] = sum over s of weight[h,t,s] v[s] in the columns of head h; [T,D]
function mix({ weight, value, T, S, H, E, D }) {
  const mixed = new Float32Array(T * D);
  for (let h = 0, at = 0; h < H; h++) for (let t = 0; t < T; t++) for (let s = 0; s < S; s++, at++) {
    const m = t * D + h * E, v = s * D + h * E, share = weight[at];
    for (let i = 0; i < E; i++) mixed[m + i] += share * value[v + i];
  }
  return mixed;
}

class MultiHeadAttention {
  constructor(weights, name, place, H) {
    for (const one of ["q_proj", "k_proj", "v_proj", "out_proj"]) this[one] = weights.linear(`${name}.${one}`);
    Object.assign(this, { place, H });
  }

  keysAndValues(x, S) { return { key: linear(this.k_proj, x, S), value: linear(this.v_proj, x, S) }; }

  // x [R,D] to [R,D].  `groups` say what rows attend to: [{ T, S, start, key, value, causal }], T rows each.
  forward(x, groups, hooks) {
    const { H, place } = this, D = this.q_proj.outputs, E = D / H, R = x.length / D;
    const query = linear(this.q_proj, x, R), mixed = new Float32Array(R * D);
    let at = 0;
    for (const { T, S, start, key, value, causal } of groups) {
      const parts = { T, S, H, E, D, start, key, value, query: query.subarray(at, at + T * D) };
      mixed.set(attend(parts, { causal, place, hooks }), at);
      at += T * D;
    }
    return linear(this.out_proj, mixed, R);
  }
}

// --- layers: each sub-layer adds its output to the residual stream; a norm comes before it, or after the sum

class Layer {
  constructor(weights, name, { norm_first: isFirst, activation }) {
    for (const one of ["fc1", "fc2"]) this[one] = weights.linear(`${name}.${one}`);
    for (const one of ["self_attn_layer_norm", "final_layer_norm"]) this[one] = weights.norm(`${name}.${one}`);
    Object.assign(this, { name: name.replace("model.", ""), isFirst, activation: ACTIVATIONS[activation] });
  }

  // x [R,D] to [R,D]; `output` makes what is added, of x as the sub-layer reads it.
  added(norm, x, R, output) {
    const sum = added(x, output(this.isFirst ? layerNorm(norm, x, R) : x));
    return this.isFirst ? sum : layerNorm(norm, sum, R);
  }

  feedForward(x, R, start, hooks) {
    hooks.stream?.(`${this.name}.fc1`, x, start);
    return this.added(this.final_layer_norm, x, R, (read) => {
      const inner = linear(this.fc1, read, R).map(this.activation);  // [R,F]
      const parts = { R, inner, output: linear(this.fc2, inner, R) };
      hooks.neurons?.(`${this.name}.fc2`, parts);
      return parts.output;
    });
  }
}

class EncoderLayer extends Layer {
  constructor(weights, name, layer, H, architecture) {
    super(weights, name, architecture);
    this.self_attn = new MultiHeadAttention(weights, `${name}.self_attn`, { kind: "encoder", layer }, H);
  }

  // [S,D] to [S,D]: every position attends to every other.
  forward(x, S, hooks) {
    hooks.stream?.(`${this.name}.self_attn`, x, 0);
    x = this.added(this.self_attn_layer_norm, x, S, (read) => this.self_attn.forward(read,
      [{ T: S, S, start: 0, ...this.self_attn.keysAndValues(read, S), causal: false }], hooks));
    return this.feedForward(x, S, 0, hooks);
  }
}

class DecoderLayer extends Layer {
  constructor(weights, name, layer, H, architecture) {
    super(weights, name, architecture);
    this.layer = layer;
    this.encoder_attn_layer_norm = weights.norm(`${name}.encoder_attn_layer_norm`);
    this.self_attn = new MultiHeadAttention(weights, `${name}.self_attn`, { kind: "decoder", layer }, H);
    this.encoder_attn = new MultiHeadAttention(weights, `${name}.encoder_attn`, { kind: "cross", layer }, H);
  }

  // [R,D] to [R,D], where R = T positions of each hypothesis, which has its own cache: each attends to its earlier
  // positions, then to the source.
  forward(x, T, caches, encoded, hooks) {
    const R = T * caches.length, start = caches[0].length;
    hooks.stream?.(`${this.name}.self_attn`, x, start);
    x = this.added(this.self_attn_layer_norm, x, R, (read) => {
      const own = this.self_attn.keysAndValues(read, R);
      const groups = caches.map((cache, i) => cache.extend(this.layer, own, i * T, T));
      return this.self_attn.forward(read, groups, hooks);
    });
    hooks.stream?.(`${this.name}.encoder_attn`, x, start);
    // The source does not change, so its keys and values are computed once.
    const source = encoded.cross[this.layer] ??= this.encoder_attn.keysAndValues(encoded.states, encoded.S);
    const groups = caches.map(() => ({ T, S: encoded.S, start, ...source, causal: false }));
    x = this.added(this.encoder_attn_layer_norm, x, R, (read) => this.encoder_attn.forward(read, groups, hooks));
    return this.feedForward(x, R, start, hooks);
  }
}

// --- the cache: the keys and values of what is written never change

class Cache {
  constructor(D, layers, length = 0) { Object.assign(this, { D, layers, length }); }

  static empty(D, layers) {
    const store = () => ({ key: new Float32Array(16 * D), value: new Float32Array(16 * D) });
    return new Cache(D, Array.from({ length: layers }, store));
  }

  copy() {
    const layers = this.layers.map(({ key, value }) => ({ key: key.slice(), value: value.slice() }));
    return new Cache(this.D, layers, this.length);
  }

  // What T new positions of one hypothesis attend to: earlier ones, and their own keys and values, from row `first` on.
  extend(layer, own, first, T) {
    const { D, length: start, layers: { [layer]: store } } = this, S = start + T;
    for (const part of ["key", "value"]) {
      if (store[part].length < S * D) store[part] = longer(store[part], 2 * S * D);
      store[part].set(own[part].subarray(first * D, (first + T) * D), start * D);
    }
    return { T, S, start, causal: true, key: store.key.subarray(0, S * D), value: store.value.subarray(0, S * D) };
  }
}

function longer(array, size) {
  const grown = new Float32Array(size);
  grown.set(array);
  return grown;
}

// --- the network

export class Network {
  constructor(architecture, generation, weights) {
    const { d_model: D, start_token_id: start, end_token_ids: ends } = architecture;
    const stack = (name, Kind) => ({
      layers: Array.from({ length: architecture[name].layers }, (_, layer) =>
        new Kind(weights, `model.${name}.layers.${layer}`, layer, architecture[name].heads, architecture)),
      embeddings: weights.matrix(`model.${name}.embed_tokens`) ?? weights.matrix("model.shared"),
      embedding_norm: weights.norm(`model.${name}.layernorm_embedding`),
      positions: weights.matrix(`model.${name}.embed_positions`),  // null where they are computed
      layer_norm: weights.norm(`model.${name}.layer_norm`),  // null where each layer ends with a norm
    });
    Object.assign(this, { architecture, generation, D, start, ends });
    this.encoder = stack("encoder", EncoderLayer);
    this.decoder = stack("decoder", DecoderLayer);
    this.shared = this.encoder.embeddings;  // [V,D]
    const bias = "final_logits_bias", tied = ["lm_head", "model.decoder.embed_tokens", "model.shared"];
    this.lm_head = tied.map((name) => weights.matrix(name, bias)).find(Boolean);
    this.V = this.lm_head.outputs;
    this.longest = architecture.positions.most;
  }

  // What is added to the embedding at a position: [D].
  position(stack, at) {
    const { D, architecture: { positions } } = this, table = this[stack].positions, row = at + positions.first;
    return table ? table.row(row) : sinusoid(row, D, positions);
  }

  // Scaled embeddings of ids plus their positions, from `start` on: [T,D].
  embed(stack, ids, start, hooks) {
    const { D, longest, architecture: { embedding_scale: scale } } = this, { embeddings, embedding_norm: norm } = this[stack];
    if (start + ids.length > longest) throw new Error(`expected at most ${longest} tokens, got ${start + ids.length}`);
    const x = new Float32Array(ids.length * D);
    ids.forEach((id, t) => {
      const position = this.position(stack, start + t);
      hooks.positions?.(position);
      embeddings.row(id).forEach((value, i) => { x[t * D + i] = value * scale + position[i]; });
    });
    return layerNorm(norm, x, ids.length);
  }

  // What the decoder reads of a source: its states [S,D], and a place for the keys and values of cross-attention.
  encode(ids, hooks = {}) {
    const S = ids.length;
    let x = this.embed("encoder", ids, 0, hooks);
    for (const layer of this.encoder.layers) x = layer.forward(x, S, hooks);
    hooks.stream?.("encoder.layer_norm", x, 0);
    return { ids, S, states: layerNorm(this.encoder.layer_norm, x, S), cross: [] };
  }

  // The next T positions of several hypotheses, ids [R] = T of each, to states [R,D]; extends the caches.
  decode(ids, caches, encoded, hooks = {}) {
    const T = ids.length / caches.length, start = caches[0].length;
    let x = join(caches.map((_, i) => this.embed("decoder", ids.slice(i * T, (i + 1) * T), start, hooks)));
    for (const layer of this.decoder.layers) x = layer.forward(x, T, caches, encoded, hooks);
    hooks.stream?.("decoder.layer_norm", x, start);
    for (const cache of caches) cache.length += T;
    return layerNorm(this.decoder.layer_norm, x, ids.length);
  }

  // The score [R,V] of each token of the vocabulary to come next.
  logits(states) { return linear(this.lm_head, states, states.length / this.D); }

  cache() { return Cache.empty(this.D, this.decoder.layers.length); }

  // One pass over a translation that is known, each step reading the token before: states [T,D] and logits [T,V].
  force(encoded, ids, hooks = {}) {
    const read = [this.start, ...ids.slice(0, -1)];
    const states = this.decode(read, [this.cache()], encoded, hooks);
    return { states, logits: this.logits(states) };
  }
}

function join(arrays) {
  if (arrays.length === 1) return arrays[0];
  const all = new Float32Array(arrays.length * arrays[0].length);
  arrays.forEach((one, i) => all.set(one, i * one.length));
  return all;
}

// --- search

// The options of a search, those left out as in generation_config.json:
//   prefix      ids that the translation must begin with, and that count as its own: the tag of its language
//   prompt      ids before them that do not count: a beginning that a reader forces, with its tag
//   most        tokens at most, with prompt, prefix and </s>
//   beams, lengthPenalty, earlyStopping, repetitionPenalty, noRepeat
//   hooks       of every step
function resolved({ generation, longest }, options) {
  const most = generation.max_length ? generation.max_length - 1 : 512;
  return {
    prefix: [], prompt: [], hooks: {}, most: Math.min(most, longest),
    beams: generation.num_beams ?? 1, lengthPenalty: generation.length_penalty ?? 1,
    earlyStopping: generation.early_stopping ?? false, repetitionPenalty: generation.repetition_penalty ?? 1,
    noRepeat: generation.no_repeat_ngram_size ?? 0, never: (generation.bad_words_ids ?? []).flat(),
    forcedEnd: generation.forced_eos_token_id ?? null, isRenormalised: generation.renormalize_logits ?? false, ...options,
  };
}

export function logSum(x, at = 0, size = x.length, temperature = 1) {
  let most = -Infinity, sum = 0;
  for (let i = at; i < at + size; i++) if (x[i] > most) most = x[i];
  for (let i = at; i < at + size; i++) sum += Math.exp((x[i] - most) / temperature);
  return most / temperature + Math.log(sum);
}

// Rules change the scores [V] of what comes after the ids written so far: a prefix is forced, some tokens are never
// written, repetition costs, and the last place may be that of the end.
function ruled(scores, ids, { prefix, prompt, most, repetitionPenalty, noRepeat, never, forcedEnd, isRenormalised }) {
  const forced = ids.length === most && forcedEnd !== null ? forcedEnd : prefix[ids.length - 1 - prompt.length];
  if (forced !== undefined) {
    scores.fill(-Infinity)[forced] = 0;
    return;
  }
  if (repetitionPenalty !== 1) for (const id of new Set(ids)) scores[id] *= repetitionPenalty ** -Math.sign(scores[id]);
  const last = ids.slice(ids.length + 1 - noRepeat).join();
  for (let i = 0; noRepeat && i + noRepeat <= ids.length; i++)
    if (ids.slice(i, i + noRepeat - 1).join() === last) scores[ids[i + noRepeat - 1]] = -Infinity;
  for (const id of never) scores[id] = -Infinity;
  if (!isRenormalised) return;
  const sum = logSum(scores);
  for (let id = 0; id < scores.length; id++) scores[id] -= sum;
}

// Takes the best token at every step.  `logits` [T,V] are the network's own, also of a prompt; `logProbs` are those of
// what was searched, after the rules: a forced token has 0.
export function greedy(network, encoded, options = {}) {
  const chosen = resolved(network, options), { prompt, most, hooks } = chosen, cache = network.cache();
  const ids = [network.start, ...prompt], logits = [], logProbs = [];
  const finished = () => logProbs.length > 0 && network.ends.includes(ids.at(-1));
  for (let next = ids.slice(); ids.length <= most && !finished(); next = ids.slice(-1)) {
    logits.push(network.logits(network.decode(next, [cache], encoded, hooks)));
    const scores = logits.at(-1).slice(-network.V);
    ruled(scores, ids, chosen);
    const best = scores.reduce((found, score, id) => score > scores[found] ? id : found, 0);
    logProbs.push(scores[best] - logSum(scores));
    ids.push(best);
  }
  const logProb = logProbs.reduce((sum, one) => sum + one, 0);
  return { ids: ids.slice(1), logProb, logProbs, logits: join(logits), finished: finished() };
}

// Keeps the K best hypotheses at every step, until K of them have ended, or none can become better.
//
// `hypotheses` are those that ended, best first: { ids, logProb, score, finished, at: [step, number] }, where score =
// logProb / length ** lengthPenalty.  `steps` are the tree: for each step the nodes { id, parent, logProb, score } that
// go on, best first, then the `hypotheses` that ended there; `parent` is a node's number in the step before, or null.
export function beamSearch(network, encoded, options = {}) {
  const chosen = resolved(network, options), { beams: K, prompt, most, lengthPenalty, earlyStopping, hooks } = chosen;
  const begun = [network.start, ...prompt], longest = most - prompt.length, steps = [];
  const scored = (logProb, length) => logProb / length ** lengthPenalty;
  const grown = ({ id, parent, logProb }) => ({ id, logProb, ids: [...parent.ids, id], parent: parent.number });
  let live = [{ ids: begun, next: begun, logProb: 0, cache: network.cache(), number: null }], ended = [];
  for (let length = 1; ; length++) {
    const ids = live.flatMap(({ next }) => next);
    const states = network.decode(ids, live.map(({ cache }) => cache), encoded, hooks);
    const found = continuations(network, live, states.subarray(-live.length * network.D), chosen)
      .map((one) => ({ ...one, ends: length === longest || network.ends.includes(one.id) }));
    const closed = found.slice(0, K).filter(({ ends }) => ends);  // only as good as what goes on
    ended.push(...closed.map((one) => ({ ...grown(one), length, score: scored(one.logProb, length) })));
    ended = ended.sort((a, b) => b.score - a.score).slice(0, K);
    live = found.filter(({ ends }) => !ends).slice(0, K).map((one, number) =>
      ({ ...grown(one), number, next: [one.id], cache: one.parent.cache.copy() }));
    const reach = earlyStopping === "never" && lengthPenalty > 0 ? longest : length, full = ended.length === K;
    if (!live.length || full && (earlyStopping === true || scored(live[0].logProb, reach) <= ended[K - 1].score)) break;
    steps.push(live.map(({ id, parent, logProb }) => ({ id, parent, logProb, score: null })));
  }
  const hypotheses = ended.map(({ ids, id, parent, logProb, score, length }) => {
    const nodes = steps[length - 1] ??= [], at = [length - 1, nodes.length];
    nodes.push({ id, parent, logProb, score });
    return { ids: ids.slice(1), logProb, score, finished: network.ends.includes(id), at };
  });
  return { hypotheses, steps };
}

// The best continuations of the live hypotheses, enough that K of them go on: { id, parent, logProb }, best first.
function continuations(network, live, states, chosen) {
  const { V } = network, logits = network.logits(states), count = Math.max(2, 1 + network.ends.length) * chosen.beams;
  const best = [];
  live.forEach((parent, k) => {
    const scores = logits.subarray(k * V, (k + 1) * V), sum = logSum(scores);
    for (let id = 0; id < V; id++) scores[id] -= sum;
    ruled(scores, parent.ids, chosen);
    for (let id = 0; id < V; id++) {
      const logProb = parent.logProb + scores[id];
      if (logProb === -Infinity || best.length === count && logProb <= best[count - 1].logProb) continue;
      let place = best.length;
      while (place && best[place - 1].logProb < logProb) place--;
      best.splice(place, 0, { id, parent, logProb });
      best.length = Math.min(best.length, count);
    }
  });
  return best;
}

// --- ready hooks

// Several hooks as one, called in this order.
export function together(...several) {
  const names = new Set(several.flatMap(Object.keys));
  return Object.fromEntries([...names].map((name) => [name, (...args) => {
    for (const one of several) one[name]?.(...args);
  }]));
}

// Keeps what passes `hooks`: `parts["cross.0"]`, `streams["decoder.layer_norm"]` and `neurons["decoder.layers.0.fc2"]`
// are lists, of one entry for a pass, and of one a step for a greedy search.
export function recorder() {
  const parts = {}, streams = {}, neurons = {};
  const hooks = {
    mixed({ kind, layer }, one) { (parts[`${kind}.${layer}`] ??= []).push(one); },
    stream(name, x) { (streams[name] ??= []).push(x); },
    neurons(name, one) { (neurons[name] ??= []).push(one); },
  };
  return { parts, streams, neurons, hooks };
}

// The maps of all heads from such a list of parts: { H, T, S, weight [H,T,S] }, with zeros where a step saw less.
export function mapsOf(steps) {
  const { H, S } = steps.at(-1), T = steps.reduce((sum, one) => sum + one.T, 0), weight = new Float32Array(H * T * S);
  let at = 0;
  for (const { T: rows, S: seen, weight: own } of steps) for (let t = 0; t < rows; t++, at++)
    for (let h = 0, from = t * seen; h < H; h++, from += rows * seen)
      weight.set(own.subarray(from, from + seen), (h * T + at) * S);
  return { H, T, S, weight };
}

// Heads by name ("cross.1.0") mix something else: null for zeros, [E] for the same at every position (a mean), or
// [T,E] from another pass, by position.
export function headsOff(heads) {
  return { mixed({ kind, layer }, { T, H, E, D, start, mixed }) {
    for (let h = 0; h < H; h++) {
      const other = heads[`${kind}.${layer}.${h}`];
      if (other === undefined) continue;
      for (let t = 0; t < T; t++) for (let i = 0; i < E; i++)
        mixed[t * D + h * E + i] = other ? other[other.length === E ? i : (start + t) * E + i] : 0;
    }
  } };
}

// Feed-forward layers by name ("decoder.layers.0.fc2") give the same [D] at every position: a mean.
export function feedForwardOff(layers) {
  return { neurons(name, { R, output }) {
    const other = layers[name];
    for (let r = 0; other && r < R; r++) output.set(other, r * other.length);
  } };
}
