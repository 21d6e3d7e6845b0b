// The record of a forced translation, as `/v1/look` sends it (`lens/show/trace_page.py`): its words, maps and chances.

import { RULES, VIEWS } from "../data.js";
import { bestOf, chancesOf, entropyOf, logChance, logSums } from "./probabilities.js";
import { logSum } from "../model/network.js";
import { printable } from "../model/tokenizer.js";
import { KINDS, viewOf } from "./views.js";
import { splitWords, unitsOf } from "../model/words.js";

const TOP = 20;  // candidates of each step
const SIDES = ["source", "target", "inputs"];
const TAG = /^<2([\w-]+)>$/;
const NAMES = new Intl.DisplayNames(["en"], { type: "language" });
const FORMAT = { format: "seq2see-trace", version: 2, rows: "predicts" };

// With the maps of these kinds in these views; `search` is what the search said of the translation.
export async function recordOf(forced, { kinds, views, pause, search }) {
  const { text, target, sourceIds, ids, given, tokens, words, languages: [from, to], model, isWhole } = forced;
  const maps = Object.fromEntries(kinds.map((kind) => [kind, {}]));
  if (views.some((view) => VIEWS[view].attribution)) {
    throw new Error("The model in this page does not compute attributions."
      + " Open the text on a server or use seq2see look.");
  }
  for (const view of kinds.length ? new Set(["raw", ...views]) : []) {
    const made = view === "left_out" ? { cross: await forced.leftOut(pause) }
      : viewOf(forced.network, forced.seen, view);
    for (const kind of kinds) if (made[kind]) maps[kind][view] = encoded(made[kind]);
  }
  return { ...FORMAT, source_text: text, target_text: target, source_ids: sourceIds, target_ids: ids, given, ...search,
    model: model.name, source_language: from, target_language: to, trust: isWhole ? model.trust : null,
    ...tokens, ...shown(tokens, words), ...stepsOf(forced), maps };
}

// The record of a moment of a replay (`lens/corpora/replay.py`), whose weights are integers out of 255.
export function recordOfMoment({ encoder, decoder, cross, logits, left_out: _, ...plain }) {
  const { source_text: text, target_text: target, source_language: from, target_language: to, given } = plain;
  const weights = { encoder, decoder, cross };
  const words = { source: splitWords(text, from), target: splitWords(target, to) };
  const shape = (one) => Array.isArray(one) ? [one.length, ...shape(one[0])] : [];
  const values = ({ raw }) => ({ shape: shape(raw), values: Float32Array.from(raw.flat(3), (one) => one / 255) });
  return { ...plain, ...shown(plain, words), log_prob: plain.log_probs.slice(given).reduce(add, 0), confidence: null,
    maps: Object.fromEntries(KINDS.map((kind) => [kind, { raw: encoded(values(weights[kind])) }])) };
}

// How the tokens are shown, and the words that they make.
function shown(tokens, words) {
  const of = (make) => Object.fromEntries(SIDES.map((side) => [side, make(tokens[side], side)]));
  return { labels: of(labels), words: of((own, side) => unitsOf(own, words[side === "source" ? "source" : "target"])) };
}

// A token that goes on with the word of the one before begins with a dot.
export function labels(tokens) {
  return tokens.map(({ text, word, special }, i) => special ? specialLabel(text)
    : (word !== null && tokens[i - 1]?.word === word ? "·" : "") + label(text));
}
export const specialLabel = (text) => TAG.test(text) ? `to ${NAMES.of(TAG.exec(text)[1])}` : label(text);
export const label = (text) => printable(text).replaceAll(" ", "▁");
const add = (sum, one) => sum + one;

// The chances of each step, its own and calibrated, and what a slider needs to show them at other temperatures.
function stepsOf(forced) {
  const { ids, given, calibrator, tokenizer: { tokens } } = forced;
  const steps = ids.map((id, t) => {
    const scores = forced.scores(t), total = logSum(scores), best = bestOf(scores, TOP), own = chancesOf(scores);
    const calibrated = calibrator ? chancesOf(scores, calibrator) : own;
    const top = best.map((one) => ({ id: one, text: tokens[one], log_prob: scores[one] - total }));
    return { id, total, best, own, calibrated, top, logProb: scores[id] - total, sums: logSums(own, best[0]) };
  });
  const logProbs = steps.map((one) => one.logProb);
  const calibrated = calibrator && { ...calibrator, log_probs: steps.map((one) => logChance(one.calibrated, one.id)),
    entropies: steps.map((one) => entropyOf(one.calibrated)),
    top: steps.map((one) => one.best.map((id) => logChance(one.calibrated, id))) };
  const chosen = calibrated?.log_probs.slice(given).map(Math.exp) ?? [];
  return { top: steps.map(({ top }) => top), log_probs: logProbs, entropies: steps.map((one) => entropyOf(one.own)),
    log_normalisers: steps.map(({ total }) => total), log_prob: logProbs.slice(given).reduce(add, 0), calibrated,
    confidence: chosen.length ? chosen.reduce(add) / chosen.length : null, temperatures: RULES.TEMPERATURES,
    log_sums: steps.map(({ sums }) => sums) };
}

// --- float16, as the page reads maps

const FLOAT = new Float32Array(1), BITS = new Uint32Array(FLOAT.buffer);
function half(value) {
  FLOAT[0] = value;
  const [bits] = BITS, sign = bits >>> 16 & 0x8000, size = Math.abs(value);
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  return sign | Math.min(0x7c00, (bits & 0x7fffffff) - 0x38000000 + 0xfff + (bits >>> 13 & 1) >>> 13);  // to even
}

function encoded({ shape, values }) {
  const bytes = new Uint8Array(Uint16Array.from(values, half).buffer);
  return { shape, dtype: "<f2", data: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) };
}
