// The sentences of the page: about a row, a column, a cell, a head; and how numbers are written.

import { inLanguage, language, withArticle } from "./languages.js";
import { html, listed } from "./markup.js";
import { CERTAIN, ENDS, LEAST, hasHeads, isAttribution } from "./trace.js";

export const percent = (value) => `${Math.round(100 * value)}%`;
export const count = new Intl.NumberFormat("en-GB").format;
export const duration = (seconds) => seconds < 90 ? `${Math.ceil(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`;
export const nats = (value) => value.toFixed(1).replace("-", "−");

// A value of a view, as in a cell; and with its unit.
export const number = (view, value) => view === "left_out" ? plainNumber(Math.exp(value))
  : view === "norm" || isAttribution(view) ? value.toFixed(1).replace("-", "−") : Math.round(100 * value);
export const amount = (view, value) => `${number(view, value)}${
  isAttribution(view) ? " nats" : { left_out: "×", norm: "" }[view] ?? "%"}`;

// A probability, always in percent.  Its ends are said only where they were measured of the model shown: [under 0.1%,
// over 99%].
let measured = [true, true];
export const sayEnds = (ends = [true, true]) => { measured = ends; };
export function chance(p) {
  if (p >= CERTAIN) return measured[1] ? "over 99%" : "99%";
  if (p < LEAST) return measured[0] ? "under 0.1%" : "0.1%";
  return p >= 0.0995 ? percent(p) : `${(100 * p).toFixed(1)}%`;
}
const plainNumber = (n) => n >= 950 ? `${count(Math.round(n / 1000))}k`
  : n >= 9.5 ? String(+n.toPrecision(2)) : n.toFixed(1);
export const oneIn = (p) => p >= 0.0995 ? "" : ` (1 in ${count(+(1 / Math.max(p, 1e-9)).toPrecision(2))})`;
const ratio = (nats) => {
  const times = Math.exp(Math.abs(nats));
  return times >= 10 ? count(+times.toPrecision(2)) : times.toFixed(1);
};
export const times = (fall) => Math.abs(fall) < 0.14 ? html`just as likely`
  : html`<b>${ratio(fall)}×</b> ${fall > 0 ? "less" : "more"} likely`;
const lower = (fall) => Math.abs(fall) < 0.14 ? html`about the same`
  : html`<b>${ratio(fall)}×</b> ${fall > 0 ? "lower" : "higher"}`;

// --- languages, kinds of attention

export function direction(kind, [source, target]) {
  const from = language(source, "Source"), to = language(target, "Translation");
  return { cross: `${to} looks at ${from}`, decoder: `${to} looks back at ${to}`,
    encoder: `${from} looks at ${from}` }[kind];
}
// A short form for use before a number: the language a head looks at.
export const lookedAt = (kind, [source, target]) => kind === "decoder" ? `back at ${language(target, "itself")}`
  : `${kind === "encoder" ? "within" : "at"} ${language(source, "the source")}`;
export const TECHNICAL = { cross: "cross-attention", decoder: "decoder self-attention",
  encoder: "encoder self-attention" };
export const placeOf = ({ layer, head }) => `layer ${layer + 1}, head ${head + 1}`;
export const headName = (head, { languages }) => `${direction(head.kind, languages)}, ${placeOf(head)}`;

// --- roles: name, caption under a thumbnail, and where the attention goes

const ROLES = {
  alignment: ["word for word", "word for word", "goes from a word to the source word it translates"],
  antecedent: ["finds what “it” means", "what “it” means", "goes from the pronoun to the noun it stands for"],
  "alignment, read": ["word just read", "word just read",
    "goes to the source word that the previous target word translates"],
  diagonal: ["same position", "same position", "goes to the same position in the source, or next to it"],
  "same word": ["same word again", "same word", "goes to other occurrences of the same word"],
  end: ["end of sentence", "sentence end", "rests on the end mark, where heads look when they have nothing to do"],
  punctuation: ["punctuation", "punctuation", "goes to punctuation"],
  previous: ["previous word", "word before", "goes to the word before"],
  next: ["next word", "word after", "goes to the word after"],
  same: ["the word itself", "word itself", "goes to the word itself"],
  first: ["first word", "first word", "goes to the first position"],
  state: ["finds the predicate", "predicate", "goes from the pronoun to its predicate"],
  action: ["finds the verb", "the verb", "goes from the pronoun to the verb before it"],
  "adjective to noun": ["adjective to noun", "its noun", "goes from an adjective to its noun"],
  "noun to adjective": ["noun to adjective", "its adjective", "goes from a noun to its adjective"],
};
const known = (role) => ROLES[role] || [role, role, `goes to: ${role}`];
// A supervised head did not find its role by itself.
export const roleName = ({ role, supervised }) => `${known(role)[0]}${supervised ? " (supervised)" : ""}`;
export const roleCaption = ({ role, supervised }) => `${supervised ? "supervised: " : ""}${known(role)[1]}`;
export const NO_ROLE = "No clear role was measured.";
export const SUPERVISED = " This head was trained on gold word links.";
export const roleTip = (role) => html`<b>${capital(roleName(role))}.</b> ${percent(role.score)} of its attention
  ${known(role.role)[2]} (95% interval ${percent(role.low)} to ${percent(role.high)}). The best simple baseline reaches
  ${percent(role.baseline)}.${role.supervised ? SUPERVISED : ""} Measured on sentences the model never saw.`;
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// --- sentences

