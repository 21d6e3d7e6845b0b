// A translation that is known, forced: one pass over it, from which any beginning of it can go on to other tokens.

import { logSum, recorder, together } from "../model/network.js";
import { splitWords, tokenSpans, unitsOf } from "../model/words.js";

// Of a model, a pair of languages, the source as the model reads it and the tokens of its translation; the first `given`
// of them were forced.
export class Forced {
  constructor(model, [from, to], text, ids, given, hooks = {}) {
    const { network } = model, tokenizer = model.tokenizerOf([from, to]), sourceIds = tokenizer.encode(text).ids;
    const { start } = network, inputIds = [start, ...ids.slice(0, -1)];
    Object.assign(this, { model, network, tokenizer, languages: [from, to], text, ids, given, sourceIds, inputIds });
    this.isWhole = !hooks.mixed;  // what was measured of a model is not true of it without a head
    this.calibrator = this.isWhole ? model.calibrator(to) : null;
    this.seen = recorder();
    this.encoded = network.encode(sourceIds, together(hooks, this.seen.hooks));
    this.pass = { ...this.run(this.encoded, together(hooks, this.seen.hooks)), hooks };
    this.target = tokenizer.decode(ids);
    this.words = { source: splitWords(text, from), target: splitWords(this.target, to) };
    this.tokens = { source: tokenSpans(tokenizer, sourceIds, text, from),
      target: tokenSpans(tokenizer, ids, this.target, to) };
    const begin = { text: tokenizer.tokens[start], word: null, start: 0, end: 0, special: true };
    this.tokens.inputs = [begin, ...this.tokens.target.slice(0, -1)];
    this.units = Object.fromEntries(["source", "target", "inputs"].map((side) =>
      [side, unitsOf(this.tokens[side], this.words[side === "source" ? "source" : "target"])]));
  }

  // One pass over its tokens: scores [T,V], and the keys and values kept.
  run(encoded, hooks = {}) {
    const { network, inputIds } = this, cache = network.cache();
    const states = network.decode(inputIds, [cache], encoded, hooks);
    return { encoded, hooks, cache, logits: network.logits(states) };
  }

  // Goes on from a pass after its first `step` tokens: a function that reads one more token and gives the scores [V] of
  // what comes next.
  after({ encoded, hooks, cache }, step) {
    const { network } = this, own = cache.copy();
    own.length = step + 1;  // the start, and the tokens before
    return (id) => network.logits(network.decode([id], [own], encoded, hooks));
  }

  // The mean over its positions of what each head mixes, by name: [E].
  meanOutputs() {
    const found = {};
    for (const [name, [{ T, H, E, D, mixed }]] of Object.entries(this.seen.parts)) for (let h = 0; h < H; h++) {
      const own = found[`${name}.${h}`] = new Float32Array(E);
      for (let t = 0; t < T; t++) for (let i = 0; i < E; i++) own[i] += mixed[t * D + h * E + i] / T;
    }
    return found;
  }

  // The mean over its positions of what each feed-forward block of the decoder adds: [L,D].
  meanFeedForward() {
    const { network: { decoder, D }, seen, ids } = this;
    return decoder.layers.map(({ name }) => {
      const [{ output }] = seen.neurons[`${name}.fc2`], own = new Float32Array(D);
      output.forEach((value, at) => { own[at % D] += value / ids.length; });
      return own;
    });
  }

  scores(t, { logits } = this.pass) { return logits.subarray(t * this.network.V, (t + 1) * this.network.V); }

  logProb(id, t) { return this.scores(t)[id] - logSum(this.scores(t)); }

  // The source without a word, read again; and without the space that would be doubled, or stand before a mark.
  without({ start, end, text }) {
    const letters = [...this.text], before = letters.slice(0, start).join(""), after = letters.slice(end).join("");
    const rest = after.trimStart(), closes = /^[\p{Po}\p{Pe}\p{Pf}]/u.test(rest) && !/^\p{P}/u.test(text);
    if (before.trim() && (!rest || closes)) return before.trimEnd() + after;
    return before + (!before || /\s$/.test(before) ? rest : after);
  }
  read(text) { return this.network.encode(this.tokenizer.encode(text).ids); }

  // Views of this pass, and how much less likely each token is without each source word: [T,W].
  async leftOut(pause) {
    const { words: { source }, ids } = this, values = new Float32Array(ids.length * source.length);
    for (const [w, word] of source.entries()) {
      const { logits } = this.run(this.read(this.without(word)));
      ids.forEach((id, t) => {
        const scores = this.scores(t, { logits });
        values[t * source.length + w] = this.logProb(id, t) - (scores[id] - logSum(scores));
      });
      await pause();
    }
    return { shape: [ids.length, source.length], values };
  }
}
