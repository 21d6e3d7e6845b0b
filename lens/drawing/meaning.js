// What the pronoun stands for, in one line, where the model's own evidence says so: a head measured to find that noun
// looks there, and without that head the model is less sure of the pronoun.

import { inLanguage } from "./languages.js";
import { html } from "./markup.js";
import { flipOf, same } from "./texts.js";
import { quoted } from "./wording.js";

const GENDERS = { il: "masculine", ils: "masculine", elle: "feminine", elles: "feminine" };
const SURE = 0.5;  // share of attention from which the head points at a noun

// The source pronoun, the source noun that it stands for, and the pronoun written; null without evidence.
function antecedent(trace, weighed) {
  const word = trace.words("target").find((one) => trace.isPronoun(one.pieces[0]));
  const ofRole = (kind, role) => trace.heads.find((one) => one.kind === kind && trace.role(one)?.role === role);
  const head = ofRole("decoder", "antecedent"), across = ofRole("cross", "alignment");
  if (!word || !head || !across) return null;
  if (weighed && !trace.telling(word.pieces[0]).some((one) => same(one, head))) return null;
  const [[column, share]] = trace.top(head, word.pieces[0], 1);
  if (share < SURE || column.word === null) return null;
  const noun = column.pieces[0] - 1, source = trace.counterpart(noun) || trace.top(across, noun, 1)[0]?.[0];
  const pronoun = trace.words("source").find((one) => /^(it|they)$/i.test(one.text));
  if (!source || !pronoun) return null;
  return { pronoun: pronoun.text.toLowerCase(), noun: source.text, written: word.text.toLowerCase() };
}

export function meaning(trace, settings, twin) {
  const found = trace.evidence && antecedent(trace, true), flip = flipOf(settings, trace.source);
  const [from, to] = trace.languages;
  if (!found || !GENDERS[found.written]) return "";
  const other = twin && flip && twin.source === flip.text ? antecedent(twin, false) : null;
  const said = ({ pronoun, noun, written }) => html`${quoted(pronoun, from)} = the ${quoted(noun, from)}, so
    <b ${inLanguage(to)}>${written}</b> (${GENDERS[written]})`;
  const flips = other && other.written !== found.written && GENDERS[other.written];
  return html`${said(found)}.${flips ? html` Try <b>${flip.other}</b>: ${said(other)}.` : ""}`;
}
