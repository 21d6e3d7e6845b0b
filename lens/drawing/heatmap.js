// The large map: a cell for each weight, rows and columns named.

// Where everything lies.  As wide as fits, not so tall that it leaves the screen; names shrink with narrow columns.
function heatmapBox({ rows, columns }, room, { most = 40 } = {}) {
  const widest = (units, limit) => Math.min(limit, units.reduce((w, unit) => Math.max(w, textWidth(unit.text, 13)), 0));
  const left = Math.ceil(widest(rows, 120)) + 10, up = widest(columns, 110);
  const lean = Math.ceil(Math.min(up, textWidth(columns.at(-1)?.text ?? "", 13)) * 0.71);
  const fitting = Math.floor((room - left - lean - 8) / Math.max(columns.length, 1));
  const cell = Math.max(rows.length > 60 ? 9 : 14, Math.min(most, Math.max(20, Math.floor(600 / rows.length)), fitting));
  const top = Math.ceil(up * 0.71) + 16;
  return { left, top, cell, size: cell < 12 ? 9 : cell < 18 ? 11 : 13,
    width: left + columns.length * cell + lean + 8, height: top + rows.length * cell + 3 };
}

// `ink` names the colours of text and lines.  Cells that cannot be looked at have a dot.
function drawHeatmap(pen, picture, box, { full, theme, shares, dim, ink }) {
  const { rows, columns, masked, weight } = picture, { left, top, cell, size } = box;
  rows.forEach(({ text }, r) => pen.text(shortened(text, left - 8, size), left - 6, top + (r + 0.5) * cell,
    { size, align: "right", fill: ink.ink }));
  columns.forEach(({ text }, c) => pen.text(shortened(text, 112, size), left + (c + 0.5) * cell, top - 8,
    { size, angle: -45, fill: ink.ink }));
  const gap = cell < 12 ? 0.5 : 1;
  for (let r = 0; r < rows.length; r++) {
    for (let c = 0; c < columns.length; c++) {
      const x = left + c * cell, y = top + r * cell;
      if (masked(r, c)) {
        pen.rect(x + cell / 2 - 1, y + cell / 2 - 1, 2, 2, ink.line);
        continue;
      }
      const value = weight(r, c), rgb = rampColour(value / full, theme);
      const alpha = dim && (rows[r].special || columns[c].special) ? 0.3 : 1;
      pen.rect(x, y, cell - gap, cell - gap, css(rgb), alpha);
      if (cell >= 26) pen.text(inCell(value, shares), x + (cell - 1) / 2, y + cell / 2,
        { size: cell >= 32 ? 11 : 10, align: "center", fill: readable(rgb), alpha });
    }
  }
  pen.frame(left - 0.5, top - 0.5, columns.length * cell, rows.length * cell, ink.line);
}

function inCell(value, shares) {
  if (!shares) return Math.abs(value) < 0.005 ? "0" : value.toFixed(Math.abs(value) < 9.995 ? 2 : 1);
  return value >= 0.995 ? "1" : value < 0.005 ? "0" : value.toFixed(2).slice(1);
}

// The row and column under a point of the canvas, or null.
function cellAt(box, { rows, columns }, x, y) {
  const column = Math.floor((x - box.left) / box.cell), row = Math.floor((y - box.top) / box.cell);
  return row >= 0 && row < rows.length && column >= 0 && column < columns.length ? { row, column } : null;
}
