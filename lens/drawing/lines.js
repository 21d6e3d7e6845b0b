// The second drawing of the same numbers: a line from each word that looks to each word looked at, a colour a head.

const FAINTEST = 0.02;  // of the full scale: fainter lines are not drawn, and the note says how much they carry
const LINE_HEIGHT = 24;

function linesBox({ rows, columns }, room) {
  const widest = (units) => Math.min(150, units.reduce((w, unit) => Math.max(w, textWidth(unit.text, 13)), 0));
  const left = Math.ceil(widest(columns)) + 10, right = Math.ceil(widest(rows)) + 10;
  const height = rows.length > 60 ? 14 : LINE_HEIGHT;
  const between = Math.max(90, Math.min(420, room - left - right - 4));
  return { left, right, between, line: height, top: 26, size: height < 18 ? 10 : 13, width: left + between + right,
    height: 28 + Math.max(rows.length, columns.length) * height };
}

// `pictures`: one for each head that is lit, of the same kind, layer and view.  `chosen` {row, column, by} or null.
// Returns the share of the weight that lies on lines too faint to be drawn.
function drawLines(pen, pictures, box, { heads, full, theme, dim, ink, chosen }) {
  const [{ rows, columns }] = pictures, { left, between, line, top, size } = box;
  const y = (i) => top + (i + 0.5) * line;
  const apart = Math.min(3, (line - 6) / pictures.length);  // or of two heads alike only one would be seen
  let drawn = 0, faint = 0;
  pictures.forEach(({ weight, masked }, p) => rows.forEach((row, r) => columns.forEach((column, c) => {
    const value = masked(r, c) ? 0 : weight(r, c), share = Math.min(value / full, 1);
    if (share < FAINTEST) {
      faint += value;
      return;
    }
    drawn += value;
    const away = chosen && (chosen.by === "column" ? c !== chosen.column : r !== chosen.row);
    const alpha = share * (away ? 0.08 : 1) * (dim && (row.special || column.special) ? 0.3 : 1);
    const moved = (p - (pictures.length - 1) / 2) * apart;
    pen.line(left + 4, y(c) + moved, left + between - 4, y(r) + moved, hue(heads[p], theme),
      { alpha, width: chosen && !away ? 2.5 : 1.75, pattern: dash(heads[p]) });
  })));
  const names = (units, x, align, on) => units.forEach(({ text, special }, i) => pen.text(shortened(text, 150, size), x, y(i),
    { size, align, fill: on(i) ? ink.mark : ink.ink, alpha: dim && special ? 0.4 : 1 }));
  names(columns, left - 4, "right", (c) => chosen && chosen.by !== "row" && c === chosen.column);
  names(rows, left + between + 4, "left", (r) => chosen && chosen.by !== "column" && r === chosen.row);
  pen.text("looked at", left - 4, 12, { size: 11, align: "right", fill: ink.soft });
  pen.text("looks", left + between + 4, 12, { size: 11, fill: ink.soft });
  return faint / Math.max(drawn + faint, 1e-12);
}

// The word under a point: {row} on the right, {column} on the left, or null.
function wordAt(box, { rows, columns }, x, y) {
  const i = Math.floor((y - box.top) / box.line);
  if (i < 0) return null;
  if (x < box.left + box.between / 2) return i < columns.length ? { column: i } : null;
  return i < rows.length ? { row: i } : null;
}
