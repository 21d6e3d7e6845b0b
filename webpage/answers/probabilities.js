// From the scores of a step to chances: the model's own, calibrated (`lens/records/calibration.py`), and at other temperatures.

import { RULES } from "../data.js";
import { logSum } from "../model/network.js";

const { IMPOSSIBLE, MOST_LOG_ODDS, SMOOTHING_FLOOR, TEMPERATURES } = RULES;
const PLAIN = { smoothing: 0, temperature: 1, curve: [] };

// The chances of one step from its scores [V]: `weights` [V] in proportion to them, and their `sum`.
export function chancesOf(scores, calibrator) {
  const { smoothing, temperature, curve } = calibrator ?? PLAIN, V = scores.length;
  const kept = new Float64Array(V), weights = new Float64Array(V);
  const total = logSum(scores), gift = smoothing / V;  // which smoothing gave to each token
  let sum = 0;
  for (let id = 0; id < V; id++) {
    const own = Math.exp(scores[id] - total);
    kept[id] = smoothing ? Math.max(own - gift, SMOOTHING_FLOOR * own) : own;
    sum += weights[id] = temperature === 1 ? kept[id] : Math.exp(Math.log(kept[id]) / temperature);  // a power is slower
  }
  if (!curve.length) return { weights, sum };
  const [best, second] = bestOf(weights, 2), rest = sumOfOthers(weights, best);
  const odds = curved(curve, Math.log(kept[best] / sumOfOthers(kept, best)));
  weights[best] = Math.max(rest * Math.exp(odds), weights[second]);
  return { weights, sum: rest + weights[best] };
}

// Without that of `id`; a difference would lose the others where P rounds to 1.
function sumOfOthers(weights, id) {
  let others = 0;
  for (let i = 0; i < weights.length; i++) if (i !== id) others += weights[i];
  return others;
}

// The log-odds of the best token, changed by the curve.
function curved(curve, odds) {
  const next = curve.findIndex(([before]) => before >= odds), [x, y] = curve.at(next > 0 ? next - 1 : next);
  const [nextX, nextY] = next > 0 ? curve[next] : [x + 1, y + 1];
  return y + (odds - x) * (nextY - y) / (nextX - x);
}

export const logChance = ({ weights, sum }, id) => Math.max(IMPOSSIBLE, Math.log(weights[id] / sum));
const logOdds = ({ weights }, id) => Math.log(weights[id]) - Math.log(sumOfOthers(weights, id));  // ln(P / (1 - P))

export const entropyOf = ({ weights, sum }) =>
  -weights.reduce((total, one) => one ? total + one / sum * Math.log(one / sum) : total, 0);

// log sum exp((logit - best logit) / temperature) for each of TEMPERATURES.  Halving a temperature squares a weight, so
// four powers give all of them.
export function logSums({ weights }, best) {
  const sums = new Float64Array(TEMPERATURES.length), last = sums.length - 1;
  for (let id = 0; id < weights.length; id++) {
    const logit = Math.log(weights[id] / weights[best]);
    for (let i = last; i > last - 4; i--) {
      let power = Math.exp(logit / TEMPERATURES[i]);
      for (let t = i; t >= 0; t -= 4, power *= power) sums[t] += power;
    }
  }
  return Array.from(sums, Math.log);
}

export function bestOf(scores, count) {
  const best = [];
  for (let id = 0; id < scores.length; id++) {
    if (best.length === count && scores[id] <= scores[best[count - 1]]) continue;
    let place = best.length;
    while (place && scores[best[place - 1]] < scores[id]) place -= 1;
    best.splice(place, 0, id);
    best.length = Math.min(best.length, count);
  }
  return best;
}

// What a forced pass says of the tokens `ids` of a translation, and of its units: their log-odds.
export function oddsOf(logits, ids, units, calibrator) {
  const V = logits.length / ids.length, best = [], logProbs = [], against = [];
  ids.forEach((id, t) => {
    const scores = logits.subarray(t * V, (t + 1) * V), odds = logOdds(chancesOf(scores, calibrator), id);
    against.push(odds);
    logProbs.push(-Math.log1p(Math.exp(-odds)));
    best.push(bestOf(scores, 1)[0]);
  });
  return { logProbs, best, logOdds: units.map(({ pieces }) => bounded(oddsOfUnit(pieces, logProbs, against))) };
}

function oddsOfUnit(pieces, logProbs, against) {
  if (pieces.length === 1) return against[pieces[0]];
  const logProb = pieces.reduce((sum, t) => sum + logProbs[t], 0);
  return logProb < 0 ? logProb - Math.log(-Math.expm1(logProb)) : MOST_LOG_ODDS;
}
const bounded = (odds) => Math.min(Math.max(odds, -MOST_LOG_ODDS), MOST_LOG_ODDS);

// The chance that a reference reads exactly like the best hypothesis, from its log-probability over some tokens.
export function sentenceChance({ smoothing, a, b, bias }, logProb, tokens) {
  const seen = Math.min(logProb - tokens * Math.log(1 - smoothing), Math.log(0.999));
  return (1 + Math.tanh((a * seen - b * Math.log(-Math.expm1(seen)) + bias) / 2)) / 2;
}