// A quoted word: `mark` is "looks" or "seen".  A long one is shortened in the middle, never inside a grapheme.
const word = (text, mark, code) =>
  html`<span class="ww ${mark}" ${inLanguage(code)}>${elided(text)}</span>`;
export const quoted = (text, code) => /[\p{L}\p{N}]/u.test(text) ? html`<i ${inLanguage(code)}>${elided(text)}</i>`
  : html`“${elided(text)}”`;
export const nth = (n) => `${n}${["st", "nd", "rd"][n - 1] || "th"}`;
const cutter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
export function elided(text, most = 22) {
  if (text.length <= most) return text;
  const all = [...cutter.segment(text)].map((one) => one.segment);
  return all.length <= most ? text : [...all.slice(0, most - 8), "…", ...all.slice(-6)].join("");
}

// What the map says about a row or one of its cells.
export function rowSentence(trace, { head, view, unit, rows }, { piece, column }) {
  const map = trace.map(head, { view, unit, rows });
  const row = map.rows.find((one) => one.pieces.includes(piece)) || map.rows[0], at = map.at[map.rows.indexOf(row)];
  const [rowCode, columnCode] = trace.codes(head.kind);
  const looks = word(row.label, "looks", rowCode);
  const isOwn = (one) => head.kind === "decoder" && rows === "predicts" && one.word !== null && one.word === row.word;
  const seen = (one) => isOwn(one) ? html`its own beginning` : word(one.label, "seen", columnCode);
  const several = row.pieces.length > 1 ? ` (${row.pieces.length} tokens, averaged)` : "";
  const back = head.kind === "decoder" ? "looked back at" : "looked at";
  const who = hasHeads(view) ? "this head" : "the model";
  const lead = rows === "reads" && head.kind !== "encoder" ? html`Just after reading ${looks}${several}`
    : row.label === "end" && row.special ? html`While ending the translation`
    : head.kind === "encoder" ? html`While reading ${looks}${several}`
    : html`While writing ${looks}${several}`;
  const chanceName = trace.record.calibrated ? "model’s own chance" : "chance";
  const without = (one, value) => {
    const effect = unit === "words" && row.word !== null ? trace.evidence?.erased[one.word] : null;
    return effect ? html`Without ${seen(one)}, ${becomes(trace, row.pieces[0], trace.after(effect, row.pieces[0]))}`
      : html`Without ${seen(one)}, the ${chanceName} of ${looks} would be ${lower(value)}`;
  };
  if (map.columns[column] && view === "left_out") return without(map.columns[column], at[column]);
  const adds = (one, value) => html`${seen(one)} adds ${nats(value)} nats to the log-probability of ${looks}`;
  if (map.columns[column] && isAttribution(view) && at[column] !== null) return adds(map.columns[column], at[column]);
  if (map.columns[column]) return cell(view, lead, looks, seen(map.columns[column]), at[column], who);
  const seenOnly = at.map((value, i) => [map.columns[i], value]).filter(([, value]) => value !== null);
  const [first, second] = seenOnly.sort((a, b) => b[1] - a[1]);
  if (view === "left_out") return without(...first);
  if (isAttribution(view)) return adds(...first);
  if (view === "norm") return html`${lead}, the strongest signal came from ${seen(first[0])}`;
  if (!hasHeads(view)) return traced(trace, view, piece, unit);
  const most = html`${seen(first[0])} (<b>${percent(first[1])}</b>)`;
  if (first[1] < 0.25) return html`${lead}, this head ${back} several words, most at ${most}`;
  const more = second && second[1] >= 0.1 ? html` and ${seen(second[0])} (<b>${percent(second[1])}</b>)` : "";
  return html`${lead}, this head ${back} ${most}${more}`;
}

