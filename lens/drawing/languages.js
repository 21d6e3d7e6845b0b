// Languages by code: their names, and which are written from right to left.

const NAMES = globalThis.Intl?.DisplayNames ? new Intl.DisplayNames(["en"], { type: "language", fallback: "none" })
  : null;

export function language(code, other) {
  if (!code) return other;
  try { return NAMES?.of(code) || code; } catch { return code; }
}
export const pairName = (pair) => pair.map((code) => language(code, code)).join(" to ");
export const withArticle = (name) => `${/^(?!Uk|Uy)[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
export const isRightToLeft = (code) => /^(ar|arc|dv|fa|ha|he|iw|ks|ku|ps|sd|ug|ur|yi)\b/.test(code || "");
