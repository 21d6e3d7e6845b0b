// The search for translations, sentence by sentence, and what is said of each hypothesis, as `/v1/translate` has it.
// Samples are others than the server's, for the random numbers are.

import { sentenceChance } from "./probabilities.js";
import { RULES } from "../data.js";
import { beamSearch, greedy, logSum } from "../model/network.js";
import { inCaseOf, inSmallLetters, readAs, unknownWords } from "./model_input.js";
import { countSentences, cut, join } from "./sentences.js";
import { warningsOf } from "./warnings.js";

const { MOST_ODDS, SHORT_SOURCE, SHORTEST_SHARE } = RULES;

// The options of a search that are known here.
const USUAL = ["alternatives", "num_beams", "seed"];  // those with which the chance of a whole translation holds
export const OPTIONS = [...USUAL, "max_new_tokens", "length_penalty", "temperature", "top_k", "top_p"];

// --- the search

// The hypotheses of one segment, best first.  `start` are tokens that they begin with, `hooks` change the network.
function searched(model, pair, text, { start, options, hooks }) {
  const { network } = model, { generation } = network, tokenizer = model.tokenizerOf(pair), { alternatives = 1, max_new_tokens: most } = options;
  const encoded = network.encode(tokenizer.encode(text).ids, hooks), prefix = [...model.tag(pair[1]), ...start];
  const given = { prefix, hooks, lengthPenalty: penaltyOf(network, options), ...most ? { most } : {} };
  const beams = Math.max(options.num_beams ?? generation.num_beams ?? 1, alternatives);
  const scored = (one) => ({ ...one, score: one.logProb / one.ids.length ** given.lengthPenalty });
  const found = isSampled(options)
    ? Array.from({ length: alternatives }, (_, copy) => scored(sampled(network, encoded, given, options, copy)))
    : beams === 1 ? [scored(greedy(network, encoded, given))]
    : beamSearch(network, encoded, { ...given, beams }).hypotheses.slice(0, alternatives);
  const all = found.map(({ ids, score, logProb, finished }) => ({ text: tokenizer.decode(ids), token_ids: ids, score,
    log_prob: logProb, finished, given: prefix.length }));
  const written = all.filter((one) => one.text.trim());
  return written.length ? distinct(written, options) : [{ ...all[0], text }];  // only blanks: keeps the source
}
const penaltyOf = ({ generation }, options) => options.length_penalty ?? generation.length_penalty ?? 1;
const isSampled = ({ temperature, top_k: k, top_p: p }) => [temperature, k, p].some((one) => one !== undefined);
// The best hypothesis of each text; kinds of spaces and invisible characters make no difference.
const distinct = (all, options) => isSampled(options) ? all
  : all.filter((one, i) => all.findIndex(({ text }) => visible(text) === visible(one.text)) === i);
const visible = (text) => text.replace(/[\u00ad\u200b\u2060\ufeff]/g, "").trim().replace(/\s+/g, " ");

// One sample; the same seed gives the same one.
function sampled(network, encoded, { prefix, hooks, most = network.generation.max_length - 1 || 512 }, options, copy) {
  const { temperature = 1, top_k: k = 0, top_p: p = 1, seed = 0 } = options, ids = [], cache = network.cache();
  const random = randomOf([seed, copy, ...encoded.ids]);
  let next = network.start, logProb = 0;
  while (ids.length < most && !network.ends.includes(ids.at(-1))) {
    const scores = network.logits(network.decode([next], [cache], encoded, hooks)), total = logSum(scores);
    next = prefix[ids.length] ?? drawn(scores, { temperature, k, p }, random());
    if (ids.length >= prefix.length) logProb += scores[next] - total;
    ids.push(next);
  }
  return { ids, logProb, finished: network.ends.includes(ids.at(-1)) };
}

// The token at `place`, from 0 to 1, among the likeliest.
function drawn(scores, { temperature, k, p }, place) {
  const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]), best = scores[order[0]];
  const kept = order.slice(0, k || order.length);
  const weights = kept.map((id) => Math.exp((scores[id] - best) / temperature));
  const within = p * weights.reduce((sum, one) => sum + one, 0);
  let sum = 0, count = 0;
  while (count < kept.length && (!count || sum < within)) sum += weights[count++];
  let left = place * sum;
  for (let i = 0; i < count; i++) if ((left -= weights[i]) < 0) return kept[i];
  return kept[0];
}

