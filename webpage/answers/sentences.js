// A text in sentences, and as the model reads it.  Placeholders, HTML and the detection of languages are the server's
// (`text/segments.py`, `text/model_input.py`).

import { RULES } from "../data.js";
import { splitWords } from "../model/words.js";

const { ABBREVIATION_LETTERS, COUNTERPARTS, EARLY_WORDS, REFERRING_PRONOUNS } = RULES;
const ABBREVIATED = /(?:^|\s)(?:Mrs?|Ms|Dr|Prof|St)\.\s*$/;
const SPACES = "\u00a0\u2000-\u200a\u202f\u3000";
const PLACES = [/(?<=[.!?…]['"”’»)]*)\s+/g, /(?<=[,;:–—])\s+/g, /\s+/g, /(?=.)/gu];  // to cut at, best first

function sentencesOf(text, language) {
  const found = [];
  for (const { segment } of new Intl.Segmenter(language || "en", { granularity: "sentence" }).segment(text)) {
    if (found.length && ABBREVIATED.test(found.at(-1))) found.push(found.pop() + segment);
    else found.push(segment);
  }
  return found;
}
const hasWords = (text) => /\p{L}/u.test(text);
export const countSentences = (text, language) => sentencesOf(text, language).filter(hasWords).length;
function refersBack(sentence, language) {
  const words = sentence.match(/[\p{L}\p{M}]+/gu) ?? [], known = (REFERRING_PRONOUNS[language] ?? "").split(" ");
  return words.slice(0, EARLY_WORDS).some((word) => known.includes(word.toLowerCase()));
}

// { segments, between }: each sentence with those after it in its line that refer back, at most `together`; what has no
// words stands between.  `first` sentences belong together anyway, for a prefix has as many.
export function cut(text, language, { together, first = 1, fits }) {
  const segments = [], between = [""], counts = [];
  for (const sentence of sentencesOf(text, language)) {
    const own = sentence.trim(), before = sentence.indexOf(own), rest = sentence.slice(before + own.length);
    if (!hasWords(own)) { between.push(between.pop() + sentence); continue; }
    const gap = between.at(-1) + sentence.slice(0, before);
    const isOne = segments.length === 1 && counts[0] < first;
    const goesOn = segments.length && !/[\n\r\u2028\u2029]/.test(gap) && counts.at(-1) < together
      && refersBack(own, language) && fits(segments.at(-1) + gap + own);
    if (isOne || goesOn) {
      segments.push(segments.pop() + gap + own);
      counts.push(counts.pop() + 1);
      between.splice(-1, 1, rest);
    } else {
      between.splice(-1, 1, gap, rest);
      segments.push(own);
      counts.push(1);
    }
  }
  return halved({ segments, between }, fits);
}

// With segments that are too long cut near their middles.
function halved({ segments, between }, fits) {
  const found = { segments: [], between: [between[0]] };
  const put = (text, after) => {
    if (fits(text)) { found.segments.push(text); found.between.push(after); return; }
    const middle = text.length / 2, distance = ({ index }) => Math.abs(index - middle);
    const inside = (one) => one.index > 0 && one.index + one[0].length < text.length;
    const places = PLACES.map((place) => [...text.matchAll(place)].filter(inside)).find((some) => some.length);
    const { index, 0: gap } = places.sort((a, b) => distance(a) - distance(b))[0];
    put(text.slice(0, index), gap);
    put(text.slice(index + gap.length), after);
  };
  segments.forEach((text, i) => put(text, between[i + 1]));
  return found;
}
export const join = (texts, between) => between[0] + texts.map((text, i) => text + between[i + 1]).join("");

// The text with plain quotation marks, dashes and spaces for those that the model has never read; text wholly in
// capitals in lower case.
export function readAs(text, known) {
  const all = Object.entries({ ...COUNTERPARTS, " ": SPACES })
    .map(([plain, others]) => [plain, new RegExp(`[${others}]`, "gu")]);
  const read = all.reduce((read, [plain, others]) =>
    read.replace(others, (own) => known?.has(own) || known && !known.has(plain) && plain === "—" ? own : plain), text);
  return inCapitals(text) ? inLowerCase(read) : read;
}

// Text wholly in capitals, as `text/capitals.py` has it.
export function inCapitals(text) {
  const words = text.match(/\p{Lu}[\p{Lu}\p{M}'’-]*\p{Lu}/gu) ?? [], longest = Math.max(0, ...words.map((one) => one.length));
  const isSaid = longest === ABBREVIATION_LETTERS && (words.length > 1 || /[!?]/.test(text));
  return (longest > ABBREVIATION_LETTERS || isSaid) && !/\p{Ll}/u.test(text);
}
const inLowerCase = (text) => text.toLowerCase().replace(/(?<![\p{L}\p{N}_'’])i(?![\p{L}\p{N}_])/gu, "I")
  .replace(/(^|[.!?…]\s+)([^\p{L}\p{N}]*)(\p{Ll})/gu, (_, before, marks, first) => before + marks + first.toUpperCase());

// The words that were not in the training text, but for marks and numbers; null where that is not known.
export function unknownWords(seen, text, language) {
  if (!seen) return null;
  return splitWords(text, language).map((one) => one.text)
    .filter((word) => !/^[\p{N}\p{P}\p{S}\p{Z}]+$/u.test(word) && !seen.words.has(folded(readAs(word, seen.letters))));
}
const folded = (word) => word.toLowerCase().replaceAll("ß", "ss");
