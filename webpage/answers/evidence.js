// What each word of a translation depends on (`lens/questions/evidence.py`): its odds without each head, without each source word
// or with another source text, what would be written instead, and what else could have been written.

import { bestOf, chancesOf, logChance, oddsOf } from "./probabilities.js";
import { RULES } from "../data.js";
import { headsOff } from "../model/network.js";
import { linksOf } from "./word_links.js";
import { KINDS, layersOf, viewOf } from "./views.js";
import { goesOn } from "../model/words.js";

const { CANDIDATES, LIKELY, LONGEST_WORD, RARE } = RULES;
const TOP = 20;

const rounded = (values) => values.map((one) => +one.toFixed(4));

// Of every head, if switching them off takes at most so many `seconds`; else `heads_take` says how many.
export async function evidenceOf(forced, { others, seconds }, pause) {
  const weigh = new Weighing(forced), { words: { source }, model } = forced, heads = [], texts = [];
  const { averaged_over: sentences, heads: means } = model.means(forced.languages, () => forced);
  const write = () => forced.run(forced.encoded), read = () => forced.read(forced.text);
  const all = allHeads(forced.seen), take = secondsOf(all, { write, read }), isLong = take > seconds;
  for (const head of isLong ? [] : all) {
    const { kind, layer, head: number } = head, name = `${kind}.${layer}.${number}`;
    heads.push({ ...head, ...weigh.change(forced.text, headsOff({ [name]: means[name] }), kind === "encoder") });
    await pause();
  }
  for (const text of [...source.map((word) => forced.without(word)), ...others]) {
    texts.push(weigh.change(text, {}, true));
    await pause();
  }
  return { log_odds: rounded(weigh.before.logOdds), heads, heads_take: isLong ? +take.toFixed(1) : null,
    erased: texts.slice(0, source.length), others: texts.slice(source.length), averaged_over: sentences,
    candidates: await candidates(forced, pause), ends: endsOf(forced),
    links: await linksOf(forced, model.alignment, pause), source_share: sourceShares(forced) };
}

// How much of each unit came from the source, through all layers (ALTI+): the mean over its tokens.
function sourceShares({ network, seen, units }) {
  const { shape: [L, T, S], values } = viewOf(network, seen, "contributions").cross;
  const share = (t) => values.subarray(((L - 1) * T + t) * S, ((L - 1) * T + t + 1) * S).reduce((sum, one) => sum + one, 0);
  return rounded(units.target.map(({ pieces }) => pieces.reduce((sum, t) => sum + share(t), 0) / pieces.length));
}

// About how long switching off these heads takes: a pass of the decoder for each, one of the encoder for its own.  Of
// two passes the quicker counts, because a first one is slow.
export function secondsOf(heads, { write, read }) {
  const timed = (work) => { const began = performance.now(); work(); return (performance.now() - began) / 1000; };
  const [written, encoded] = [write, read].map((work) => Math.min(timed(work), timed(work)));
  return heads.reduce((sum, { kind }) => sum + written + (kind === "encoder" ? encoded : 0), 0);
}

export const allHeads = (seen) => KINDS.flatMap((kind) => layersOf(seen, kind).flatMap(({ H }, layer) =>
  Array.from({ length: H }, (_, head) => ({ kind, layer, head }))));

// The forced passes of one translation, compared with that of the network as it is.
export class Weighing {
  constructor(forced) {
    Object.assign(this, { forced, units: forced.units.target });
    this.before = this.odds(forced.pass);
  }

  odds({ logits }) { return oddsOf(logits, this.forced.ids, this.units, this.forced.calibrator); }

  pass(text, hooks, isRead) {
    const { forced } = this, { network, tokenizer } = forced;
    return forced.run(isRead ? network.encode(tokenizer.encode(text).ids, hooks) : forced.encoded, hooks);
  }

  // What another source text, or hooks, do to each unit; `isRead`: the encoder has to run again.
  change(text, hooks, isRead) {
    const pass = this.pass(text, hooks, isRead), after = this.odds(pass), { before } = this;
    const size = (t) => Math.abs(after.logProbs[t] - before.logProbs[t]);
    const steps = this.units.map(({ pieces }) => pieces.reduce((most, t) => size(t) > size(most) ? t : most));
    const instead = this.units.map((unit) => this.instead(unit, pass, after));
    return { log_odds: rounded(after.logOdds), steps, instead };
  }

  // What is written in place of a unit: the most probable token, completed to a word, where it is another than the
  // unit's, or goes on with it; null where a beam search or a prefix chose the unit, and for the same word again.
  instead(unit, pass, { best }) {
    const { forced: { ids }, before } = this, { pieces } = unit;
    if (pieces.some((t) => before.best[t] !== ids[t])) return null;
    const step = [...pieces, pieces.at(-1) + 1].find((t) => before.best[t] === ids[t] && best[t] !== ids[t]);
    if (step === undefined || step >= ids.length) return null;
    const word = new Beginning(this.forced, pass, unit, step, best[step]).complete(), text = word.text();
    return text.toLowerCase() === unit.text.toLowerCase() ? null : text + (word.whole ? "" : "…");
  }
}

