// Text to tokens and back as SentencePiece has it (Kudo and Richardson 2018), for Marian, M2M-100, NLLB and mBART: a
// normaliser, and Unigram or byte-pair encoding; and BART's byte-pair encoding of bytes (Radford et al. 2019).  The ids
// are Python's.  Some of those models come with SentencePiece's own files, others with a tokenizer.json; where that
// makes a difference, `webpage_data/page_tokenizer.py` says which.
//
//     const tokenizer = new SentencePiece(description).framed({ before, after })     ids around a source: tags, </s>
//     const { ids, offsets } = tokenizer.encode(text)       a source; offsets count code points, and are [0, 0] of tags
//     tokenizer.encodeTarget(text), bare(text)              ids of a translation, with </s>; of a text alone
//     tokenizer.decode(ids), tokenizer.label(id)            as in tokenizer.js

import { printable, wellFormed } from "./tokenizer.js";

const SPACE = "▁", UNKNOWN = 10;  // what an unknown character is below the lowest score
const CODE = /^>>[^]*?<</;  // Marian's tag before a source
const BYTE_WORDS = /'(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const cutter = new Intl.Segmenter("en", { granularity: "grapheme" });

export class SentencePiece {
  constructor({ source, target, charsmaps, tokens, special, unknown, end, has_codes: hasCodes, trims, tags }) {
    const maps = charsmaps.map((one) => new CharacterMap(one)), pieces = (one) => new Pieces(one, maps, { tokens, unknown });
    this.source = pieces(source);
    this.target = target ? pieces(target) : this.source;
    const isOfBytes = source.spaces === "bytes", edge = isOfBytes ? /^/ : trims ? /^\s*/ : /^ ?/;
    Object.assign(this, { tokens, unknown, end, hasCodes, trims, isOfBytes, edge, special: new Set(special), tags });
    this.vocabulary = new Map(tokens.map((token, id) => [token, id]));
    this.frame = { before: [], after: [end] };
  }

  framed(frame) { return Object.assign(Object.create(SentencePiece.prototype), this, { frame }); }

  encode(text) {
    const { before, after } = this.frame, found = this.cut(this.source, text), none = (ids) => ids.map(() => [0, 0]);
    return { ids: [...before, ...found.map(({ id }) => id), ...after],
      offsets: [...none(before), ...found.map(({ start, end }) => [start, end]), ...none(after)] };
  }

  encodeTarget(text) { return [...this.cut(this.target, text).map(({ id }) => id), this.end]; }
  bare(text) { return this.cut(this.source, text).map(({ id }) => id); }

  // The tokens of a text: { id, start, end } in code points.
  cut(pieces, given) {
    const text = wellFormed(given), [code = ""] = this.hasCodes && CODE.exec(text) || [], shift = [...code].length;
    const idOf = (token) => this.vocabulary.get(token) ?? this.unknown;
    const found = pieces.cut(text.slice(code.length)).map(({ token, start, end }) =>
      ({ id: idOf(token), start: start + shift, end: end + shift }));
    return code ? [{ id: idOf(code), start: 0, end: shift }, ...found] : found;
  }

  // The text of each token; of special and unknown ones none.  A character of several tokens is the last one's.
  texts(ids) {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true }), last = ids.findLastIndex((id) => !this.special.has(id));
    if (this.isOfBytes) return ids.map((id, k) => this.special.has(id) ? ""
      : decoder.decode(Uint8Array.from(this.tokens[id], (letter) => BYTES.get(letter)), { stream: k < last }));
    return ids.map((id) => this.special.has(id) || id === this.unknown ? "" : this.tokens[id].replaceAll(SPACE, " "));
  }

  decode(ids) {
    const text = this.texts(ids).join("");
    return this.trims ? text.trim() : text.replace(this.edge, "");
  }

  // The characters [start, end] of each token of a text; null for a special one.
  places(ids, text) {
    const own = this.encode(text), texts = this.texts(ids), whole = texts.join(""), [lead] = this.edge.exec(whole);
    const size = [...text].length, within = (at) => Math.min(Math.max(0, at), size), isOwn = own.ids.join() === ids.join();
    let at = -lead.length;
    return ids.map((id, k) => {
      const start = at;
      at += [...texts[k]].length;
      if (this.special.has(id)) return null;
      return isOwn ? own.offsets[k] : [within(start), within(at)];
    });
  }

  label(id) { return printable(this.tokens[id] ?? `<${id}>`); }
}

