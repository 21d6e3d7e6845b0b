// One row of one head's map, from its query to what it hands on, as the lessons on attention draw it: the steps of the
// formula above it, words under each other, and a column for each step.

import { best, figure, mostOf, picture, roomOf, softmax, strip, sum, text } from "./lesson_parts.js";
import { html, isNarrow } from "./markup.js";

// The head that looks back at what a pronoun stands for: decoder self-attention, layer 2, head 1.
export const HEAD = { kind: "decoder", layer: 1, head: 0 };
export const WORDS = ["look", { maps: [] }];
export const rowAt = (row) => ["inside", { tool: "arithmetic", ...HEAD, row }];

export const inputsOf = ({ traces: [{ labels }] }) => labels.inputs.map((one, i) => i ? one : "start");
export const writtenAt = ({ traces: [{ labels }] }, row) => labels.target[row];
export const rootOf = ({ query }) => Math.sqrt(query.length);

// A share, or a share of sentences, in words: never 0% or 100% of what is neither.
export const part = (value) => value === 0 || value === 1 ? `${100 * value}%`
  : value >= 0.995 ? "over 99%" : value < 0.005 ? "under 1%" : `${Math.round(100 * value)}%`;

// What each word gets, [words]: of the sums of the first `count` products, divided; words out of sight get nothing.
export function sharesOf({ query, keys, allowed }, { count = query.length, divisor = Math.sqrt(query.length), masked = true } = {}) {
  const seen = keys.flatMap((_, i) => allowed[i] || !masked ? [i] : []), shares = keys.map(() => 0);
  softmax(seen.map((i) => sumOf(query, keys[i], count) / divisor)).forEach((one, i) => { shares[seen[i]] = one; });
  return shares;
}
export const sumOf = (query, key, count = query.length) => sum(query.slice(0, count).map((one, i) => one * key[i]));

// Where columns stand: [from, to] each.
const places = () => isNarrow()
  ? { label: 62, products: [68, 158], score: [162, 196], share: [202, 246], said: 286, last: [292, 340], row: 17, top: 46 }
  : { label: 84, products: [92, 340], score: [352, 470], share: [492, 600], said: 660, last: [676, 760], row: 23, top: 62 };

// `steps` are those of the formula that the lesson is about; `count` products are added; `pair` is the word whose key is
// shown; `last` is { head, draw(i, place, y), foot } of a last column; `shown` words have a row; `scored` heads the sums.
export function rowPicture(label, row, words, { asker, steps, count = row.query.length, divisor = rootOf(row), masked = true,
  shown = row.allowed.flatMap((one, i) => one ? [i] : []), pair = null, scored, last = null, theme }) {
  const at = places(), { query, keys, allowed } = row, size = query.length, shares = sharesOf(row, { count, divisor, masked });
  const products = keys.map((key) => key.map((one, i) => one * query[i]));
  const scores = keys.map((key) => sumOf(query, key, count) / (scored.divided ? divisor : 1));
  const most = Math.max(...shown.map((i) => Math.abs(scores[i])), 1e-9), strong = mostOf(shown.map((i) => products[i])) * .6;
  const top = pair === null ? [] : [[`${words[pair]} answers`, keys[pair], "its key"], ["multiplied", products[pair], ""]];
  const vectors = [[`${asker} asks`, query, "its query"], ...top], heads = at.top + vectors.length * at.row + 14, first = heads + 8;
  const down = (n) => first + n * at.row, chosen = shown[best(shown.map((i) => shares[i]))];
  return picture(label, down(shown.length) + (last?.foot ? at.row + 14 : 6), html`${formula(steps, size)}${
    vectors.map(([name, numbers, said], i) => vector(name, numbers, said, at.top + i * at.row, at, theme))}${
    heading(at, heads, scored.head, last?.head, size)}${shown.map((i, n) => {
      const y = down(n), isHidden = masked && !allowed[i], how = isHidden ? "soft" : i === chosen ? "bold" : "";
      return html`${i === chosen ? html`<rect x="0" y="${y}" width="${roomOf()}" height="${at.row - 1}" rx="4"
        fill="var(--green-t)"/>` : ""}${text(at.label, y + at.row * .7, words[i], { how: `${how} ${i < 2 ? "slanted" : ""}`, anchor: "end" })}${
        productStrip(products[i], count, at, y, strong, theme)}${scoreBar(scores[i], most, at, y, how)}${
        isHidden ? text(at.share[0], y + at.row * .7, "hidden", { how: "soft" }) : shareBar(shares[i], allowed[i], at, y, how)}${
        last && !isHidden ? last.draw(i, at.last, y + at.row * .18, at.row * .64, shares) : ""}`;
    })}${last?.foot ? last.foot(at, down(shown.length) + 8, shares) : ""}`);
}

