// Signs that a translation went wrong: it is a copy of its source, far shorter, or not finished; see `text/warnings.py`.

import { RULES } from "../data.js";
import { inCapitals } from "./model_input.js";

const { BRIEF, COPIED_LETTERS, FAR_SHORTER, PARTICLES } = RULES;

// `parts` of a text: { text, hypotheses }; `best` is the best translation of the whole.
export function warningsOf(parts, best, [from, to]) {
  const own = parts.map(({ text, hypotheses: [{ text: written }] }) => [text, written]);
  const isCopy = ([text, written]) => letters(text) === letters(written) && mayNotStay(text);
  const found = { unchanged: from !== to && own.some(isCopy), too_short: own.some((both) => isFarShorter(...both)),
    cut_off: best?.finished === false };
  return Object.keys(found).filter((name) => found[name]);
}

const isFarShorter = (text, written) => length(written) < FAR_SHORTER * (length(text) - BRIEF);

const letters = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []).join("");

function mayNotStay(text) {
  if (length((text.match(/[\p{Lo}\p{M}]/gu) ?? []).join("")) >= COPIED_LETTERS) return true;
  const words = (inCapitals(text) ? text.toLowerCase() : text).split(/\s+/).filter(Boolean)
    .map((word) => word.replace(/^\p{P}+|\p{P}+$/gu, ""));
  const small = words.filter((word) => /^\p{Ll}{2,}$/u.test(word) && !PARTICLES.includes(word));
  const least = /\p{L}[.!?…]['"”’»)]*$/u.test(text) ? 1 : /^\p{Lu}/u.test(text) ? 2 : 5;  // fewer may be a command
  return small.length >= least && 2 * small.length >= words.length - 1;
}

// An ideograph counts as three letters, a Hangul syllable as two.
const length = (text) => [[/[\p{L}\p{M}\p{N}]/gu, 1], [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, 2],
  [/\p{Script=Hangul}/gu, 1]].reduce((sum, [kind, weight]) => sum + weight * (text.match(kind) ?? []).length, 0);
