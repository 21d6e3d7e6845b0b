// A text as the model reads it: what `text/model_input.py` does with a text without placeholders and HTML.

import { RULES } from "../data.js";
import { splitWords } from "../model/words.js";

const { ABBREVIATION_LETTERS, COUNTERPARTS, QUOTED } = RULES;
const SPACES = "\u00a0\u2000-\u200a\u202f\u3000";

// The text with plain quotation marks, dashes and spaces for those that the model has never read; text wholly in
// capitals in lower case.
export function readAs(text, known) {
  const all = Object.entries({ ...COUNTERPARTS, " ": SPACES })
    .map(([plain, others]) => [plain, new RegExp(`[${others}]`, "gu")]);
  const quoted = known?.has('"') ? doubleQuoted(text) : text;
  const read = all.reduce((read, [plain, others]) =>
    read.replace(others, (own) => known?.has(own) || known && !known.has(plain) && plain === "—" ? own : plain), quoted);
  return inCapitals(text) ? inLowerCase(read) : read;
}

// The text with double quotation marks for pairs of single ones.
export const doubleQuoted = (text) => text.replace(new RegExp(QUOTED, "gu"), (found) => `“${found.slice(1, -1)}”`);

// Text wholly in capitals, as `text/capitals.py` has it.
export function inCapitals(text) {
  const words = text.match(/\p{Lu}[\p{Lu}\p{M}'’-]*\p{Lu}/gu) ?? [], longest = Math.max(0, ...words.map((one) => one.length));
  const isSaid = longest === ABBREVIATION_LETTERS && (words.length > 1 || /[!?]/.test(text));
  return (longest > ABBREVIATION_LETTERS || isSaid) && !/\p{Ll}/u.test(text);
}
const inLowerCase = (text) => text.toLowerCase().replace(/(?<![\p{L}\p{N}_'’])i(?![\p{L}\p{N}_])/gu, "I")
  .replace(/(^|[.!?…]\s+)([^\p{L}\p{N}]*)(\p{Ll})/gu, (_, before, marks, first) => before + marks + first.toUpperCase());

const TITLED = /(?<![\p{L}\p{M}])\p{Lu}\p{Ll}+(?![\p{L}\p{M}])/gu;

// A title whose words have small letters where the vocabulary has a word as a token only so, as `text/capitals.py` has it.
export function inSmallLetters(text, tokenizer) {
  const words = text.match(/[\p{L}\p{M}'’]+/gu) ?? [], long = words.filter((word) => word.length >= ABBREVIATION_LETTERS);
  const titled = text.match(TITLED) ?? [], least = /[.!?…:][^\p{L}\p{N}_]*$/u.test(text) ? 2 : 1;
  const isTitle = titled.length >= least && (long.length ? long : words).every((word) => /^\p{Lu}/u.test(word));
  const count = (word) => tokenizer.encode(word).ids.length;
  const isBetter = (small, word) => count(small) === count("a") && count("a") < count(word);
  return !isTitle ? text : text.replace(TITLED, (word) =>
    isBetter(word.toLowerCase(), word) ? word.toLowerCase() : word);
}

// The text of a translation as its source is written: in capitals, or with a first capital that the model has not read.
export function inCaseOf(source, read) {
  if (inCapitals(source)) return (text) => text.toUpperCase();
  const isSmall = /^\p{Lu}/u.test(source) && /^\p{Ll}/u.test(read);
  return isSmall ? (text) => text.replace(/^\p{Ll}/u, (first) => first.toUpperCase()) : (text) => text;
}

// The words that were not in the training text, but for marks and numbers; null where that is not known.
export function unknownWords(seen, text, language) {
  if (!seen) return null;
  return splitWords(text, language).map((one) => one.text)
    .filter((word) => !/^[\p{N}\p{P}\p{S}\p{Z}]+$/u.test(word) && !seen.words.has(folded(readAs(word, seen.letters))));
}
const folded = (word) => word.toLowerCase().replaceAll("ß", "ss");
