// Where the sentences of a line end: the algorithm of sentencex, the library of `text/segments.py`, with its lists for
// a language (`webpage_data/sentence_rules.py`).

const SPACE = "\\p{White_Space}", WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
const MARKER_END = "(?:\\.\\)?|\\))", ROMAN = "[ivxlcdmIVXLCDM]";
const LEAST_ITEM = 4;  // bytes of an item of a list
const LOOK_AHEAD = 30;  // bytes read after a mark

// --- quotations, text in brackets and items of lists, inside which no sentence ends

const PAIRS = ["``''", "````", "''''", "`'", "``", "''", '""', "«»", "‘’", "‚‚", "“”", "‛‛", "„“", "»«", "‟‟", "‹›",
  "《》", "「」"]
  .map((pair) => [pair.slice(0, pair.length / 2), pair.slice(pair.length / 2)]);
const SYMMETRIC = PAIRS.filter(([open, close]) => open === close).map(([open]) => open);
const CLOSERS = [...new Set(PAIRS.map(([, close]) => close))].sort((a, b) => b.length - a.length);
const isSingle = ([open]) => open === "'" || open === "`";  // or an apostrophe
const QUOTES = new RegExp([
  ...PAIRS.map(([open, close]) => isSingle([open])
    ? `(?<!${WORD})${open}(?=${WORD})[^]*?[^${SPACE}${close}]${close}(?!${WORD})` : `${open}[^]*?${close}`),
  ...PAIRS.filter(isSingle).map(([open, close]) => `^${open}[^]+?${close}$`)].join("|"), "gu");
const BRACKETS = /[(（<{[][^)\]}>）]*[)\]}>）]/g;
const ADDRESS = /[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Z|a-z]{2,7}/g;
const ITEM = new RegExp(`(?:(?<top>[•◦▪▫■□●○⁃⁌⁍◆◇★☆➤➢➣▶▸►]|\\((?:[0-9]{1,2}|[A-Za-z]|${ROMAN}+)\\))`
  + `|(?<roman>${ROMAN}{2,}${MARKER_END})|(?<number>[0-9]+${MARKER_END})|(?<bullet>[*+-])|(?<letter>[A-Za-z]\\.?\\))`
  + "|(?<point>[a-z]\\.))[ \\t]+(?<next>[^ \\t])", "uy");

const bytes = (text) => new TextEncoder().encode(text).length;
const found = (pattern, text, kind) => [...text.matchAll(pattern)].map(({ index, 0: { length } }) =>
  ({ start: index, end: index + length, kind }));
const placesOf = (token, text) => [...text.matchAll(token)].map(({ index }) => index);
const isSpace = (text) => text === "" || /^\p{White_Space}/u.test(text);
const hasEnd = (text) => /\.[ \t]+[A-Z]/.test(text);
const opens = (text) => /^[ \t]+[A-Z]/.test(text);

function rangesOf(text) {
  const quotes = found(QUOTES, text, "quote").map((range) =>
    ({ ...range, pair: PAIRS.find(([open]) => text.startsWith(open, range.start)) }));
  for (const token of ["`", "'"]) addSpaced(text, token, quotes);
  const brackets = found(BRACKETS, text), ranges = [...quotes, ...brackets, ...found(ADDRESS, text)];
  for (const range of quotes) range.doubt = doubtOf(text, range, brackets);
  return ranges.sort((a, b) => a.start - b.start);
}

// Whether a mark may belong to a quotation that is not found yet.
const isFree = (text, at, token, ranges) =>
  !ranges.some(({ kind, start, end }) => kind === "quote" && start <= at && at < end)
  && !(/[\p{Alphabetic}\p{N}]$/u.test(text.slice(0, at))
    && /^[\p{Alphabetic}\p{N}]/u.test(text.slice(at + token.length)));
const isOpener = (text, at) => isSpace(text.slice(0, at).slice(-1)) && /^\p{White_Space}/u.test(text.slice(at + 1));

