// Parts of a text that are no language and stay as they are: the most common shapes of `text/protection.py`.

const W = "[\\p{L}\\p{M}\\p{N}_]", w = W.slice(1, -1);
const INSIDE = "\\([^\\s()<>]*\\)";
const ADDRESS = `(?:${INSIDE}|[^\\s()<>"“”«»])*(?:${INSIDE}|[^\\s()<>"“”«».,;:!?'’…\\]}。，！？।])`;
const NUMBER = "\\p{Nd}+(?:[.,/]\\p{Nd}+|[ \\u00a0\\u202f]\\p{Nd}{3}(?!\\p{Nd}))*";
const UNIT = "(?:(?:da|[µμnmcdhkMGT])?(?:[mglLWVΩ]|Pa|Hz|Wh|Ah|bar|mol|cal|eV)|[µμnm]s|[kMGT]i?(?:[bBNJ]|bit|bps)|[ht]"
  + "|(?<=\\s)s|min|ha|ft|lbs?|oz|yd|mi|gal|mph|kph|rpm|fps|[dp]pi|px|ppm|psi|dB|atm|[°º][CFK]|%%)[²³]?";
export const EMOJI = "(?:(?:\\p{RI}{1,2}|\\p{ExtPict})(?:[\\p{M}\\p{EMod}\\u200c\\u200d]|(?<=\\u200d)\\p{ExtPict})*"
  + "|[0-9#*]\\ufe0f?\\u20e3)+";
const FACE = `${EMOJI}|(?<!${W})(?:[:;][-']?[)(DP*|/]+|<3(?!>))(?!${W})`;
const TAG = "</?[A-Za-z0-9][^<>\\n]*>|<[%?!][^<>\\n]*>|\\{%[^{}\\n]*%\\}|&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\\d{1,7});"
  + `|\\{${W}+\\}(?=\\p{Lu})|(?<!${W})_(?=\\p{L}+(?!${W})(?![^\\n_]*_))`;
const SHAPES = [
  "`[^`\\n]+`", "\\{\\{[^{}\\n]*\\}\\}", `\\{\\s*${W}+\\s*,(?:[^{}\\n]|\\{[^{}\\n]*\\})*\\}`, "[$%#@&]?\\{[^{}\\s]*\\}",
  `(?<![${w}$])\\$[A-Za-z_][${w}.]*(?<=${W})(?!${W})`, `(?<![${w}:.)\\]]):[A-Za-z_][${w}-]*(?<=${W})(?!${W}):?`,
  `(?<![^\\s(\\[“"])\\.[a-z][a-z0-9_-]+(?<=[a-z0-9_])(?!${W})`, `(?<![${w}&])#${W}+`,
  `(?<!${W})@[${w}-]+`, `(?<![${w}-])(?=[A-Za-z0-9-]+_)[${w}-]*[A-Za-z0-9](?!${W})`,
  `(?<![${w}%])%(?:\\(${W}+\\)|<${W}+>|\\p{Nd}+\\$)?[-+#0]*\\p{Nd}*`
    + `(?:\\.\\p{Nd}+)?[hlqjzt]*[diouxXeEfFgGcrsan@](?:%%)?(?!${W})`,
  `(?<![${w}+.-])(?:[A-Za-z][A-Za-z0-9+.-]*://|[Ww]{3}\\.|(?:[A-Za-z0-9-]+\\.){1,9}[A-Za-z]{2,}/)${ADDRESS}`,
  `(?<![${w}.%+-])[${w}.%+-]+@[${w}-]+(?:\\.[${w}-]+)+`,
  `(?<![${w}+.-])(?:[A-Za-z0-9-]+\\.){1,9}(?:com|org|net|edu|gov|io|dev)(?!${W})(?::\\p{Nd}+(?!${W}))?`,
  `(?<![${w}+.'’-])(?=[${w}.-]*[\\p{L}\\p{N}]{2})(?:[${w}-]+\\.){1,9}`
    + `(?:[a-z][a-z0-9]{1,9}|[A-Z][A-Z0-9]{1,9})(?![${w}-]|\\.${W})`,
  `(?<![${w}.])(?:\\p{Nd}{1,3}(?:\\.\\p{Nd}{1,3}){3}(?::\\p{Nd}+)?|[Vv]\\p{Nd}+(?:\\.\\p{Nd}+)+)(?!${W}|\\.\\p{Nd})`,
  `(?<![${w}.,])[-−+]?${NUMBER}(?: ?[-–×x] ?${NUMBER}){0,3}[ \\u00a0\\u202f\\u2009]?${UNIT}(?:/${UNIT})?(?![${w}'’-])`,
  `(?<![${w}.,:])\\p{Nd}{1,2}(?:[:.]\\p{Nd}{2})?[ \\u00a0\\u202f]?[AaPp]`
    + `(?:[Mm]|\\.[ ]?[Mm](?:\\.(?!\\s+\\p{Lu}|[^${w}]*$))?)(?!${W})`,
].join("|");
export const MARK = `${FACE}|${TAG}`;
const KEPT = new RegExp(`(?<mark>${MARK})|[\\p{Sc}+±]?(?:${SHAPES})(?:\\p{Sc}|[+x×](?!${W}))?`, "gu");

// { start, end, isMark } of each.
export const keptParts = (text) => [...text.matchAll(KEPT)].map(({ index, 0: { length }, groups: { mark } }) =>
  ({ start: index, end: index + length, isMark: Boolean(mark) }));
export const masked = (text) => text.replace(KEPT, (part) => "_".repeat(part.length));
