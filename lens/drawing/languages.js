// Languages by code: their names, and which are written from right to left.

import { html } from "./markup.js";

const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

// The value for a code, computed once: every word asks.
function kept(make) {
  const known = new Map();
  return (code) => known.get(code) ?? known.set(code, make(code)).get(code);
}
const nameOf = kept((code) => {
  try { return NAMES.of(code) || code; } catch { return code; }
});
export const language = (code, other) => code ? nameOf(code) : other;
export const pairName = (pair) => pair.map((code) => language(code, code)).join(" to ");
export const withArticle = (name) => `${/^(?!Uk|Uy)[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
const RIGHT_TO_LEFT = /^(Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/;  // scripts
// Also of codes such as heb_Hebr (NLLB) and ar_AR (mBART).
export const isRightToLeft = kept((code) => {
  try { return RIGHT_TO_LEFT.test(new Intl.Locale(code.replace("_", "-")).maximize().script); } catch { return false; }
});
// The attributes of a text in this language.
export const inLanguage = (code) => html`lang="${code}" dir="${isRightToLeft(code) ? "rtl" : "auto"}"`;
