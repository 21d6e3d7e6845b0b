// Which source word a word of the translation goes with, read off maps by the choice fitted to the model
// (`lens/heads/alignment_choice.py`): [[source word, target word, strength], ...].

import { viewOf } from "./views.js";
import { unitsOf } from "../model/words.js";

// M maps, J target words, I source words

export async function linksOf(forced, choice, pause) {
  const { words } = forced, strength = await strengths(forced, choice, pause), found = [];
  const isBest = (values, i) => values.indexOf(Math.max(...values)) === i;
  for (let j = 0; j < words.target.length; j++) for (let i = 0; i < words.source.length; i++) {
    const value = strength[j][i], target = isBest(strength[j], i), source = isBest(strength.map((row) => row[i]), j);
    const rules = { target, source, both: target && source, either: target || source, all: true };
    if (value > 0 && value >= choice.threshold && rules[choice.rule]) found.push([i, j, +value.toFixed(4)]);
  }
  return found;
}

// [J,I]: the mean share of each pair of words or, with weights, the probability that it is a link.
async function strengths(forced, { view, rows, maps, weights }, pause) {
  const map = view === "left_out" ? await forced.leftOut(pause) : viewOf(forced.network, forced.seen, view).cross;
  const of = (meaning) => maps.map((name) => sharesOf(forced, map, view, meaning, name));
  const cells = (make) => forced.words.target.map((_, j) => forced.words.source.map((_, i) => make(j, i)));
  if (!weights.length) {
    const all = of(rows);
    return cells((j, i) => all.reduce((sum, shares) => sum + shares[j][i], 0) / all.length);
  }
  const ofRows = [...of("predicts"), ...of("reads")], evidence = [...ofRows, ...ofRows.map(byColumn)];
  return cells((j, i) => {
    const own = evidence.map((shares) => shares[j][i]), constant = weights.at(-1);
    return own.some(Boolean) ? 1 / (1 + Math.exp(-own.reduce((sum, one, k) => sum + one * weights[k], constant))) : 0;
  });
}

// One map by words, [J,I], of shares of what falls on words: columns and rows of a word are summed.
function sharesOf({ tokens, words, units }, { shape, values }, view, meaning, name) {
  const C = shape.at(-1), R = shape.at(-2), at = name.reduce((place, one, k) => place * shape[k] + one, 0) * R * C;
  const found = words.target.map(() => words.source.map(() => 0)), isErased = view === "left_out";
  const rows = unitsOf(meaning === "reads" ? tokens.inputs : tokens.target, words.target);
  const columns = isErased ? words.source.map((_, word) => ({ word, pieces: [word] })) : units.source;
  for (const row of rows) for (const column of columns) {
    if (row.word === null || column.word === null) continue;
    let sum = 0;
    for (const r of row.pieces) for (const c of column.pieces) sum += values[at + r * C + c];
    found[row.word][column.word] = Math.max(0, sum);
  }
  return found.map(shared);
}

const total = (row) => row.reduce((sum, one) => sum + one, 0);
const shared = (row) => row.map((one) => total(row) ? one / total(row) : 0);
// The share of each source word's column.
function byColumn(shares) {
  const sums = (shares[0] ?? []).map((_, i) => total(shares.map((row) => row[i])));
  return shares.map((row) => row.map((one, i) => sums[i] ? one / sums[i] : 0));
}