// From text to the names of tokens: { token, start, end }.
class Pieces {
  // `spaces` are { collapses, prefix } in SentencePiece's own files; in a tokenizer.json "kept", "runs" where a run of
  // them is one, "words" where white space only separates, or "bytes" where a space is a byte like others.
  constructor({ is_unigram: isUnigram, scores, merges, charsmap, spaces }, charsmaps, { tokens, unknown }) {
    Object.assign(this, { isUnigram, spaces, unknownToken: tokens[unknown], isOwn: typeof spaces === "object", map: charsmaps[charsmap] });
    this.round = this.isOwn ? Math.fround : (score) => score;  // SentencePiece adds in float32
    this.scores = new Map(scores ?? tokens.map((token) => [token, 0]));
    this.ranks = merges && new Map(merges.map((pair, rank) => [pair.join(" "), -rank]));
    const all = [...this.scores];
    this.longest = all.reduce((most, [token]) => Math.max(most, [...token].length), 1);
    this.unknown = this.round(all.reduce((least, [, score]) => Math.min(least, score), Infinity) - UNKNOWN);
  }

  cut(text) {
    if (this.spaces === "bytes") return bytewise(text).flatMap((word) => this.merged(word));
    const words = this.isOwn ? [this.spaced(this.replaced(text))] : this.words(this.normalised(text));
    return words.flatMap((word) => this.isUnigram ? joined(this.likeliest(word))
      : cutBeforeSpaces(word).flatMap((part) => joined(this.merged(part))));
  }

  // --- SentencePiece's normaliser: { text, start, end } of what stands for some characters

  // The longest match at each place.
  replaced(text) {
    const letters = [...text], bytes = new TextEncoder().encode(text), found = [];
    for (let at = 0, byte = 0; at < letters.length;) {
      const match = this.map?.matches(bytes, byte).at(-1), start = at, next = byte + (match?.length ?? 1);
      do byte += bytesOf(letters[at++]); while (byte < next);
      found.push({ text: match ? match.text : letters[start], start, end: at });
    }
    return found;
  }

  // Without spaces at the edges, a run of them as one, and one in front.
  spaced(found) {
    const { collapses, prefix } = this.spaces, first = collapses ? found.findIndex(({ text }) => text !== " ") : 0;
    const characters = [];
    let isAfterSpace = collapses;
    for (const { text, start, end } of first < 0 ? [] : found.slice(first)) {
      if (prefix && !characters.length) characters.push({ text: SPACE, start, end: start });
      for (const one of isAfterSpace ? text.replace(/^ +/, "") : text) {
        characters.push({ text: one === " " ? SPACE : one, start, end });
        isAfterSpace = collapses && one === " ";
      }
    }
    while (collapses && characters.at(-1)?.text === SPACE) characters.pop();
    return characters;
  }

  // --- that of a tokenizer.json: the shortest match for each grapheme of fewer than six bytes, or for each character

  normalised(text) {
    const found = [], put = (own, start, end) => { for (const one of own) found.push({ text: one, start, end }); };
    const first = (own) => this.map?.matches(new TextEncoder().encode(own), 0)[0]?.text;
    let at = 0;
    for (const { segment } of cutter.segment(text)) {
      const letters = [...segment], whole = bytesOf(segment) < 6 ? first(segment) : undefined;
      if (whole !== undefined) put(whole, at, at + letters.length);
      else letters.forEach((one, i) => put(first(one) ?? one, at + i, at + i + 1));
      at += letters.length;
    }
    return found;
  }

  // Words, each with a space in front.
  words(characters) {
    const words = [[]], isRun = (i) => this.spaces === "runs" && i && characters[i].text === " " && characters[i - 1].text === " ";
    characters.forEach((one, i) => {
      if (this.spaces === "words" && /\p{White_Space}/u.test(one.text)) words.push([]);
      else if (!isRun(i)) words.at(-1).push(one.text === " " ? { ...one, text: SPACE } : one);
    });
    return words.filter((word) => word.length).flatMap((word) => cutBeforeSpaces(word[0].text === SPACE ? word
      : [{ ...word[0], text: SPACE, end: word[0].start }, ...word]));
  }

  // --- the models, on characters

