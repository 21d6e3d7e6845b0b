// What a pronoun stands for, as the model treats it (`lens/questions/antecedent.py`): said only where switching a head off shows
// it.

import { RULES } from "../data.js";
import { Weighing } from "./evidence.js";
import { embeddingOf, similarity } from "./lab_answers.js";
import { bestOf } from "./probabilities.js";
import { layersOf } from "./views.js";
import { greedy, headsOff } from "../model/network.js";
import { splitWords } from "../model/words.js";

const { CERTAIN_ODDS, FRENCH_PRONOUNS, LEAST_FALL, LEAST_SHARE, OTHER_PRONOUNS, SOURCE_PRONOUNS, SWAPS } = RULES;

// { pronoun, noun, written }, numbers of words; null unless switching off the head measured to find it shows it.
export function antecedentOf(forced) {
  const { words, model } = forced, lower = (all) => all.map(({ text }) => text.toLowerCase());
  const sources = lower(words.source), targets = lower(words.target);
  const head = model.measured.roles.find(({ kind, role }) => kind === "decoder" && role === "antecedent");
  const places = (all, isOne) => all.flatMap((word, i) => isOne(word) ? [i] : []);
  const pronouns = places(sources, (word) => SOURCE_PRONOUNS.includes(word));
  const written = places(targets, (word) => word in FRENCH_PRONOUNS);
  if (!head || pronouns.length !== 1 || written.length !== 1) return null;
  if (sources.some((word) => OTHER_PRONOUNS.includes(word))) return null;
  const noun = nounLookedAt(forced, head, written[0], sources, targets);
  if (noun === null) return null;
  const name = `${head.kind}.${head.layer}.${head.head}`, weigh = new Weighing(forced);
  const { heads: means } = model.means(forced.languages, () => forced);
  const after = weigh.odds(weigh.pass(forced.text, headsOff({ [name]: means[name] }), false));
  const at = weigh.units.findIndex(({ word }) => word === written[0]), odds = ({ logOdds }) => Math.exp(logOdds[at]);
  const fall = Math.min(odds(weigh.before), CERTAIN_ODDS) / odds(after);
  const isNeeded = fall >= LEAST_FALL || odds(after) < 1;
  return isNeeded && follows(forced, words.source[noun], targets[written[0]])
    ? { pronoun: pronouns[0], noun, written: written[0] } : null;
}

// Whether most nouns of the other gender, in place of a noun of the source, change the pronoun.
function follows({ model, network, tokenizer, languages: [, to], text, ids, given }, { text: own, start, end }, pronoun) {
  const letters = [...text], prefix = ids.slice(0, given);
  const tried = similar({ model, network, tokenizer }, own.toLowerCase(), pronoun), isFollowed = ([source, , gender]) => {
    const word = /^\p{Lu}/u.test(own) ? source[0].toUpperCase() + source.slice(1) : source;
    const swapped = letters.slice(0, start).join("") + word + letters.slice(end).join("");
    const { ids: found } = greedy(network, network.encode(tokenizer.encode(swapped).ids), { prefix });
    const written = splitWords(tokenizer.decode(found), to).map((one) => FRENCH_PRONOUNS[one.text.toLowerCase()]);
    return String(written.filter(Boolean)) === gender;
  };
  let needed = Math.floor(tried.length / 2) + 1;
  return tried.some((noun) => (needed -= isFollowed(noun)) === 0);
}

// The SWAPS nouns of the number of this pronoun and the other gender whose embeddings are most similar to a word's: of
// those that show their number on both sides and have one translation.
function similar({ model, network, tokenizer }, word, pronoun) {
  const isPlural = ([source, target]) => source.endsWith("s") === /[sx]$/.test(target) ? source.endsWith("s") : null;
  const isOne = ([source]) => model.nouns.filter((one) => one[0] === source).length === 1;
  const others = model.nouns.filter((noun) => noun[2] !== FRENCH_PRONOUNS[pronoun]
    && isPlural(noun) === pronoun.endsWith("s") && isOne(noun));
  const vector = (one) => embeddingOf(network, tokenizer, one), own = vector(word);
  return bestOf(others.map(([source]) => similarity(vector(source), own)), SWAPS).map((i) => others[i]);
}

// The source noun whose translation the head looks at from the pronoun, if there is exactly one.
function nounLookedAt({ seen, units, words, model }, { layer, head }, written, sources, targets) {
  const { T, S, weight } = layersOf(seen, "decoder")[layer], row = units.target.find(({ word }) => word === written);
  const shares = units.inputs.map(({ pieces }) => row.pieces.reduce((sum, t) =>
    sum + pieces.reduce((own, s) => own + weight[(head * T + t) * S + s], 0), 0) / row.pieces.length);
  const most = Math.max(...shares), { word } = units.inputs[shares.indexOf(most)];
  if (most < LEAST_SHARE || word === null) return null;
  const gender = FRENCH_PRONOUNS[words.target[written].text.toLowerCase()];
  const meant = new Set(model.nouns.filter(([, target, own]) => target === targets[word] && own === gender)
    .map(([source]) => source));
  const found = sources.flatMap((source, i) => meant.has(source) ? [i] : []);
  return found.length === 1 ? found[0] : null;
}
