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
export function cells({ rows, columns, mirrored }, values, { size, left, top, theme, tone, say, numbers }) {
  const x = (c) => left + (mirrored ? columns.length - 1 - c : c) * size, y = (r) => top + r * size;
  const column = (one, c) => html`<text
    transform="translate(${x(c + 0.6)} ${top - 6}) rotate(-46)">${elided(one.label, 14)}</text>`;
  const square = (value, r, c) => {
    if (value === null) return "";
    const colour = shade(value, tone, theme), said = say(value, r, c);
    const number = html`<text x="${x(c) + size / 2}" y="${y(r + 0.66)}" text-anchor="middle" font-size="11"
      fill="${inkOn(colour)}">${said}</text>`;
    return html`<rect x="${x(c)}" y="${y(r)}" width="${size - 1}" height="${size - 1}" rx="2"
      fill="${css(colour)}"><title>${rows[r].label}, ${columns[c].label}: ${said}</title></rect>${
      numbers && Math.abs(value) >= SHOWN ? number : ""}`;
  };
  return html`${columns.map(column)}${rows.map((one, r) => html`<text x="${left - 6}" y="${y(r + 0.7)}"
    text-anchor="end">${elided(one.label, 14)}</text>${values[r].map((value, c) => square(value, r, c))}`)}`;
}

export function smallMap(title, map, theme) {
  const size = 16, left = 90, top = 70, width = left + map.columns.length * size + 40;
  return html`<figure><figcaption>${title}</figcaption><svg class="small" width="${width}"
    height="${top + map.rows.length * size}" role="img" aria-label="${title}">${
    cells(map, map.at, { size, left, top, theme, tone: "blue", say: percent })}</svg></figure>`;
}
