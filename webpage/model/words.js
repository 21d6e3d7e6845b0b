// Words, as a reader counts them, and the word that each token is part of, as `tokenizer/words.py` has them.  Places
// count code points, as in Python.

const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー";
const LETTER = `[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]`, APOSTROPHE = "['’]", HYPHEN = "[\\-‐‑]";
const JOINER = "[\\-‐‑'’·\\u{ad}]";  // inside a word: well-known, didn't, étudiant·e
const INSIDE = `(?:${JOINER}|(?<=\\p{N})[.,:](?=\\p{N}))`;  // also inside a number: 3,5 and 10:30
const WORD = `${LETTER}+(?:${INSIDE}${LETTER}+)*`, ABBREVIATION = "(?:\\p{sc=Latin}\\.){2,}";
const OTHER = "\\.{2,}|[^\\p{White_Space}\\x1c-\\x1f]";  // an ellipsis; else a punctuation mark, an emoji, 漢

// French: a clitic after its verb is a word (a -t-il), and so is what is elided before an apostrophe (l' arbre).
const NO_MORE = `(?!${LETTER}|${JOINER}${LETTER})`;
const WHOLE = `(?:aujourd${APOSTROPHE}hui|presqu${APOSTROPHE}[iî]les?|quelqu${APOSTROPHE}une?`
  + `|entr${APOSTROPHE}${LETTER}+|prud${APOSTROPHE}hom${LETTER}+|c${APOSTROPHE}est-à-dire|qu${APOSTROPHE}en-dira-t-on`
  + `|rendez-vous|garde-à-vous|chez-(?:moi|toi|soi|lui|elles?|eux|nous|vous))${NO_MORE}`;
const ELIDED = `(?:[ldjmtscnç]|(?:jus|lors|puis|quoi)?qu)${APOSTROPHE}`;
const PRONOUN = "(?:t-(?:ils?|elles?|on)|ils?|elles?|on|je|tu|nous|vous|ce|les?|la|lui|leur|moi|toi|en|y)";
const TO_IT = `${HYPHEN}[mtl]${APOSTROPHE}(?=(?:en|y)${NO_MORE})`;
const CLITIC = `(?:${TO_IT}|${HYPHEN}${PRONOUN}(?=(?:${HYPHEN}${PRONOUN}){0,2}${NO_MORE}|${TO_IT}))`;
const FRENCH = [WHOLE, ABBREVIATION, ELIDED, `(?<=[\\p{L}\\p{M}])${CLITIC}`,
  `${LETTER}+(?:(?!${CLITIC})${INSIDE}${LETTER}+)*`, OTHER];

const pattern = (parts) => new RegExp(parts.join("|"), "giv");
const PATTERNS = { french: pattern(FRENCH), other: pattern([ABBREVIATION, WORD, OTHER]) };
const cutter = new Intl.Segmenter("en", { granularity: "grapheme" });

// [{ text, start, end }].  No word separates a vowel sign or a skin tone from its base: what is searched for words has
// the first character of each grapheme alone.
export function splitWords(text, language) {
  const letters = [...text], places = [];
  let first = "", at = 0;
  for (const one of graphemesOf(text)) {
    const [own] = one;
    for (let i = 0; i < own.length; i++) places.push(at);
    first += own;
    at += [...one].length;
  }
  places.push(at);
  const found = first.matchAll(PATTERNS[/^fra?(?:[-_]|$)/.test(language) ? "french" : "other"]);
  return Array.from(found, ({ 0: { length }, index }) => {
    const start = places[index], end = places[index + length];
    return { text: letters.slice(start, end).join(""), start, end };
  });
}

// What is put over a space stands alone.
const graphemesOf = (text) => Array.from(cutter.segment(text), ({ segment }) =>
  /^\s./u.test(segment) ? [segment[0], segment.slice(1)] : [segment]).flat();

// The tokens that spell a text: { text, word, start, end, special }, with `word` a number in `splitWords`, null for a
// special token and for space at the end.  Tokens that spell one character byte by byte all have its place.
export function tokenSpans(tokenizer, ids, text, language) {
  const letters = [...text], spans = trimmed(tokenizer.places(ids, text), letters), words = splitWords(text, language);
  let at = 0;
  return ids.map((id, k) => {
    const name = tokenizer.tokens[id];
    if (tokenizer.special.has(id)) return { text: name, word: null, start: at, end: at, special: true };
    const [start, end] = spans[k], next = spans.slice(k + 1).find(Boolean);
    const alone = at <= start && start < end && (!next || end <= next[0]);
    const word = words.findIndex((one) => one.start <= start && start < one.end);
    at = end;
    return { text: alone ? letters.slice(start, end).join("") : name, word: word < 0 ? null : word, start, end,
      special: false };
  });
}

// Without white space at the edges; a token of only spaces has an empty span before the next.
function trimmed(spans, letters) {
  const found = [...spans], isSpace = (i) => /\s/.test(letters[i] ?? "");
  let lead = letters.length;
  for (let k = spans.length - 1; k >= 0; k--) {
    if (!spans[k]) continue;
    let [start, end] = spans[k];
    while (start < end && isSpace(start)) start += 1;
    while (end > start && isSpace(end - 1)) end -= 1;
    found[k] = start < end ? [start, end] : [lead, lead];
    lead = found[k][0];
  }
  return found;
}

// Tokens grouped by word; one of no word stands alone: { text, pieces, word, special, start, end }.
export function unitsOf(tokens, words) {
  const found = [];
  tokens.forEach(({ text, word, start, end, special }, i) => {
    const last = found.at(-1);
    if (word !== null && last?.word === word) last.pieces.push(i);
    else found.push({ text, word, start, end, ...(word === null ? {} : words[word]), pieces: [i], special });
  });
  return found;
}

// Whether the token continues the last word of the tokens before it.
export function goesOn(tokenizer, ids, following, language) {
  const before = splitWords(tokenizer.decode(ids), language);
  const after = splitWords(tokenizer.decode([...ids, following]), language), { length } = before;
  return length > 0 && after.length >= length && after[length - 1].end > before[length - 1].end;
}