// ' quotations ' with spaces inside.
function addSpaced(text, token, quotes) {
  let opener = null;
  for (const at of placesOf(token, text)) {
    if (!isFree(text, at, token, quotes)) continue;
    if (opener !== null && pairs(text, opener, at, token, quotes)) {
      quotes.push({ start: opener, end: at + 1, kind: "quote", pair: [token, token] });
      opener = null;
    } else opener = at;
  }
}
function pairs(text, opener, closer, token, quotes) {
  if (!isOpener(text, opener)) return false;
  if (!opens(text.slice(closer + 1)) || !hasEnd(text.slice(opener + 1, closer))) return true;
  if (!isOpener(text, closer)) return true;
  const next = placesOf(token, text).find((at) => at > closer && isFree(text, at, token, quotes));
  return next === undefined || hasEnd(text.slice(closer + 1, next));
}

// "certain" or "possible", if a quotation with equal marks at both ends may be none.
function doubtOf(text, { start, end, pair: [open, close] }, brackets) {
  if (open !== close) return null;
  const around = (at) => brackets.find((one) => one.start < at && at < one.end);
  if (around(start)?.end < end || around(end)?.start > start) return "certain";
  return placesOf(open, text).length % 2 ? "possible" : null;
}

// The starts of the items of a list.
function itemsOf(text) {
  const items = [], first = /[^ \t]|$/.exec(text).index;
  const add = (at, start) => {
    ITEM.lastIndex = at;
    const match = ITEM.exec(text);
    if (!match) return;
    const { groups: { next, ...kinds } } = match, kind = Object.keys(kinds).find((name) => kinds[name]);
    const isBare = kinds[kind].endsWith(".") || kind === "bullet" || /\p{Lowercase}/u.test(next);
    if (at === first || !isBare) items.push({ start, kind, letter: text[at] });
  };
  add(first, 0);
  for (const at of placesOf(/(?<=[ \t])[^ \t]/g, text)) if (at > first) add(at, at);
  const hasRoman = items.some(({ kind }) => kind === "roman"), kinds = {};
  for (const { start, kind, letter } of items) {
    const isRoman = hasRoman && (kind === "letter" || kind === "point") && /[ivxlcdm]/i.test(letter);
    const starts = kinds[isRoman ? "roman" : kind] ??= [];
    if (!starts.length || bytes(text.slice(starts.at(-1), start)) >= LEAST_ITEM) starts.push(start);
  }
  const { top = [], ...others } = kinds;
  if (top.length > 1 || top[0] === 0) return top;
  const longest = Object.values(others).filter((starts) => starts.length > 1)
    .sort((a, b) => b.length - a.length || a[0] - b[0]);
  return longest[0] ?? [];
}

// --- the ends

const wordBefore = (text) => /([^\p{White_Space}./]*)\p{White_Space}*$/u.exec(text)[1];
const dottedBefore = (text) => /([^\p{White_Space}/]*)\p{White_Space}*$/u.exec(text)[1];
const isInitial = (word) => /^[A-Z]$/.test(word);
function after(text, at) {
  let end = at;
  while (end < text.length && bytes(text.slice(at, end)) < LOOK_AHEAD) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  return text.slice(at, end);
}

