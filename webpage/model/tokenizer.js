// Text to tokens and back, from the tokenizer.json of a Seq2See model: byte-pair encoding (Sennrich et al. 2016), or
// Unigram (Kudo 2018) with a mark for capital letters (tokenizer/unigram.py); both with a fallback to bytes.  The ids are
// those of the Python library `tokenizers`; special tokens that a text spells are text.
//
//     const tokenizer = new Tokenizer(json)                  tokenizer.json, parsed
//     const { ids, offsets } = tokenizer.encode(text)        with </s>; offsets [start, end] count code points, as in
//                                                            Python, and </s> has [0, 0]
//     tokenizer.encodeTarget(text), bare(text)            the ids of a translation, with </s>; of a text alone
//     tokenizer.places(ids, text)                         the characters [start, end] of each token, or null
//     tokenizer.decode(ids)                                  the text, without tags and special tokens
//     tokenizer.label(id)                                    the token as it is shown: ▁été; see lens/show/wording.py
//     tokenizer.tags                                         { fr: 4 }: the tag that a translation begins with

const BYTE = /^<0x([0-9A-F]{2})>$/, SPACE = "\\p{White_Space}", NO_SPACE = "\\P{White_Space}";
const UNKNOWN = 10;  // what a character that no token has is below the lowest score
const LONG_S = "ſ";  // s in another case, beside its capital

export class Tokenizer {
  constructor({ model, added_tokens: added, normalizer, pre_tokenizer: cut, post_processor: ending, decoder }) {
    const isUnigram = model.type === "Unigram", [first, ...marking] = normalizer?.normalizers ?? [normalizer];
    const known = (isUnigram || model.type === "BPE") && model.byte_fallback && first?.type === "Prepend"
      && cut?.type === "Split" && cut.behavior === "Isolated" && cut.pattern.Regex;
    if (!known) throw new Error("this tokenizer.json is not of a Seq2See model");
    this.prepended = first.prepend;
    this.pattern = new RegExp(inJavaScript(cut.pattern.Regex), "gu");
    this.marking = marking.map(replacement);
    this.unmarking = decoder.decoders.filter(({ type }) => type === "Replace").map(replacement);
    this.mark = isUnigram ? this.unmarking.find(({ content }) => !content).text : null;
    this.escape = isUnigram ? this.unmarking.at(-1).content : null;  // with a digit after it, it is one character
    this.vocabulary = new Map(isUnigram ? model.vocab.map(([token], id) => [token, id]) : Object.entries(model.vocab));
    for (const { content, id } of added) this.vocabulary.set(content, id);
    if (isUnigram) {
      this.scores = model.vocab.map(([, score]) => score);
      this.unknown = Math.min(...this.scores) - UNKNOWN;
      this.longest = Math.max(...model.vocab.map(([token]) => [...token].length));
    }
    this.tokens = [];
    for (const [token, id] of this.vocabulary) this.tokens[id] = token;
    this.special = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.merges = new Map((model.merges ?? []).map(([left, right], rank) =>
      [this.pair(this.vocabulary.get(left), this.vocabulary.get(right)), [rank, this.vocabulary.get(left + right)]]));
    this.end = ending.single.at(-1).SpecialToken.id;
    this.tags = Object.fromEntries(added.flatMap(({ content, id }) => {
      const [, language] = /^<2([\w-]+)>$/.exec(content) ?? [];
      return language ? [[language, id]] : [];
    }));
  }

  pair(left, right) { return left * this.tokens.length + right; }

  encode(text) {
    const ids = [], offsets = [];
    if (text) {
      const { letters, places } = this.marked([...this.prepended, ...wellFormed(text)]);
      for (const { id, start, end } of this.pieces(letters.join(""))) {
        ids.push(id);
        const shift = this.prepended.length;  // what is prepended has the offset of the first character
        offsets.push([Math.max(0, places[start] - shift), Math.max(1, places[end - 1] + 1 - shift)]);
      }
    }
    return { ids: [...ids, this.vocabulary.get(this.end)], offsets: [...offsets, [0, 0]] };
  }

