// A trace as `/v1/look` sends it: its words, its maps, and the evidence for each word.  Draws nothing.

import { VIEWS } from "../data.js";
import { isRightToLeft, language } from "./languages.js";
import { MOST, matters } from "./effects.js";

export const KINDS = ["cross", "decoder", "encoder"];
export const OFFERED = ["raw", "norm", "rollout", "contributions", "left_out", "input_x_gradient",
  "integrated_gradients", "gradient_x_activation", "occlusion", "value_zeroing"];
export const hasHeads = (view) => VIEWS[view].heads;
export const isAttribution = (view) => VIEWS[view].attribution;  // in nats, of tokens; the encoder has no map of it
export const nameOf = ({ kind, layer, head }) => `${kind}.${layer}.${head}`;
export const same = (a, b) => nameOf(a) === nameOf(b);
export function headOf(name) {
  const [kind, layer, head] = name.split(".");
  return { kind, layer: +layer, head: +head };
}
// Chances beyond these are shown as “over 99%” and “under 0.1%”, and a change beyond them does not matter.
export const LEAST = 0.001;
export const ENDS = "the translation ends";  // what is written in place of a word, where that is `</s>`
export const CERTAIN = 0.995;
// Tags of languages: ours and MADLAD's, Marian's, M2M-100's, and those of NLLB and mBART.
export const TAG = /^(?:<2([\w-]+)>|>>(\S+)<<|__([a-z]{2,3})__|([a-z]{2,3}_(?:[A-Z][a-z]{3}|[A-Z]{2})))$/;
const LONG = 4;  // letters of a word that may be missing: most shorter ones have no translation of their own
const PRONOUN = { fr: /^(il|elle|ils|elles)$/i, de: /^(er|sie|es)$/i, es: /^(él|ella|ellos|ellas)$/i };