function cell(view, lead, looks, seen, value, who) {
  if (value === null) return html`${lead}, ${who} could not look at ${seen} yet`;
  if (view === "norm") return html`${lead}, a signal of ${value.toFixed(2)} came from ${seen}`;
  const share = value < 0.005 ? "none" : percent(value);
  if (view === "raw") return html`${lead}, this head gave ${seen} <b>${share}</b> of its attention`;
  return html`${seen} made up <b>${percent(value)}</b> of what shaped ${looks}`;
}

// "Traced back: English 55% (it 30%, tired 10%), French so far 45% (...)".
function traced(trace, view, piece, unit) {
  const [source, target] = trace.languages;
  const side = (kind, code, name) => {
    const all = trace.top({ kind, layer: 0, head: 0 }, piece, Infinity, { view, unit });
    if (!all.length) return null;
    const total = all.reduce((sum, one) => sum + one[1], 0);
    const best = all.slice(0, 2).filter((one) => one[1] >= 0.03);
    const named = ([one, share]) => html`${quoted(one.label, code)} ${percent(share)}`;
    return html`${name} <b>${percent(total)}</b>${best.length ? html` (${listed(best, named)})` : ""}`;
  };
  const from = side("cross", source, language(source, "the source"));
  const back = side("decoder", target, `${language(target, "the translation")} so far`);
  return html`Traced back: ${from}, ${back}`;
}

// What the map of a cross-attention head says about a column.
export function columnSentence(trace, { head, view, unit, rows }, piece) {
  const map = trace.map(head, { view, unit, rows });
  const column = map.columns.findIndex((one) => one.pieces.includes(piece));
  if (column < 0) return null;
  const [rowCode, columnCode] = trace.codes(head.kind);
  const seen = word(map.columns[column].label, "seen", columnCode);
  const by = map.at.map((row, i) => [map.rows[i], row[column] || 0]).sort((a, b) => b[1] - a[1]).slice(0, 2);
  if (by[0][1] < 0.1) return html`This head hardly looked at ${seen}`;
  const looker = ([one, share]) => html`${word(one.label, "looks", rowCode)} (<b>${percent(share)}</b>)`;
  return html`This head looked at ${seen} while writing ${
    listed(by.filter(([, share], i) => !i || share >= 0.25), looker, " and ")}`;
}

// How to read the map, in one line.
export function reading(kind, view, [source, target], dark) {
  const from = language(source, "source"), to = language(target, "target"), deep = dark ? "The brighter" : "The darker";
  const row = kind === "encoder" ? `${withArticle(from)} word being read` : `${withArticle(to)} word being written`;
  const says = (what) => `Each row is ${row}. ${deep} a cell, the ${what}.`;
  if (view === "left_out") return says(`less likely that word becomes when the ${from} word is erased`);
  if (isAttribution(view)) return says(`more the ${kind === "decoder" ? to : from} word adds to the log-probability of the row's word`);
  if (view === "norm") return says("stronger the signal that came from there");
  if (!hasHeads(view)) return says("more of that word came from there");
  const back = " a cell, the more the head looked back at that word. Hatched words were not yet written.";
  if (kind === "decoder") return `Each row is ${row}. ${deep}${back}`;
  return says(`more the head looked at that ${kind === "cross" ? from : "other"} word`);
}

// What the average is over that a head hands on when it is off.
export const averageOf = ({ evidence }) => evidence?.averaged_over
  ? `its average over the model’s ${evidence.averaged_over} example sentences` : "its average over this sentence";
const SAME = 0.01;  // changes of a chance that get no arrow are smaller
// What becomes of a written word by an intervention: another word, or its chance then, with an arrow if that changes.
export const outcome = ({ languages: [, target] }, { instead, fall, chance: after }) => instead
  ? instead === ENDS ? html`<small>${ENDS}</small>` : quoted(instead, target)
  : html`${Math.abs(fall) < SAME ? "" : fall > 0 ? "↓ " : "↑ "}<b>${chance(after)}</b>`;
// The same in words.
export function becomes(trace, piece, effect) {
  const [, target] = trace.languages, unit = trace.unitAt("target", piece), own = quoted(unit.label, target);
  if (effect.instead === ENDS) return html`${ENDS} in place of ${own}`;
  if (effect.instead) return html`${own} becomes ${quoted(effect.instead, target)}`;
  const [before, after] = [chance(trace.chance(unit)), chance(effect.chance)];
  if (before === after) return html`the chance of ${own} stays ${after}`;
  return html`the chance of ${own} ${effect.fall > 0 ? "falls" : "rises"} from ${before} to ${after}`;
}
// The chances that a word has under several interventions: "97% to over 99%".
export function chanceRange(effects) {
  const all = effects.map((one) => one.chance), [least, most] = [Math.min(...all), Math.max(...all)].map(chance);
  return least === most ? least : `${least} to ${most}`;
}
