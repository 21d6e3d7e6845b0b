// A map as a static picture: as pixels, for the page; and as SVG, to compare and to export.

import { CARD, css, inkOn, shade } from "./colour.js";
import { html } from "./markup.js";
import { elided, percent } from "./wording.js";

export const FONT = "Seq2See Sans, IBM Plex Sans, Noto Sans, sans-serif";
export const SHOWN = 0.095;  // share of the scale from which a cell shows its number

// Rows of one pixel; column j from pixel x[j] to x[j + 1], `gap` of them bare at each side; transparent where a step
// cannot look.  `isFaded` says of a column whether it is dimmed.
export function pixels({ rows, columns, at, most }, { tone, theme, scale = most, isFaded = () => false,
  x = [...columns.keys(), columns.length], gap = 0 }) {
  const image = new ImageData(x.at(-1), rows.length), all = new Uint32Array(image.data.buffer), card = CARD[theme];
  const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  columns.forEach((column, j) => at.forEach((row, i) => {
    if (row[j] === null) return;
    const put = (colour, a, b) => all.fill(packed(colour), i * image.width + a, i * image.width + b);
    const own = shade(row[j] / scale, tone, theme);
    put(card, x[j], x[j + 1]);
    put(isFaded(column) ? own.map((value, k) => (value + 3 * card[k]) / 4) : own, x[j] + gap, x[j + 1] - gap);
  }));
  return image;
}
// The same as the address of an image; many canvases would each be a layer of its own for the browser.
const easel = document.createElement("canvas");
export function imageOf(map, choice) {
  draw(easel, pixels(map, choice));
  return easel.toDataURL();
}
export const draw = (canvas, image) =>
  Object.assign(canvas, { width: image.width, height: image.height }).getContext("2d").putImageData(image, 0, 0);

// Labels and cells as SVG.  `values` [row][column], from -1 to 1: below 0 in orange.
export function cells({ rows, columns, mirrored }, values, options) {
  const { size, left, top, theme, tone, written, numbers, tilt = -46 } = options;
  const x = (c) => left + (mirrored ? columns.length - 1 - c : c) * size, y = (r) => top + r * size;
  const column = (one, c) => html`<text
    transform="translate(${x(c + 0.6)} ${top - 6}) rotate(${tilt})">${elided(one.label, 14)}</text>`;
  const square = (value, r, c) => {
    if (value === null) return "";
    const colour = shade(value, tone, theme), valueText = written(value, r, c);
    const number = html`<text x="${x(c) + size / 2}" y="${y(r + 0.66)}" text-anchor="middle" font-size="11"
      fill="${inkOn(colour)}">${valueText}</text>`;
    return html`<rect x="${x(c)}" y="${y(r)}" width="${size - 1}" height="${size - 1}" rx="2"
      fill="${css(colour)}"><title>${rows[r].label}, ${columns[c].label}: ${valueText}</title></rect>${
      numbers && Math.abs(value) >= SHOWN ? number : ""}`;
  };
  return html`${columns.map(column)}${rows.map((one, r) => html`<text x="${left - 6}" y="${y(r + 0.7)}"
    text-anchor="end">${elided(one.label, 14)}</text>${values[r].map((value, c) => square(value, r, c))}`)}`;
}

const LETTER = 6.4;  // pixels, at most, of a letter of a label
const LARGEST = 16, SMALLEST = 7, FONT_SIZE = 11.5;  // pixels: of a cell, and of a label

// Maps side by side; with `room`, { width, height, largest }, in cells so small that all of them are whole in it.
export function smallMaps(titled, theme, room) {
  const most = room ? titled.map(([, map]) => sizeIn(map, room, titled.length)) : [];
  const size = Math.max(SMALLEST, Math.min(room?.largest ?? LARGEST, ...most));
  return html`<div class="figures" style="--label:${Math.min(FONT_SIZE, size + 1)}px">${
    titled.map(([title, map]) => smallMap(title, map, theme, size))}</div>`;
}

const longest = (all) => Math.max(...all.map(({ label }) => elided(label, 14).length));
function marginsOf({ rows, columns }) {
  const over = ({ label }, i) => 0.45 * LETTER * elided(label, 14).length - i * SMALLEST;  // beyond the last column
  return { left: 12 + LETTER * longest(rows), top: 12 + 0.9 * LETTER * longest(columns),
    right: Math.max(...[...columns].reverse().map(over)) };
}

function sizeIn(map, { width, height }, count) {
  const { left, top, right } = marginsOf(map), gap = 24, caption = 22;
  return Math.floor(Math.min((width / count - gap - left - right) / map.columns.length,
    (height - caption - top) / map.rows.length));
}

function smallMap(title, map, theme, size) {
  const { left, top, right } = marginsOf(map);
  return html`<figure><figcaption>${title}</figcaption><svg class="small"
    width="${Math.ceil(left + map.columns.length * size + right)}" height="${Math.ceil(top + map.rows.length * size)}"
    role="img" aria-label="${title}">${
    cells(map, map.at, { size, left, top, theme, tone: "blue", written: percent, tilt: -65 })}</svg></figure>`;
}
