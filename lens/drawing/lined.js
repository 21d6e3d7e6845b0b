// Maps as lines from the looking words to those looked at: of one head, or the strongest of each of several heads.

import { html } from "./markup.js";
import { traceOf } from "./state.js";
import { hasHeads } from "./trace.js";
import { amount, direction, elided } from "./wording.js";

const WEAK = 0.06, STRONG = 0.25;  // shares of the scale from which one head's links, and one of several's, are drawn

// `choice` is the view, unit and rows; `piece` a token of the chosen looking word; `least` the height at least.
export function lined(state, heads, { choice, piece, width, least = 0 }) {
  const trace = traceOf(state), [{ kind }] = heads, many = heads.length > 1, [rowCode, columnCode] = trace.codes(kind);
  const maps = heads.map((one) => trace.map(one, choice)), [{ rows, columns }] = maps;
  const side = kind === "encoder" ? "source" : "target", at = rows.findIndex((one) => one.pieces.includes(piece));
  const height = Math.max(least, 22 * Math.max(rows.length, columns.length));
  const y = (i, n) => 12 + (height - 24) * (i + 0.5) / n;
  const left = Math.min(150, width * 0.3), right = width - Math.min(190, width * 0.36), middle = (left + right) / 2;
  const links = maps.flatMap(({ at, most }, h) => at.flatMap((row, i) => {
    const all = row.map((value, j) => ({ h, i, j, value, share: Math.abs(value || 0) / most }));
    return many ? all.sort((a, b) => b.share - a.share).slice(0, 1) : all;
  })).filter((one) => one.share >= (many ? STRONG : WEAK)).sort((a, b) => (a.i === at) - (b.i === at));
  const toneOf = (h) => hasHeads(choice.view) ? trace.tone(heads[h], state.word) : "blue";
  const stroke = ({ h, i, j, share }) => {
    const apart = many ? (h - (heads.length - 1) / 2) * Math.min(2.5, 16 / heads.length) : 0, on = i === at;
    const a = y(i, rows.length) + apart, b = y(j, columns.length) + apart;
    return html`<path d="M${left} ${a}C${middle} ${a} ${middle} ${b} ${right} ${b}" fill="none"
      style="stroke:var(--${on ? toneOf(h) : "edge"})" opacity="${on ? 1 : (0.16 + 0.34 * share).toFixed(2)}"
      stroke-width="${(on ? 1.5 + (many ? 1 : 3.5) * share : 0.6 + (many ? 0.6 : 2) * share).toFixed(2)}"/>`;
  };
  const row = (one, i) => html`<g data-side="${side}" data-piece="${one.pieces[0]}"
    class="${i === at ? "sel" : ""}"><rect x="0" y="${y(i, rows.length) - 11}" width="${left - 6}" height="22"
    rx="5"/><text x="${left - 12}"
    y="${y(i, rows.length) + 5}" text-anchor="end" lang="${rowCode}">${elided(one.label, 16)}</text></g>`;
  const said = (own) => many ? ["", "1 head"][own.length] ?? `${own.length} heads`
    : own.filter((one) => one.share >= 0.1).map((one) => amount(choice.view, one.value));
  const column = (one, j) => {
    const own = links.filter((one) => one.i === at && one.j === j), best = Math.max(0, ...own.map((one) => one.share));
    const style = best < 0.3 ? "" : html`style="fill:var(--${many ? "ink" : toneOf(0)});font-weight:700"`;
    return html`<text x="${right + 12}" y="${y(j, columns.length) + 5}" lang="${columnCode}"
      class="${one.special ? "sp" : ""}" ${style}>\u2068${elided(one.label, 16)}\u2069 ${said(own)}</text>`;
  };
  return html`<svg class="lined" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"
    aria-label="${direction(kind, trace.languages)}, as lines">${links.map(stroke)}${rows.map(row)}${
    columns.map(column)}</svg>`;
}
