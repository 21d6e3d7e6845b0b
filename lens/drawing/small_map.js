// A map as a small static picture: for two maps side by side, and for their difference.

import { css, shade } from "./colour.js";
import { html } from "./markup.js";
import { elided } from "./wording.js";

// `values` [row][column], from -1 to 1: below 0 in orange.
export function smallMap(title, rows, columns, values, theme, tone = "blue") {
  const cell = 16, left = 78, top = 64, width = left + columns.length * cell + 40, height = top + rows.length * cell;
  const column = (one, c) => html`<text
    transform="translate(${left + (c + 0.6) * cell} ${top - 5}) rotate(-48)">${elided(one.label, 12)}</text>`;
  const square = (one, r, c) => {
    const value = values[r][c];
    if (value === null) return "";
    return html`<rect x="${left + c * cell}" y="${top + r * cell}" width="${cell - 1}" height="${cell - 1}" rx="2"
      fill="${css(shade(Math.abs(value), value < 0 ? "orange" : tone, theme))}"><title>${one.label}, ${
      columns[c].label}: ${Math.round(100 * value)}%</title></rect>`;
  };
  const row = (one, r) => html`<text x="${left - 6}" y="${top + (r + 0.75) * cell}"
    text-anchor="end">${elided(one.label, 11)}</text>${columns.map((_, c) => square(one, r, c))}`;
  return html`<figure><figcaption>${title}</figcaption><svg class="small" width="${width}" height="${height}"
    role="img" aria-label="${title}">${columns.map(column)}${rows.map(row)}</svg></figure>`;
}