function numbers({ shape, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const values = new Float32Array(bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const bits = bytes[2 * i] | bytes[2 * i + 1] << 8, power = bits >> 10 & 31, rest = bits & 1023;
    const size = power ? (1 + rest / 1024) * 2 ** (power - 15) : rest * 2 ** -24;
    values[i] = bits >> 15 ? -size : size;
  }
  return { shape, values };
}

export class Trace {
  constructor(record, measured) {
    Object.assign(this, { record, measured: measured || { roles: [], apart: null }, maps: {}, known: new Map() });
    const { source_text: read, target_text: wrote, texts = { source: read, target: wrote } } = record;
    Object.assign(this, texts);  // the model may have read and written stand-ins
    this.languages = [record.source_language, record.target_language];
    for (const kind of KINDS) this.take(kind, record.maps[kind]);
    this.sizes = Object.fromEntries(KINDS.map((kind) => [kind, this.maps[kind].raw.shape]));  // [layers, heads, ...]
    this.shown = record.calibrated || record;
    this.evidence = record.evidence || null;
  }

  take(kind, views) {
    this.maps[kind] ||= {};
    for (const [view, map] of Object.entries(views || {})) this.maps[kind][view] = numbers(map);
  }

  // Adds more of the same trace from a later answer.
  add(record) {
    for (const kind of KINDS) this.take(kind, record.maps[kind]);
    this.evidence = record.evidence || this.evidence;
    this.known.clear();
  }

  holds(view) { return Boolean(this.maps.cross[view]); }
  get heads() { return KINDS.flatMap((kind) => this.layers(kind).flat()); }
  // The heads of a kind: one list a layer.
  layers(kind) {
    const [layers, heads] = this.sizes[kind];
    const layerAt = (_, layer) => Array.from({ length: heads }, (_, head) => ({ kind, layer, head }));
    return Array.from({ length: layers }, layerAt);
  }
  // The languages of the rows and columns of a kind.
  codes(kind) {
    const [source, target] = this.languages;
    return [kind === "encoder" ? source : target, kind === "decoder" ? target : source];
  }

  once(key, make) {
    if (!this.known.has(key)) this.known.set(key, make());
    return this.known.get(key);
  }

  // --- words and tokens

  // Python counts code points, JavaScript UTF-16 units: the JavaScript position of code point n.
  codeUnit(side, n) {
    const text = side === "source" ? this.source : this.target;
    const add = (all, letter) => [...all, all.at(-1) + letter.length];
    return this.once(`places ${side}`, () => [...text].reduce(add, [0]))[n];
  }

  units(side, unit) {
    const { [side]: tokens, labels, words } = this.record;
    const token = (one, i) => ({ ...one, text: labels[side][i], label: labels[side][i], pieces: [i] });
    const word = (one, i) => ({ ...one, start: this.codeUnit(side, one.start), end: this.codeUnit(side, one.end),
      label: this.label(one, side, i) });
    return this.once(`${side} ${unit}`, () => unit === "tokens" ? tokens.map(token) : words[side].map(word));
  }

  label({ text, special }, side, i) {
    if (!special) return text.trim() ? text : text.replace(/\s/g, "▁") || "·";  // spaces alone, or more of a stand-in
    const tag = TAG.exec(text), code = tag && (tag[1] || tag[2] || tag[3] || tag[4]);
    if (code) return side === "source" && (tag[3] || tag[4]) ? `from ${language(code)}` : `to ${language(code)}`;
    if (side === "source" && !/^<.*>$/.test(text)) return text;  // of a task prefix
    return side === "inputs" && i === 0 ? "start" : "end";
  }

  // A token of the vocabulary as the page names it: a language tag in words.
  named(token) {
    const text = bare(token) || "▁".slice(0, token.length);
    return TAG.test(text) ? this.label({ text, special: true }, "target", 0) : text;
  }

  rows(kind, unit, rows = "predicts") {
    const side = kind === "encoder" ? "source" : rows === "reads" ? "inputs" : "target";
    return this.units(side, unit).filter((one) => unit === "tokens" || !(side === "target" && this.isTag(one)));
  }
  columns(kind, unit, view) {
    const all = this.units(kind === "decoder" ? "inputs" : "source", unit);
    return view === "left_out" ? all.filter((one) => one.word !== null) : all;
  }
  isTag(unit) { return unit.special && unit.pieces[0] < this.record.given; }
  words(side) { return this.units(side, "words").filter((one) => one.word !== null); }
  unitAt(side, piece, unit = "words") { return this.units(side, unit).find((one) => one.pieces.includes(piece)); }
  // The first column of a map that belongs to the word of a token; -1 if there is none.
  columnOf(map, side, piece) {
    const word = this.unitAt(side, piece)?.word;
    return map.columns.findIndex((one) => one.word !== null && one.word === word);
  }
  get written() { return this.rows("cross", "words"); }

  // --- maps

  // { rows, columns, at: [row][column], most, mirrored }; null where a step cannot look.
  map(head, { view = "raw", unit = "words", rows = "predicts", rowUnit = unit } = {}) {
    return this.once([nameOf(head), view, unit, rows, rowUnit].join(), () =>
      this.made(head, view, unit, rows, rowUnit));
  }
  made({ kind, layer, head }, view, unit, meaning, rowUnit) {
    const rows = this.rows(kind, rowUnit, meaning), columns = this.columns(kind, unit, view);
    const { shape, values } = this.maps[kind][view], [C, R] = [shape.at(-1), shape.at(-2)];
    const first = shape.length === 2 ? 0 : (hasHeads(view) ? layer * shape[1] + head : shape[0] - 1) * R * C;
    const at = rows.map((row) => columns.map((column) => {
      if (kind === "decoder" && column.pieces[0] > row.pieces.at(-1)) return null;
      let sum = 0;
      const own = view === "left_out" ? [column.word] : column.pieces;
      for (const r of row.pieces) for (const c of own) sum += values[first + r * C + c];
      return view === "left_out" || isAttribution(view) ? sum : sum / row.pieces.length;
    }));
    const sizes = at.flat().map((value) => Math.abs(value || 0));
    const highest = sizes.reduce((a, b) => Math.max(a, b), 1e-6);  // as arguments, they would be too many
    const most = view === "raw" ? 1 : highest;
    return { rows, columns, at, most, highest, mirrored: isRightToLeft(this.codes(kind)[1]) };
  }

  // The columns with the largest shares of a row: [[column, share], ...].
  top(head, piece, count = 3, choice = {}) {
    const map = this.map(head, choice), row = map.rows.findIndex((one) => one.pieces.includes(piece));
    if (row < 0) return [];
    const order = map.at[row].map((value, i) => [i, value]).filter(([, value]) => value !== null);
    return order.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, count)
      .map(([i, value]) => [map.columns[i], value]);
  }
  // The largest of these shares, 0 without a row.
  share(head, piece) { return this.top(head, piece, 1)[0]?.[1] || 0; }

  // --- chances and evidence

  get effectsKnown() { return Boolean(this.evidence?.heads.length); }

  // The chance of a written word: the product over its tokens.
  chance(unit, shown = this.shown) { return Math.exp(unit.pieces.reduce((sum, i) => sum + shown.log_probs[i], 0)); }
  isPronoun(piece) { return PRONOUN[this.languages[1]]?.test(this.unitAt("target", piece)?.text || "") || false; }
  // Whether the head of pronouns found what this word stands for; in a file, which does not say, any pronoun.
  isTreated(piece) {
    const { antecedent } = this.record;
    return antecedent === undefined ? this.isPronoun(piece) : antecedent?.written === this.unitAt("target", piece)?.word;
  }
  // The word chosen first: a pronoun, or the word the model was least sure of.
  get first() {
    const words = this.words("target"), named = words.filter((one) => /[\p{L}\p{N}]/u.test(one.text));
    const pick = words.find((one) => this.isPronoun(one.pieces[0]))
      || [...(named.length ? named : words)].sort((a, b) => this.chance(a) - this.chance(b))[0] || this.written[0];
    return pick.pieces[0];
  }

  // What an intervention does to a written word: its chance then and by how much that is less, the step at which its
  // log-odds change most, and the word written instead, if another.
  after(effect, piece) {
    const at = this.units("target", "words").findIndex((one) => one.pieces.includes(piece));
    const [before, after] = [this.evidence, effect].map((one) => chanceOf(one.log_odds[at]));
    const instead = effect.instead?.[at] || null;
    return { chance: after, fall: before - after,
      step: effect.steps?.[at] ?? piece, instead: instead && (instead === "</s>" ? ENDS : bare(instead)) };
  }
  effect(head, piece) {
    const found = this.evidence?.heads.find((one) => nameOf(one) === nameOf(head));
    return found ? this.after(found, piece) : null;
  }
  // Every head with its effect on a word, or every source word with that of erasing it; the strongest effect first.
  effects(piece) {
    const found = this.evidence?.heads.map((one) => ({ ...headOf(nameOf(one)), ...this.after(one, piece) }));
    return (found || []).sort(byEffect);
  }
  erased(piece) {
    return this.words("source").map((one) => ({ word: one, ...this.after(this.evidence.erased[one.word], piece) }))
      .sort(byEffect);
  }
  // The source words that may be missing from the translation, by the rule of translate/checking.py.
  get omitted() { return this.once("omitted", () => this.evidence ? this.findOmitted() : []); }
  findOmitted() {
    const { given = 0, source_text: text } = this.record, units = this.units("target", "words");
    const chosen = [...units.keys()].filter((i) => units[i].pieces[0] >= given);
    const sure = (effect) => chosen.reduce((sum, i) => sum + Math.log(chanceOf(effect.log_odds[i])), 0);
    const lower = (text) => text.toLocaleLowerCase(), read = lower(text);
    const written = new Set(this.words("target").map(({ text }) => lower(text)));
    const words = this.words("source").filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
    return words.length < 2 ? [] : words.filter(({ text, word }) => (text.match(/\p{L}/gu) || []).length >= LONG
      && read.includes(lower(text)) && !written.has(lower(text)) && sure(this.evidence.erased[word]) >= sure(this.evidence));
  }
  // How much of a written word came from the source; undefined in evidence of before it was measured.
  sourceShare(piece) {
    return this.evidence?.source_share?.[this.units("target", "words").findIndex((one) => one.pieces.includes(piece))];
  }
  // The heads that matter for a word; empty if none matters alone.
  mattering(piece) { return this.once(`matter ${piece}`, () => this.effects(piece).filter(matters).slice(0, MOST)); }

  // The source word of a step’s word, by the links fitted to the model; null without them.
  counterpart(piece) {
    const target = this.unitAt("target", piece)?.word, links = this.evidence?.links || [];
    const [link] = links.filter((one) => one[1] === target).sort((a, b) => b[2] - a[2]);
    return link ? this.words("source")[link[0]] : null;
  }

  // --- roles

  // The role that names a head: its purpose, if that was shown, else where it looks.
  role(head) {
    return this.once(`role ${nameOf(head)}`, () => this.mainRole(nameOf(head)));
  }
  mainRole(head) {
    const all = this.measured.roles.filter((one) => nameOf(one) === head), above = (one) => one.score - one.baseline;
    return all.find((one) => one.role === "antecedent") || all.find((one) => one.role === "alignment")
      || [...all].sort((a, b) => above(b) - above(a))[0] || null;
  }
  // Its colour on a row: the role's, but only on rows of the kind it was measured on.
  tone(head, piece) {
    const role = this.role(head)?.role;
    if (role === "antecedent") return this.isTreated(piece) ? "green" : "slate";
    if (role === "alignment") return this.unitAt("target", piece)?.word != null ? "blue" : "slate";
    return "slate";
  }
  // The head that goes from this word to the source word it translates; of several, the one that looks hardest.
  wordForWord(piece) {
    return this.hardest(piece).find((one) => this.role(one)?.role === "alignment" && this.tone(one, piece) === "blue");
  }
  // The heads of cross-attention, first the one that looks hardest from this word.
  hardest(piece) {
    return this.once(`hardest ${piece}`, () =>
      this.layers("cross").flat().sort((a, b) => this.share(b, piece) - this.share(a, piece)));
  }
  // The head shown where none matters alone.
  usual(piece) { return this.wordForWord(piece) ?? this.hardest(piece)[0]; }
  // The head shown before it is known which of them matter: one whose role fits the word; undefined without roles.
  likely(piece) {
    return this.heads.find((one) => this.tone(one, piece) === "green") ?? this.wordForWord(piece);
  }
  // The head to show for a word, by the evidence; null until it is known.
  best(piece) { return this.effectsKnown ? this.mattering(piece)[0] ?? this.usual(piece) : null; }
}

const chanceOf = (logOdds) => 1 / (1 + Math.exp(-logOdds));
// Another word first, then what lowers a chance, then what raises it.
const byEffect = (a, b) => (b.instead !== null) - (a.instead !== null) || b.fall - a.fall;

export const bare = (token) => token.replace(/^[▁Ġ\s]+|[\s]+$/g, "").replace(/^<\/s>$/, "end");