  encodeTarget(text) { return this.encode(text).ids; }
  bare(text) { return this.encode(text).ids.slice(0, -1); }

  // The characters with marks for capital letters, each with the place of the one that it comes from.
  marked(letters) {
    let places = letters.map((_, i) => i);
    for (const { pattern, content } of this.marking) {
      const text = letters.join("");
      if (text.search(pattern) < 0) continue;
      const found = [], from = [];
      let at = 0, index = 0;  // characters and UTF-16 units
      for (const match of text.matchAll(pattern)) {
        const start = at + Array.from(text.slice(index, match.index)).length, end = start + [...match[0]].length;
        found.push(...letters.slice(at, start), ...content);
        from.push(...places.slice(at, start), ...Array.from(content, () => places[end - 1]));
        [at, index] = [end, match.index + match[0].length];
      }
      [letters, places] = [[...found, ...letters.slice(at)], [...from, ...places.slice(at)]];
    }
    return { letters, places };
  }

  // The tokens of a text: { id, start, end } in code points.
  *pieces(text) {
    let place = 0;
    for (const piece of this.cut(text)) {
      const characters = [...piece];
      const found = this.scores ? this.likeliest(characters) : this.merged(this.symbols(characters));
      for (const { id, start, end } of found)
        yield { id, start: place + start, end: place + end };
      place += characters.length;
    }
  }

  // A text cut at its words, across which no token goes; what the pattern does not match stays together.
  cut(text) {
    let at = 0;
    const pieces = [...text.matchAll(this.pattern)].flatMap(({ 0: found, index }) => {
      const before = text.slice(at, index);
      at = index + found.length;
      return [before, found];
    });
    return [...pieces, text.slice(at)].filter(Boolean);
  }

  // Each character as its token or, if it has none, as tokens of its bytes.
  symbols(characters) {
    return characters.flatMap((character, start) => {
      const id = this.vocabulary.get(character), end = start + 1;
      if (id !== undefined) return [{ id, start, end }];
      const spelt = Array.from(new TextEncoder().encode(character), byteName);
      return spelt.map((name) => ({ id: this.vocabulary.get(name), start, end }));
    });
  }

  // The tokens with the highest sum of scores (Viterbi 1967); of equal ones the first found.
  likeliest(characters) {
    const best = [{ score: 0 }];
    for (let start = 0; start < characters.length; start++) {
      const { score } = best[start], last = Math.min(start + this.longest, characters.length);
      const offer = (end, id, more) => {
        if (!best[end] || score + more > best[end].score) best[end] = { score: score + more, start, id };
      };
      for (let token = "", end = start + 1; end <= last; end++) {
        token += characters[end - 1];
        const id = this.vocabulary.get(token);
        if (id !== undefined) offer(end, id, this.scores[id]);
        else if (end === start + 1) offer(end, null, this.unknown);
      }
    }
    const found = [];
    for (let end = characters.length; end > 0; end = best[end].start) found.unshift({ end, ...best[end] });
    return found.flatMap(({ id, start, end }) => id === null
      ? this.symbols(characters.slice(start, end)).map((one) => ({ ...one, start, end })) : [{ id, start, end }]);
  }

