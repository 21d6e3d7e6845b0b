// A text in sentences, as `text/segments.py` has them for a text without HTML.

import { RULES } from "../data.js";
import { EMOJI, MARK, keptParts, masked } from "./kept_parts.js";
import { doubleQuoted } from "./model_input.js";

const { EARLY_WORDS, LABELS, OPEN_WORDS, REFERRING_PRONOUNS } = RULES;
const PLACES = [/(?<=[.!?…]['"”’»)]*)\s+/g, /(?<=[,;:–—])\s+/g, /\s+/g, /(?=.)/gu];  // to cut at, best first
const W = "[\\p{L}\\p{N}_]";
const LINE_BREAK = new RegExp("\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]"
  + "|(?<![:\\\\])(?:\\\\[nrt])+(?![a-z0-9_])"
  + "|(?<=\\s)[→⇒➔➜▶›](?=\\s)|(?<=\\p{L}\\s)>(?=\\s\\p{L})", "gu");
const TABS = /(?<=[^\t])\t+(?=[^\t])/g;
const EMOJI_END = new RegExp(`${W}\\s+${W}+(?:(?!${W})[^])*?(?:${EMOJI})\\s+(?=\\p{Lu})`, "gu");
const ELLIPSIS = /…(?=['"”’»)]*\s+['"“‘«(¿¡]*[\p{Lu}\p{Lo}])/gu;  // ends a sentence
const ABBREVIATED = new RegExp(  // St. in; e.g. near
  `(?<!${W})(?:\\p{Lu}[b-df-hj-np-tv-xz]{1,3}|\\p{L}\\.\\p{L})\\.(\\s+)(?=\\p{Ll})`, "gu");
const LABEL = `[A-Z]{1,2}(?: @[\\p{L}\\p{N}_@]+)?|[a-z]|${W}+\\([\\p{L}\\p{N}_/-]{2,}\\)!?|[A-Z][\\p{L}\\p{N}_-]*-by`
  + `|(?:${LABELS})(?: \\([\\p{L}\\p{N}_/-]+\\))?`;
const MARKS = new RegExp(  // of lists, headings, quotations and speech
  `^\\s*(?:(?:[-*•>#–—]+|//+|\\p{Nd}+[.)]|[A-Za-z]\\)|[a-z]\\.|(?:${LABEL}):)(?:\\s+|$)|—+(?=\\p{L})`
  + "|[-–](?=[A-ZÀ-ÖØ-Þ]\\p{L}*[\\s,.!?]))*", "u");
const BLANK = "(?![\\u200c\\u200d])[\\p{DI}\\p{Cf}\\p{Cc}]|\\s";
const HEAD = new RegExp(`^(?:${BLANK}|[-–—]+\\s+|${MARK})+`, "u"), TAIL = new RegExp(`(?:${BLANK}|${MARK})+$`, "u");

const ENDED = /[.!?…:;。！？।|][\p{Pf}\p{Pe}"']*$/u, BEGINS_SMALL = /^[^\p{L}\n]*\p{Ll}/u;
const GOES_ON = new RegExp(`^[^\\S\\n]*(?!${W}[.)]\\s|[^\\s:]+:(?:\\s|$))(\\p{Ll}|\\p{L})`, "u");
const OPEN = new Set(OPEN_WORDS.split(" "));

const hasWords = (text) => /\p{L}/u.test(masked(text));

// The sentences of a line.
function sentencesOf(line, ends) {
  const shown = line.replace(/(?![\0-\x7f])\p{White_Space}/gu, " ").replace(ELLIPSIS, ".").replace(/[\r\n]/g, " ");
  const places = new Set([0, ...ends.of(doubleQuoted(masked(shown)))]);
  for (const { index, 0: { length } } of line.matchAll(EMOJI_END)) places.add(index + length);
  for (const { index, 0: { length }, 1: gap } of line.matchAll(ABBREVIATED)) {
    places.delete(index + length);
    places.delete(index + length - gap.length);
  }
  const all = [...places.add(line.length)].sort((a, b) => a - b);
  return all.slice(1).map((end, i) => line.slice(all[i], end));
}
export const countSentences = (text, ends) => sentencesOf(text, ends).filter(hasWords).length;
function refersBack(sentence, language) {
  const words = sentence.match(/[\p{L}\p{M}]+/gu) ?? [], known = (REFERRING_PRONOUNS[language] ?? "").split(" ");
  return words.slice(0, EARLY_WORDS).some((word) => known.includes(word.toLowerCase()));
}

function split(text, pattern) {
  const parts = [];
  let done = 0;
  for (const { index, 0: { length } } of text.matchAll(pattern)) {
    parts.push(text.slice(done, index), text.slice(index, index + length));
    done = index + length;
  }
  return [...parts, text.slice(done)];
}

// Whether a sentence goes on in the next line.
function goesOn(before, line) {
  const first = GOES_ON.exec(line)?.[1], words = before.slice(before.lastIndexOf("\n") + 1).trim().split(/\s+/);
  if (!first || BEGINS_SMALL.test(before) || words.length < 2 || ENDED.test(words.at(-1))) return false;
  return /\p{Ll}/u.test(first) || OPEN.has(words.at(-1).toLowerCase());
}

// The lines of a text and the breaks between them; lines over which one sentence goes on are one.
function rowsOf(text) {
  const [first, ...others] = split(text, LINE_BREAK), rows = [first];
  for (let i = 0; i < others.length; i += 2) {
    const [gap, line] = others.slice(i, i + 2);
    if (/^\r?\n$/.test(gap) && goesOn(rows.at(-1), line)) rows.push(rows.pop() + gap + line);
    else rows.push(gap, line);
  }
  return rows;
}

// Each sentence of a text with those after it in its line that refer back, at most `together`.
function partsOf(text, language, ends, together, fits) {
  const parts = [], cells = (line) => line.match(TABS)?.length > 1 ? split(line, TABS) : [line];
  for (const line of rowsOf(text).flatMap(cells)) {
    let joined = [];
    for (const sentence of sentencesOf(line, ends)) {
      const refers = joined.length && hasWords(joined.at(-1)) && refersBack(sentence, language);
      if (!refers || joined.length === together || !fits(joined.join("") + sentence)) {
        parts.push(joined.join(""));
        joined = [];
      }
      joined.push(sentence);
    }
    parts.push(joined.join(""));
  }
  return parts;
}

// The span to translate in a part: without white space and marks at its ends, and parts to keep that colons separate.
function edges(part) {
  let start = MARKS.exec(part)[0].length, end = part.length - TAIL.exec(part)?.[0].length || part.length;
  for (const one of keptParts(part)) {
    const [after] = part.slice(one.end).match(/^\s*:\s+|^\s+(?=\p{Lu})/u) ?? [];
    const isApart = after && (after.includes(":") || !/[{$%]/.test(part[start]));
    if (one.start === start && isApart) start = one.end + after.length;
    else if (/^[.!?]*$/.test(part.slice(one.end, end)) && /:\s+$/.test(part.slice(start, one.start)))
      end = part.slice(0, one.start).trimEnd().length;
  }
  start += HEAD.exec(part.slice(start, end))?.[0].length ?? 0;
  return [start, end - (TAIL.exec(part.slice(start, end))?.[0].length ?? 0)];
}

// { segments, between }: what is translated together, and the rest of the text around them.  The `first` segments stay
// together, for a prefix has as many.
export function cut(text, language, { ends, together, first = 1, fits }) {
  const segments = [], between = [""];
  for (const part of partsOf(text, language, ends, together, fits)) {
    const [start, end] = hasWords(part) ? edges(part) : [0, 0], segment = part.slice(start, end);
    if (!/\p{L}/u.test(segment)) { between.push(between.pop() + part); continue; }
    between.push(between.pop() + part.slice(0, start), part.slice(end));
    segments.push(segment);
  }
  const begun = join(segments.splice(0, first), ["", ...between.splice(1, first - 1), ""]);
  return halved({ segments: begun ? [begun, ...segments] : [], between }, fits);
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

