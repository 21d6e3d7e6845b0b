// Languages by code: their names, those of each model, and which are written from right to left.

import { html } from "./markup.js";

const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

// The value for a code, computed once: every word asks.
function kept(make) {
  const known = new Map();
  return (code) => known.get(code) ?? known.set(code, make(code)).get(code);
}
// Also of codes such as fra_Latn (NLLB) and fr_XX (mBART); a script is named where it is not the usual one.
const nameOf = kept((code) => {
  try {
    const locale = new Intl.Locale(code.replace(/_XX$/, "").replaceAll("_", "-")), { language: own, script } = locale;
    const usual = script && own !== "zh" && new Intl.Locale(own).maximize().script === script;
    return NAMES.of(usual ? own : locale.baseName) || code;
  } catch { return code; }
});
export const language = (code, other) => code ? nameOf(code) : other;
const MANY = 10;  // languages: more are searched, and counted instead of named
export const isMany = (codes) => codes.length > MANY;
const named = (codes) => isMany(codes) ? `${codes.length} languages` : codes.map((code) => language(code)).join(", ");
// What a model translates: each of its `languages` is sources, every one of them into every one of the targets.
export const pairNames = ({ languages }) =>
  languages.map(([sources, targets]) => `${named(sources)} to ${named(targets)}`).join("; ");
const products = (models) => models.flatMap((one) => one.languages);
export const sourcesOf = (models) => [...new Set(products(models).flatMap(([sources]) => sources))];
export const targetsOf = (models, source) => [...new Set(products(models)
  .flatMap(([sources, targets]) => !source || sources.includes(source) ? targets : []))];
// Whether it translates between these languages, null for any; the languages of some models are not known.
export const translates = ({ languages }, source, target) => !languages.length || languages.some(([sources, targets]) =>
  (!source || sources.includes(source)) && (!target || targets.includes(target)));
export const withArticle = (name) => `${/^(?!Uk|Uy)[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
const RIGHT_TO_LEFT = /^(Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/;  // scripts
// Also of codes such as heb_Hebr (NLLB) and ar_AR (mBART).
export const isRightToLeft = kept((code) => {
  try { return RIGHT_TO_LEFT.test(new Intl.Locale(code.replace("_", "-")).maximize().script); } catch { return false; }
});
// The attributes of a text in this language.
export const inLanguage = (code) => html`lang="${code}" dir="${isRightToLeft(code) ? "rtl" : "auto"}"`;