  // Joins the neighbours that were joined first in training, leftmost first, until none are left.
  merged(symbols) {
    for (;;) {
      let best = null, at = -1;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const found = this.merges.get(this.pair(symbols[i].id, symbols[i + 1].id));
        if (found && (!best || found[0] < best[0])) [best, at] = [found, i];
      }
      if (!best) return symbols;
      symbols.splice(at, 2, { id: best[1], start: symbols[at].start, end: symbols[at + 1].end });
    }
  }

  // Bytes that spell no character are shown as �, one each.
  decode(ids) {
    let text = "", bytes = [];
    const spelt = () => {
      if (bytes.length) text += decoded(bytes) ?? "\ufffd".repeat(bytes.length);
      bytes = [];
    };
    for (const id of ids) {
      if (this.special.has(id)) continue;
      const [, byte] = BYTE.exec(this.tokens[id]) ?? [];
      if (byte) { bytes.push(parseInt(byte, 16)); continue; }
      spelt();
      text += this.tokens[id];
    }
    spelt();
    for (const { pattern, content } of this.unmarking) text = text.replaceAll(pattern, () => content);
    return text.startsWith(this.prepended) ? text.slice(this.prepended.length) : text;
  }

  // The characters [start, end] of each token, null for a special one; the space before the first is not part of the text.
  places(ids) {
    const plain = ids.filter((id) => !this.special.has(id)), first = plain.find((id) => this.tokens[id] !== this.mark);
    let place = this.tokens[first]?.startsWith(this.prepended) ? -[...this.prepended].length : 0;  // a mark is none
    const found = new Map();
    for (let k = 0; k < ids.length;) {
      const name = this.tokens[ids[k]];
      if (this.special.has(ids[k])) { k += 1; continue; }
      const run = [];
      while (k < ids.length && BYTE.test(this.tokens[ids[k]])) run.push(parseInt(this.tokens[ids[k++]].slice(3, 5), 16));
      if (run.length) {
        place = placeBytes(run, (i, start, end) => found.set(k - run.length + i, [start, end]), place);
        if (this.escape && this.decode(ids.slice(0, k)).endsWith(this.escape)) place -= 1;  // and a digit
        continue;
      }
      const length = name === this.mark ? 0 : [...name].length;
      found.set(k, [Math.max(0, place), Math.max(0, place += length)]);
      k += 1;
    }
    return ids.map((_, k) => found.get(k) ?? null);
  }

  label(id) { return printable(this.tokens[id] ?? `<${id}>`).replaceAll(" ", "▁"); }
}

// What a step of the normaliser or the decoder replaces.
function replacement({ pattern: { String: text, Regex: regex }, content }) {
  return { pattern: new RegExp(regex ? inJavaScript(regex) : text, "gu"), text, content };
}

const byteName = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
export const wellFormed = (text) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));

function decoded(bytes) {
  try { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes)); }
  catch { return null; }
}

// Bytes that spell no text are shown as one � each.
function placeBytes(bytes, put, place) {
  const text = new TextDecoder().decode(Uint8Array.from(bytes)), encoder = new TextEncoder();
  const sizes = text.includes("\ufffd") ? bytes.map(() => 1) : [...text].map((one) => encoder.encode(one).length);
  let i = 0;
  for (const size of sizes) {
    for (const last = i + size; i < last; i++) put(i, place, place + 1);
    place += 1;
  }
  return place;
}

// With escapes for what could move a cursor or turn a line round, as Python writes them.
export function printable(text) {
  return text.replace(/[\p{C}\p{Z}]/gu, (character) => {
    if (character === " ") return character;
    const code = character.codePointAt(0), short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
    const hex = (letter, digits) => `\\${letter}${code.toString(16).padStart(digits, "0")}`;
    return short ?? (code < 256 ? hex("x", 2) : code < 65_536 ? hex("u", 4) : hex("U", 8));
  });
}

// A pattern of Oniguruma in JavaScript: its white space is Unicode's, and groups (?i:...) name both cases, because not
// all browsers know them.
function inJavaScript(pattern) {
  let found = "", inClass = false;
  const open = [];  // of each group that is open, whether it ignores case
  for (const [part] of pattern.matchAll(/\(\?i:|\(\?<?[=!:]|\\p\{\w+\}|\\.|[^]/gu)) {
    if (part === "\\s" || part === "\\S") found += part === "\\s" ? SPACE : NO_SPACE;
    else if (inClass || !part.startsWith("(") && part !== ")") {
      inClass = part === "[" || inClass && part !== "]";
      found += open.includes(true) && /^\p{L}$/u.test(part) ? cases(part, inClass) : part;
    } else {
      if (part === ")") open.pop(); else open.push(part === "(?i:");
      found += part === "(?i:" ? "(?:" : part;
    }
  }
  return found;
}

function cases(letter, inClass) {
  const small = letter.toLowerCase(), all = small + letter.toUpperCase() + (small === "s" ? LONG_S : "");
  return inClass ? all : `[${all}]`;
}
