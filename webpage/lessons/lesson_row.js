// One row of one head's map, from its query to what it passes on, as the lessons on attention draw it: the formula, and
// under it the words, with a column for each step.

import { best, figure, mostOf, picture, roomOf, softmax, strip, sum, text } from "./lesson_parts.js";
import { html, isNarrow } from "../common/markup.js";
import { CERTAIN } from "../common/trace.js";
import { chance } from "../common/wording.js";

// The head that looks back at what a pronoun stands for: decoder self-attention, layer 2, head 1.
const HEAD = { kind: "decoder", layer: 1, head: 0 };
export const WORDS = ["look", { maps: [] }];
export const rowAt = (row) => ["inside", { tool: "arithmetic", ...HEAD, row }];

export const inputsOf = ({ traces: [{ labels }] }) => labels.inputs.map((one, i) => i ? one : "start");
export const writtenAt = ({ traces: [{ labels }] }, row) => labels.target[row];
export const rootOf = ({ query }) => Math.sqrt(query.length);

// A share of attention, or of sentences: never 0% or 100% of what is neither.
export const part = (value) => value === 0 || value === 1 ? `${100 * value}%`
  : value >= 0.995 ? "over 99%" : value < 0.005 ? "under 1%" : `${Math.round(100 * value)}%`;

// The same, short enough for a phone.
export const briefly = (share) => isNarrow() ? part(share).replace("over ", ">").replace("under ", "<") : part(share);
// The least of some chances, in words.
export const atLeast = (p) => p >= CERTAIN ? chance(p) : `${chance(p)} or more`;

// The sum of the first `count` products of a query and a key.
export const sumOf = (query, key, count = query.length) => sum(query.slice(0, count).map((one, i) => one * key[i]));

// What each word gets, from sums of `count` products; words that are masked get nothing.
export function sharesOf(row, { count = row.query.length, divisor = rootOf(row), masked = true } = {}) {
  const { query, keys, allowed } = row, seen = [...keys.keys()].filter((i) => allowed[i] || !masked);
  const shares = softmax(seen.map((i) => sumOf(query, keys[i], count) / divisor));
  return keys.map((_, i) => seen.includes(i) ? shares[seen.indexOf(i)] : 0);
}

// Pixels: where columns begin and end, the height of a row, and where the first stands.
const placed = () => isNarrow()
  ? { label: 62, products: [68, 158], score: [162, 196], share: [204, 246], last: [294, 340],
    row: 15, top: 46 }
  : { label: 88, products: [96, 340], score: [352, 470], share: [492, 592], last: [682, 760], row: 23,
    top: 62 };

// `words` are those of all rows; `shown` of them are drawn.  `asker` is the one that looks, `pair` the one whose key is
// shown.  `step` is that of the formula; `count`, `divisor` and `masked` as in `sharesOf`; `head` names the scores,
// which are divided where `isDivided`.  `last` is one more column: { head, draw(i, shares, place), foot(shares,
// place) }, where a place is { x, y, width, height }.
export function rowPicture(label, row, words, options) {
  const { step, head, theme, count = row.query.length, divisor = rootOf(row), masked = true, last = {} } = options;
  const { asker, pair = null, isDivided = false, shown = [...words.keys()].filter((i) => row.allowed[i]) } = options;
  const { query, keys, allowed } = row, at = placed(), shares = sharesOf(row, { count, divisor, masked });
  const products = keys.map((key) => key.map((one, i) => one * query[i]));
  const scores = keys.map((key) => sumOf(query, key, count) / (isDivided ? divisor : 1));
  const most = { score: mostOf(shown.map((i) => scores[i])), product: mostOf(shown.map((i) => products[i])) * 0.6 };
  const vectors = [[asker, "asks", query, "its query"], ...pair === null ? []
    : [[words[pair], "answers", keys[pair], "its key"], ["multiplied", "", products[pair], "number by number"]]];
  const heads = at.top + vectors.length * at.row + 16, end = heads + 8 + shown.length * at.row;
  const chosen = shown[best(shown.map((i) => shares[i]))], place = (y) => boxOf(at, at.last, y);
  const vector = ([name, does, numbers, what], n) => {
    const y = at.top + n * at.row, label = isNarrow() ? name : `${name} ${does}`;
    return [textAt(at, y, at.label, label, "bold", "end"), strip(numbers, { ...boxOf(at, at.products, y), theme }),
      textAt(at, y, at.products[1] + 10, what, "soft")];
  };
  const line = (i, n) => {
    const y = end - (shown.length - n) * at.row, isHidden = masked && !allowed[i];
    const how = isHidden ? "soft" : i === chosen ? "bold" : "", name = `${how} ${i < 2 ? "slanted" : ""}`;
    return [i === chosen ? html`<rect x="0" y="${y}" width="${roomOf()}" height="${at.row - 1}" rx="4"
      fill="var(--green-t)"/>` : "", textAt(at, y, at.label, words[i], name, "end"),
    added(products[i], count, boxOf(at, at.products, y), most.product, theme),
    scored(scores[i], most.score, at, y, how), isHidden ? textAt(at, y, at.share[0], "hidden", "soft")
      : shared(shares[i], allowed[i], at, y, how),
    last.draw && !isHidden ? last.draw(i, shares, place(y)) : ""];
  };
  const titles = [text(at.products[0], heads, isNarrow() ? "products" : `${query.length} products, query × key`,
    { how: "soft" }), text(at.score[1], heads, head, { how: "soft", anchor: "end" }),
  text(at.share[0], heads, "share", { how: "soft" }),
  text(roomOf(), heads, last.head ?? "", { how: "soft", anchor: "end" })];
  const foot = last.foot ? [textAt(at, end + 6, at.last[0] - 8, "added up, this is passed on:", "bold", "end"),
    last.foot(shares, place(end + 6))] : [];
  return picture(label, end + (last.foot ? at.row + 12 : 4),
    [formula(step, query.length), vectors.map(vector), titles, shown.map(line), foot]);
}

