// Languages by code: their names, and the direction in which their texts run.

import { html } from "./markup.js";

const NAMES = globalThis.Intl?.DisplayNames ? new Intl.DisplayNames(["en"], { type: "language", fallback: "none" })
  : null;

export function language(code, other) {
  if (!code) return other;
  try { return NAMES?.of(code) || code; } catch { return code; }
}
export const pairName = (pair) => pair.map((code) => language(code, code)).join(" to ");
export const withArticle = (name) => `${/^(?!Uk|Uy)[aeiou]/i.test(name) ? "an" : "a"} ${name}`;

const RIGHT_TO_LEFT = ["Adlm", "Arab", "Hebr", "Nkoo", "Syrc", "Thaa"];
const BEGINS = new RegExp(`^\\P{L}*[${RIGHT_TO_LEFT.map((one) => `\\p{Script=${one}}`).join("")}]`, "u");

// "rtl" or "ltr", by the script of the language; "auto", by the first letter of the text, if the language is unknown.
export function directionOf(code) {
  try {
    return RIGHT_TO_LEFT.includes(new Intl.Locale(code.replace("_", "-")).maximize().script) ? "rtl" : "ltr";
  } catch { return "auto"; }
}
export function isRightToLeft(text, code) {
  const direction = directionOf(code);
  return direction === "rtl" || (direction === "auto" && BEGINS.test(text));
}
// The attributes of an element whose text is in this language.
export const inLanguage = (code) => html`lang="${code}" dir="${directionOf(code)}"`;