// Mulberry32, seeded by some numbers.
function randomOf(numbers) {
  let state = numbers.reduce((hash, one) => Math.imul(hash ^ one, 0x01000193), 0x811c9dc5);
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

// --- a text

// The translation of a text as `/v1/translate` gives it, and its `parts`, each translated by itself: { text, read,
// hypotheses }.
export async function translated(model, pair, given, { prefix = "", options, hooks, pause }) {
  const [from, to] = pair, { generation } = model.network, text = given.normalize("NFC");
  const start = prefix ? model.tokenizer.encodeTarget(prefix.normalize("NFC")).slice(0, -1) : [];
  const whole = new Passages(model, pair, { options, hooks, pause,
    first: prefix ? countSentences(prefix, model.sentenceEnds(to)) || 1 : 1 });
  const tree = await whole.read(text, generation.source_sentences ?? 1, start);
  const hypotheses = whole.hypotheses(tree), [best] = hypotheses, { parts } = whole;
  const sentences = model.sentenceCalibrator(to);
  const isUsual = !prefix && !hooks.mixed && Object.keys(options).every((name) => USUAL.includes(name));
  if (sentences && isUsual && parts.length === 1 && parts[0].text === text && parts[0].read === text && best.finished)
    best.probability = sentenceChance(sentences, best.log_prob, best.token_ids.length - best.given);
  const unknown = unknownWords(model.seen(from), text, from);
  const doubts = [...new Set(unknown)].map((word) => ({ kind: "unknown_word", word }));  // a page has no words of the target
  return { parts, translation: { text: best?.text ?? given, source_language: from, target_language: to, hypotheses,
    unknown_words: unknown, doubts, one_by_one: whole.oneByOne, other_language: null,
    missing_terms: [], warnings: warningsOf(parts, best, pair), engine: "browser", precision: model.precision, pivot: null } };
}

const lettersIn = (text) => (text.match(/[\p{L}\p{M}\p{N}]/gu) ?? []).length;

// The parts of a text, and how they hang together: a tree of { texts, between } with parts as leaves.
class Passages {
  constructor(model, pair, how) {
    Object.assign(this, { model, pair, tokenizer: model.tokenizerOf(pair), ...how, parts: [], oneByOne: false, known: model.seen(pair[0])?.letters });
    const { longest, generation } = model.network, seen = generation.source_pieces;
    this.most = Math.min(longest, seen ? Math.max(seen, SHORT_SOURCE) : Infinity);
  }

  fits(text) {
    return this.tokenizer.encode(readAs(text, this.known)).ids.length <= this.most || [...text].length < 2;
  }

  // `start` are the tokens that its translation begins with.
  async read(text, together, start) {
    const first = start.length ? this.first : 1, texts = [];
    const { segments, between } = cut(text, this.pair[0], {
      ends: this.model.sentenceEnds(this.pair[0]), together, first, fits: (one) => this.fits(one) });
    for (const [i, segment] of segments.entries()) texts.push(await this.segment(segment, i ? [] : start, segment === text));
    return { texts, between };
  }

  // One by one, if the translation of several sentences has lost or added one.
  async segment(text, start, isWhole) {
    const { model, pair, pair: [from, to], options, hooks } = this;
    const count = countSentences(text, model.sentenceEnds(from));
    await this.pause();
    const plain = readAs(text, this.known), isTitle = isWhole && !start.length;
    const read = isTitle ? inSmallLetters(plain, model.tokenizer) : plain;
    const written = searched(model, pair, read, { start, options, hooks }), inCase = inCaseOf(text, read);
    const found = written.map((one) => ({ ...one, text: inCase(one.text) }));
    const complete = found.filter((one) => count < 2 || countSentences(one.text, model.sentenceEnds(to)) === count);
    if (!complete.length && count > (start.length ? this.first : 1)) {
      this.oneByOne = true;
      return this.read(text, 1, start);
    }
    const kept = complete.length ? complete : found;
    const long = kept.filter((one) => isSampled(options) || lettersIn(one.text) >= SHORTEST_SHARE * lettersIn(read));
    const part = { text, read, hypotheses: long.length ? long : kept };
    this.parts.push(part);
    return part;
  }

  // Of the whole text, each joined from one of every part; those of a text that is its only part are that part's.
  hypotheses(tree) {
    const { parts, options, model } = this, penalty = penaltyOf(model.network, options);
    const at = ({ hypotheses }, i) => hypotheses[i] ?? hypotheses.at(-1);
    const textOf = (one, i) => one.hypotheses ? at(one, i).text
      : join(one.texts.map((each) => textOf(each, i)), one.between);
    const joined = (i) => {
      const own = parts.map((one) => at(one, i)), ids = own.flatMap((one) => one.token_ids);
      if (own.length === 1 && textOf(tree, i) === own[0].text) return own[0];
      const logProb = own.reduce((sum, one) => sum + one.log_prob, 0);
      return { text: textOf(tree, i), token_ids: ids, log_prob: logProb, score: logProb / ids.length ** penalty,
        finished: own.every((one) => one.finished), given: 0 };
    };
    const all = Array.from({ length: Math.max(0, ...parts.map((one) => one.hypotheses.length)) }, (_, i) => joined(i));
    const odds = (one) => Math.exp(Math.min(one.log_prob - all[0].log_prob, MOST_ODDS));
    return all.map((one) => ({ ...one, odds: odds(one), probability: null }));
  }
}