const textAt = (at, y, x, words, how, anchor = "start") => text(x, y + at.row * 0.7, words, { how, anchor });
const boxOf = ({ row }, [x, end], y) =>
  ({ x, y: +(y + row * 0.18).toFixed(1), width: end - x, height: +(row * 0.64).toFixed(1) });

// The products: pale where they are not added yet.
function added(products, count, box, most, theme) {
  const cell = box.width / products.length;
  const some = (from, to) => to > from ? strip(products.slice(from, to),
    { ...box, x: box.x + from * cell, width: (to - from) * cell, most, theme }) : "";
  return html`${some(0, count)}<g opacity=".2">${some(count, products.length)}</g>`;
}

function scored(score, most, at, y, how) {
  const [x, end] = at.score, wide = Math.max(1, Math.abs(score) / most * (end - x - 52)).toFixed(1);
  return html`${isNarrow() ? "" : html`<rect x="${x}" y="${y + at.row / 2 - 4}" width="${wide}" height="8" rx="2"
    fill="var(--${score < 0 ? "orange" : "blue"})"/>`}${textAt(at, y, end, figure(score), `${how} figure`, "end")}`;
}

function shared(share, isAllowed, at, y, how) {
  const [x, end] = at.share, wide = Math.max(1, share * (end - x)).toFixed(1);
  return html`<rect x="${x}" y="${y + at.row / 2 - 5}" width="${wide}" height="10" rx="2"
    fill="var(--${isAllowed ? "green" : "purple"})"/>${textAt(at, y, x + +wide + 5, briefly(share), `${how} figure`)}`;
}

// The formula: on a pill what the lesson is about, in ink what came before it, in grey what is still to come.
const STEPS = [["q · k", "asks, answers", 102], ["÷ √", "scales", 72], ["+ mask", "hides", 66],
  ["→ softmax", "shares", 94], ["× v", "passes on", 70]];
function formula(step, size) {
  const wide = isNarrow() ? 0.84 : 1.25, now = [step].flat(), [large, small] = isNarrow() ? [14.5, 12] : [19, 12];
  const widths = STEPS.map(([, , width]) => width * wide), left = (roomOf() - sum(widths)) / 2;
  const line = (words, middle, y, ink, font) => html`<text x="${middle.toFixed(1)}" y="${y}" text-anchor="middle"
    style="fill:var(--${ink});font-size:${font}px">${words}</text>`;
  return html`${STEPS.map(([symbol, caption], i) => {
    const isNow = now.includes(i), ink = isNow ? "card" : i < Math.max(...now) ? "ink" : "soft";
    const x = left + sum(widths.slice(0, i)), middle = x + widths[i] / 2;
    return html`${isNow ? html`<rect x="${(x + 2).toFixed(1)}" y="0" width="${(widths[i] - 4).toFixed(1)}" height="40"
      rx="8" fill="var(--ink)"/>` : ""}${line(i === 1 ? symbol + size : symbol, middle, 19, ink, large)}${
      line(caption, middle, 34, ink, small)}`;
  })}`;
}