// A word that is begun with a unit's first tokens, up to `step`, and then this one instead of its own; without it,
// where it begins the next word.  `whole`: its end is known; `logProb` is that of its tokens, `first` of the first.
class Beginning {
  constructor(forced, pass, unit, step, id, { logProb = 0, first = 0, whole = false } = {}) {
    const [start] = unit.pieces, own = forced.ids.slice(start, step);
    Object.assign(this, { forced, pass, step, before: forced.ids.slice(0, start), ids: own, logProb, first });
    this.whole = whole || own.length > 0 && !this.isContinuedBy(id);
    if (!this.whole) own.push(id);
  }

  isContinuedBy(id) {
    const { forced: { tokenizer, languages: [, to] }, before, ids } = this, all = [...before, ...ids];
    const isMark = !ids.some((one) => one === tokenizer.unknown || tokenizer.special.has(one))
      && tokenizer.decode(all) === tokenizer.decode(before);  // of a capital, alone
    return isMark || goesOn(tokenizer, all, id, to);
  }

  // Adds its next tokens up to the end of the word while they are LIKELY, at most LONGEST_WORD in all.
  complete(calibrator) {
    const read = this.whole ? null : this.forced.after(this.pass, this.step);
    while (!this.whole) {
      const scores = read(this.ids.at(-1)), [best] = bestOf(scores, 1);
      const logProb = logChance(chancesOf(scores, calibrator), best);
      this.whole = !this.isContinuedBy(best);
      if (this.whole || logProb < Math.log(LIKELY) || this.ids.length === LONGEST_WORD) break;
      this.ids.push(best);
      this.logProb += logProb;
    }
    return this;
  }

  // The word, with a dot in front if it goes on with the word before; of a special token its name.
  text() {
    const { forced: { tokenizer } } = this, before = tokenizer.decode(this.before);
    const added = tokenizer.decode([...this.before, ...this.ids]).slice(before.length);
    if (!added.trim()) return tokenizer.tokens[this.ids[0]];
    const joins = /[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(added);
    return (joins ? "·" : "") + added.trim();
  }
}

// Whether the network writes the same word if it writes this token at a step of it.
export function isSameWord(forced, step, id) {
  const unit = forced.units.target.find(({ pieces }) => pieces.includes(step));
  return new Beginning(forced, forced.pass, unit, step, id).complete().text().toLowerCase() === unit.text.toLowerCase();
}

// --- what else could have been written

// For each word its alternatives, the most probable first: { text, probability, first, whole }.
async function candidates(forced, pause) {
  const { calibrator, units: { target }, pass, ids } = forced, found = [];
  const chances = ids.map((_, t) => chancesOf(forced.scores(t), calibrator));
  const logProbs = ids.map((id, t) => logChance(chances[t], id));
  for (const unit of target.filter(({ word }) => word !== null)) {
    const [start] = unit.pieces;
    let begun = [], reached = 0;
    for (const step of unit.pieces) {
      if (step > start) {  // the word that ends before this token
        const logProb = reached + Math.log(ending(forced, unit, step));
        begun.push(new Beginning(forced, pass, unit, step, null, { logProb, first: logProbs[start], whole: true }));
      }
      for (const id of bestOf(forced.scores(step), TOP).filter((one) => one !== ids[step])) {
        const own = logChance(chances[step], id), first = step > start ? logProbs[start] : own;
        const one = new Beginning(forced, pass, unit, step, id, { logProb: reached + own, first });
        if (!one.whole) begun.push(one);
      }
      reached += logProbs[step];
      begun = begun.sort((a, b) => b.logProb - a.logProb).slice(0, CANDIDATES);
    }
    found.push(merged(begun.map((one) => one.complete(calibrator))));
    await pause();
  }
  return found;
}

// The same text once, with the sum of its probabilities.
function merged(begun) {
  const found = new Map();
  for (const one of begun) {
    const text = one.text();
    if (!found.has(text)) found.set(text, { text, probability: 0, first: Math.exp(one.first), whole: one.whole });
    found.get(text).probability += Math.exp(one.logProb);
  }
  return [...found.values()].sort((a, b) => b.probability - a.probability);
}

// For each word the chance that it ends where it does, and is not the beginning of another.
const endsOf = (forced) => rounded(forced.units.target.filter(({ word }) => word !== null)
  .map((unit) => ending(forced, unit, unit.pieces.at(-1) + 1)));

// The chance that no token at `step` goes on with the unit's tokens before it; of rare ones the first characters tell.
function ending(forced, unit, step) {
  const { ids, pass, calibrator, tokenizer } = forced;
  if (step >= ids.length) return 1;
  const word = new Beginning(forced, pass, unit, step, null, { whole: true });
  const { weights, sum } = chancesOf(forced.scores(step), calibrator), isOpen = /[\p{L}\p{N}]$/u.test(word.text());
  let continued = 0;
  weights.forEach((weight, id) => {
    const chance = weight / sum, isInside = () => isOpen && /^[\p{L}\p{N}]/u.test(tokenizer.tokens[id]);
    const isOwn = unit.pieces.includes(step) && id === ids[step];  // the hyphen of grand-mère
    if (isOwn || (chance > RARE ? word.isContinuedBy(id) : isInside())) continued += chance;
  });
  return Math.max(1 - continued, 1e-12);
}