const vector = (name, numbers, said, y, at, theme) => html`${text(at.label, y + at.row * .7, name, { anchor: "end", how: "bold" })}${
  strip(numbers, { x: at.products[0], y: y + at.row * .14, width: at.products[1] - at.products[0], height: at.row * .7, theme })}${
  text(at.products[1] + 10, y + at.row * .7, said, { how: "soft" })}`;

const heading = (at, y, score, last, size) => html`${isNarrow() ? text(at.products[0], y, "products", { how: "soft" })
  : text(at.products[0], y, `${size} products, query × key`, { how: "soft" })}${
  text(at.score[1], y, score, { how: "soft", anchor: "end" })}${text(at.share[0], y, "share", { how: "soft" })}${
  last ? text(at.last[1], y, last, { how: "soft", anchor: "end" }) : ""}`;

// The products that are added, and pale those that are not yet.
const productStrip = (products, count, at, y, most, theme) => {
  const [x, end] = at.products, cell = (end - x) / products.length, high = { y: y + at.row * .18, height: at.row * .64, most, theme };
  const some = (from, to) => to > from ? strip(products.slice(from, to), { ...high, x: x + from * cell, width: (to - from) * cell }) : "";
  return html`${some(0, count)}<g opacity=".22">${some(count, products.length)}</g>`;
};
function scoreBar(score, most, at, y, how) {
  const [x, end] = at.score, wide = isNarrow() ? 0 : Math.abs(score) / most * (end - x - 52), middle = y + at.row / 2;
  return html`${wide ? html`<rect x="${x}" y="${middle - 4}" width="${Math.max(1, wide).toFixed(1)}" height="8" rx="2"
    fill="var(--${score < 0 ? "orange" : "blue"})"/>` : ""}${text(end, y + at.row * .7, figure(score), { how: `${how} figure`, anchor: "end" })}`;
}
const shareBar = (share, isAllowed, at, y, how) => html`<rect x="${at.share[0]}" y="${y + at.row / 2 - 5}"
  width="${Math.max(1, share * (at.share[1] - at.share[0])).toFixed(1)}" height="10" rx="2" fill="var(--${isAllowed ? "green" : "orange"})"/>${
  text(at.said, y + at.row * .7, part(share), { how: `${how} figure`, anchor: "end" })}`;

// The formula of attention: what the lesson is about on a pill, what was explained before it in ink, what comes in grey.
const STEPS = [["q · k", "asks, answers", 92], ["÷ √", "evens out", 74], ["+ mask", "hides", 72], ["→ softmax", "shares", 92], ["× v", "hands on", 74]];
function formula(steps, size) {
  const wide = isNarrow() ? 340 / 404 : 1.25, room = sum(STEPS.map(([, , width]) => width)) * wide;
  let x = (roomOf() - room) / 2;
  return html`<g>${STEPS.map(([symbol, caption, width], i) => {
    const middle = x + width * wide / 2, isNow = steps.includes(i), ink = isNow ? "var(--card)" : i < Math.max(...steps) ? "var(--ink)" : "var(--soft)";
    const pill = html`<rect x="${(x + 2).toFixed(1)}" y="0" width="${(width * wide - 4).toFixed(1)}" height="40" rx="8" fill="var(--ink)"/>`;
    x += width * wide;
    return html`${isNow ? pill : ""}<text x="${middle.toFixed(1)}" y="19" text-anchor="middle"
      style="fill:${ink};font-size:${isNarrow() ? 15 : 19}px">${symbol === "÷ √" ? `÷ √${size}` : symbol}</text><text
      x="${middle.toFixed(1)}" y="34" text-anchor="middle" style="fill:${ink};font-size:${isNarrow() ? 10.5 : 12}px">${caption}</text>`;
  })}</g>`;
}