export class SentenceEnds {
  constructor({ terminators, lowercase, after_gap: gap, comma, ellipsis_i: i, months, markers, ...lists }) {
    const mark = `[${terminators.replace(/[\]\\^-]/g, "\\$&")}]`, dots = "\\.(?:[ \\t]+\\.){2,}";
    const letters = lowercase.replace("abcdefghijklmnopqrstuvwxyz", "a-z");
    this.marks = new RegExp(`(?:${dots}|[!?…](?:[ \\t]+[!?…])+|${mark}+)`
      + `(?:(?<=[!?…])[ \\t]+(?:${dots}|\\.+(?!${mark})))?`, "gu");
    this.stray = new RegExp(`^${SPACE}*(?:(?:${this.marks.source})${SPACE}*)*`, "u");  // marks that end nothing
    this.blank = new RegExp(`^(?:${SPACE}|${mark})*`, "u");
    this.followed = new RegExp(`^(?:${gap ? `(?!${WORD})[^]` : ""})*[0-9${letters}]`
      + (comma ? `|^${SPACE}*(?:(?:\`\`|''|[\`'"‚‛‟])${SPACE}*)?,` : ""), "u");
    this.trailing = new RegExp(`^${SPACE}+(?:[0-9a-z]${i ? `|I(?:[${SPACE}'’]|$)` : ""})`, "u");
    this.first = new RegExp(`^${SPACE}*((?:(?!${mark})[^${SPACE},])+)`, "u");
    Object.assign(this, { months: new Set(months), markers });
    for (const [name, words] of Object.entries(lists)) this[name] = new Set(words);
  }

  // The ends of all sentences of a line.  The last is the line's own.
  of(text) {
    const ranges = rangesOf(text), items = itemsOf(text), ends = [0];
    ranges.push(...items.map((start, i) => ({ start, end: items[i + 1] ?? text.length })));
    for (const { index, 0: mark } of text.matchAll(this.marks)) {
      const end = this.end(text, index, mark);
      if (end === null) continue;
      const range = ranges.find((one) => one.start < end && end < one.end && !this.isNone(one, text, index, mark));
      const at = range ? this.endOfQuote(text, range, end) : this.pastQuote(text, end, ranges);
      if (at > ends.at(-1)) ends.push(at);
    }
    return [...new Set([...ends, ...items, text.length])].sort((a, b) => a - b).slice(1);
  }

  // The end of a sentence at this mark, or null.
  end(text, start, mark) {
    const head = text.slice(0, start), end = start + mark.length, next = after(text, end), word = wordBefore(head);
    const references = /^(?:\p{White_Space}*\[\p{Nd}+\])+/u.exec(next);
    if (references) return end + references[0].length;
    const isRun = [...mark].length > 1;
    if (isRun ? this.trailing.test(next) || !isSpace(head.slice(-1)) && /^[0-9a-z]/.test(next) : this.continues(next))
      return null;
    if (/^[!?]$/.test(mark) && /[ \t]$/.test(head) && NEXT_LOWER.test(next)) return null;
    const isNumbered = /[0-9]$/.test(head) && /^\p{Alphabetic}/u.test(next) && /[0-9]/.test(next);  // 7.Bg5
    if (mark === "." && (isNumbered || this.isAbbreviated(head, word, next))) return null;
    return word === "Yahoo" || word === "Yum" ? null : end + /^\p{White_Space}*/u.exec(next)[0].length;
  }

  continues(next) {
    const [word = ""] = next.match(/[^\p{White_Space}]+/u) ?? [], bare = word.replace(/^[.!?]+|[.!?]+$/g, "");
    return this.followed.test(next) || this.months.has(bare)
      || this.months.has(bare.replace(/^./u, (letter) => letter.toUpperCase()));
  }

  isAbbreviated(head, word, next) {
    const marker = this.markerOf(head.replace(/\p{White_Space}+$/u, ""));
    if (!marker && !isNameInitial(head, word, next) && !this.isKnown(word)) return false;
    const starts = this.starters.has(this.first.exec(next)?.[1]);
    if (marker && this.endsAtMarker(marker, next, starts)) return false;
    return !starts || !/^[A-Z]/.test(word) && !this.isDotted(head, word)
      && !([...word].length > 1 && this.abbreviations.has(word));
  }
  isKnown(word) { return this.abbreviations.has(word.toLowerCase()); }
  isDotted(head, word) {
    const whole = dottedBefore(head);
    return whole.length > word.length && this.isKnown(whole);
  }

  // The marker at the end of this text: { before, endsBeforeDigit }.
  markerOf(head) {
    for (const [suffix, anyCase, onlyNumbers, endsBeforeDigit] of this.markers) {
      const end = head.slice(-suffix.length), before = head.slice(0, -suffix.length);
      const isThere = end === suffix || anyCase && end.length === suffix.length && end.toLowerCase() === suffix;
      if (isThere && (onlyNumbers ? /[0-9]\p{White_Space}*$/u : /(?:^|[0-9\p{White_Space}])$/u).test(before))
        return { before, endsBeforeDigit };
    }
    return null;
  }
  endsAtMarker({ before, endsBeforeDigit }, next, starts) {
    const [, first = "", second] = /^\p{White_Space}*([^])?([^])?/u.exec(next);
    if (/[A-Z]/.test(first) && second === ".") return false;
    if (/[0-9]/.test(first)) return endsBeforeDigit;
    const [word] = before.replace(/[0-9:\p{White_Space}]+$/u, "").match(/[^\p{White_Space}]*$/u);
    return /\p{Uppercase}/u.test(first) && (starts || !/^[A-Z]/.test(word) && !this.isFronting(before));
  }
  isFronting(before) {
    const isPart = (one) => !one || /^(?:[0-9:]+$|\p{Uppercase})/u.test(one) || this.isKnown(one)
      || this.fronting.has(one.toLowerCase());
    return before.replace(QUOTES, " ").split(/[\p{White_Space},;–—]/u).every((one) => isPart(one.replace(/\.+$/, "")));
  }

  // Whether a quotation with this mark inside is none.
  isNone({ doubt }, text, start, mark) {
    if (doubt !== "possible") return doubt === "certain";
    const head = text.slice(0, start), next = after(text, start + 1).replace(/^\p{White_Space}+/u, "");
    const word = wordBefore(head);
    if (mark !== "." || !/^[A-Z]/.test(next) || !word || isInitial(word)) return false;
    if (this.isKnown(word) || this.isDotted(head, word)) return false;
    return SYMMETRIC.includes(word) || this.starters.has(this.first.exec(next)?.[1]);
  }

  // Where a sentence ends whose mark is the last character of a quotation; null for other marks inside.
  endOfQuote(text, { kind, end }, at) {
    const next = after(text, end);
    const isLast = kind === "quote" && CLOSERS.some((one) => text.endsWith(one, end) && at + one.length === end);
    if (!isLast || this.continues(next.trim()) || NEXT_LOWER.test(next)) return null;
    return end + this.blank.exec(next)[0].length;
  }

  // The end of a sentence with the closing mark of a quotation after it, whose opening mark is not there.
  pastQuote(text, end, ranges) {
    if (ranges.some(({ start }) => start === end)) return end;
    const closer = CLOSERS.find((one) => text.startsWith(one, end) && isClosing(text, end, one, ranges));
    if (!closer || opensNext(text, end, closer, ranges)) return end;
    const rest = text.slice(end + closer.length);
    return end + closer.length + this.stray.exec(rest)[0].length;
  }
}

const NEXT_LOWER = new RegExp(`^(?:(?!${WORD})[^])*[0-9a-z]`, "u");

function isNameInitial(head, word, next) {
  if (!isInitial(word)) return false;
  const before = wordBefore(head.slice(0, -1).replace(/[\p{White_Space}./]+$/u, ""));
  return /^[A-Z]/.test(before) || /^\p{White_Space}*[A-Z]\.(?:\p{White_Space}|$)/u.test(next);
}

function isClosing(text, at, closer, ranges) {
  if (!SYMMETRIC.includes(closer)) return true;
  const places = placesOf(closer, text).filter((one) => isFree(text, one, closer, ranges));
  const before = places.filter((one) => one < at).length;
  return before % 2 === 1 || before === 0 && places.length === 1;
}

function opensNext(text, at, closer, ranges) {
  return SYMMETRIC.includes(closer) && isSpace(text.slice(0, at).slice(-1)) && opens(text.slice(at + closer.length))
    && ranges.some(({ pair, start, end }) => pair && pair[0] === pair[1] && end <= at
      && text.startsWith(closer, start));
}
