// A map as a static SVG picture: to export, and in the lab to compare two maps.

import { css, inkOn, shade } from "./colour.js";
import { html } from "./markup.js";
import { elided, percent } from "./wording.js";

const LEFT = 5, TOP = 4.2, RIGHT = 2.4;  // room for the labels, in cells
export const sizeOf = ({ rows, columns }, cell) => [cell * (LEFT + columns.length + RIGHT), cell * (TOP + rows.length)];

// Values below 0 are orange. `number` writes a value into its cell; `mirrored`: the first column is on the right.
export function picture(title, map, theme, { mirrored, number, tone = "blue", cell = 16, y = 0 }) {
  const { rows, columns, at, most } = map, [width, height] = sizeOf(map, cell), middle = 0.5 * cell;
  const x = (c) => cell * (LEFT + (mirrored ? columns.length - 1 - c : c)), below = (r) => cell * (TOP + r);
  const column = (one, c) => html`<text
    transform="translate(${x(c) + 0.6 * cell} ${below(0) - 5}) rotate(-45)">${elided(one.label, 14)}</text>`;
  const square = (value, r, c) => {
    if (value === null) return "";
    const colour = shade(Math.abs(value) / most, value < 0 ? "orange" : tone, theme);
    const digits = () => html`<text x="${x(c) + middle}" y="${below(r) + middle + 4}" text-anchor="middle"
      font-size="11" fill="${inkOn(colour)}">${number(value)}</text>`;
    return html`<rect x="${x(c)}" y="${below(r)}" width="${cell - 1}" height="${cell - 1}" rx="2"
      fill="${css(colour)}"><title>${rows[r].label}, ${columns[c].label}${number ? "" : `: ${percent(value)}`}</title>
      </rect>${number && Math.abs(value) >= 0.095 * most ? digits() : ""}`;
  };
  const row = (one, r) => html`<text x="${cell * LEFT - 6}" y="${below(r) + middle + 4}"
    text-anchor="end">${elided(one.label, 12)}</text>${at[r].map((value, c) => square(value, r, c))}`;
  return html`<svg class="small" y="${y}" width="${width}" height="${height}" role="img"
    aria-label="${title}">${columns.map(column)}${rows.map(row)}</svg>`;
}