  // The tokens with the highest sum of scores (Viterbi 1967); of equal ones the first found.
  likeliest(characters) {
    const best = [{ score: 0 }], { round, scores } = this;
    for (let start = 0; start < characters.length; start++) {
      const last = Math.min(start + this.longest, characters.length), { score } = best[start];
      const offer = (end, token, isKnown, more) => {
        const sum = round(score + more);
        if (!best[end] || sum > best[end].score) best[end] = { score: sum, begin: start, token, isKnown };
      };
      for (let token = "", end = start + 1; end <= last; end++) {
        token += characters[end - 1].text;
        if (scores.has(token)) offer(end, token, token !== this.unknownToken, round(scores.get(token)));
        else if (end === start + 1) offer(end, token, false, this.unknown);
      }
    }
    const found = [];
    for (let end = characters.length; end > 0; end = best[end].begin) {
      const { begin, token, isKnown } = best[end];
      found.unshift({ token, isKnown, start: characters[begin].start, end: characters[end - 1].end });
    }
    return found;
  }

  // Joins the best neighbours first (Sennrich et al. 2016), of equal ones the leftmost, until none are left.
  merged(characters) {
    const found = characters.map(({ text: token, start, end }) => ({ token, start, end, isKnown: this.scores.has(token) }));
    const rankOf = (left, right) => this.ranks ? this.ranks.get(`${left} ${right}`) : this.scores.get(left + right);
    for (;;) {
      let best = -Infinity, at = -1;
      for (let i = 0; i + 1 < found.length; i++) {
        const rank = rankOf(found[i].token, found[i + 1].token);
        if (rank > best) [best, at] = [rank, i];
      }
      if (at < 0) return found;
      const [{ token: left, start }, { token: right, end }] = found.slice(at, at + 2);
      found.splice(at, 2, { token: left + right, start, end, isKnown: true });
    }
  }
}

// Unknown neighbours are one token.
function joined(found) {
  const all = [];
  for (const one of found) {
    const last = all.at(-1);
    if (last && !last.isKnown && !one.isKnown) Object.assign(last, { token: last.token + one.token, end: one.end });
    else all.push({ ...one });
  }
  return all;
}

function cutBeforeSpaces(characters) {
  const parts = [];
  for (const one of characters) {
    if (one.text === SPACE || !parts.length) parts.push([one]); else parts.at(-1).push(one);
  }
  return parts;
}

// Each byte as a printable character, as GPT-2 has them: itself, or one from 256 on.
const BYTES = new Map();
for (let byte = 0, next = 256; byte < 256; byte++)
  BYTES.set(String.fromCodePoint(/[!-~¡-¬®-ÿ]/.test(String.fromCodePoint(byte)) ? byte : next++), byte);
const LETTERS = [...BYTES.keys()];  // by byte

// Words of such bytes, each with the place of its character.
function bytewise(text) {
  let at = 0;
  return [...text.matchAll(BYTE_WORDS)].map(([word]) => [...word].flatMap((character) => {
    const start = at++;
    return Array.from(new TextEncoder().encode(character), (byte) => ({ text: LETTERS[byte], start, end: at }));
  }));
}

const bytesOf = (text) => {
  let size = 0;
  for (const one of text) size += one < "\x80" ? 1 : one < "\u0800" ? 2 : one.length > 1 ? 4 : 3;
  return size;
};

// What stands for some characters: a double-array trie (Aoe 1989) over their bytes, as SentencePiece compiles it.
class CharacterMap {
  constructor(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)), [size] = new Uint32Array(bytes.buffer, 0, 1);
    Object.assign(this, { units: new Uint32Array(bytes.buffer, 4, size / 4), texts: bytes.subarray(4 + size) });
  }

  // What it has for the first of these bytes, the shortest match first: { length, text }.
  matches(bytes, from) {
    const { units } = this, offset = (unit) => unit >>> 10 << ((unit & 1 << 9) >>> 6), found = [];
    for (let at = from, place = offset(units[0]); at < bytes.length; at++) {
      place ^= bytes[at];
      const unit = units[place];
      if ((unit & 0x800000ff) !== bytes[at]) break;
      place ^= offset(unit);
      if (unit >>> 8 & 1) found.push({ length: at + 1 - from, text: this.textAt(units[place] & 0x7fffffff) });
    }
    return found;
  }

  textAt(start) { return new TextDecoder().decode(this.texts.subarray(start, this.texts.indexOf(0, start))); }
}
