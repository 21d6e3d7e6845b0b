// A map of weights drawn small: `values` are row by row, from 0 to 1; `labels` writes the words beside it, and cells
// shrink until all of it is `within` so many pixels.

function smallMap(canvas, { rows, columns, values }, { cell = 6, labels = false, row = null, within = Infinity } = {}) {
  const style = getComputedStyle(canvas), scale = window.devicePixelRatio || 1, context = canvas.getContext("2d");
  const font = "12px " + style.fontFamily;
  context.font = font;
  const widest = (names) => Math.ceil(names.reduce((width, name) => Math.max(width, context.measureText(name).width), 0));
  const left = labels ? widest(rows) + 8 : 0, top = labels ? Math.ceil(widest(columns) * 0.72) + 14 : 0, spare = labels ? 30 : 0;
  if (within < Infinity) cell = Math.max(8, Math.min(cell, Math.floor((within - left - spare) / columns.length)));
  const width = left + columns.length * cell + spare, height = top + rows.length * cell;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  context.scale(scale, scale);
  const colour = (name) => style.getPropertyValue(name).trim();
  context.fillStyle = colour("--page");
  context.fillRect(left, top, columns.length * cell, rows.length * cell);
  context.fillStyle = colour("--accent");
  values.forEach((value, i) => {
    context.globalAlpha = Math.min(value, 1);
    context.fillRect(left + (i % columns.length) * cell, top + Math.floor(i / columns.length) * cell, cell, cell);
  });
  context.globalAlpha = 1;
  if (labels) {
    context.font = font;
    rows.forEach((name, i) => {
      context.fillStyle = colour(i === row ? "--mark" : "--ink");
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(name, left - 6, top + (i + 0.5) * cell);
    });
    context.fillStyle = colour("--ink");
    context.textAlign = "left";
    columns.forEach((name, i) => {
      context.save();
      context.translate(left + (i + 0.5) * cell, top - 6);
      context.rotate(-Math.PI / 4);
      context.fillText(name, 0, 0);
      context.restore();
    });
  }
  if (row !== null) {
    context.strokeStyle = colour("--mark");
    context.lineWidth = 2;
    context.strokeRect(left + 1, top + row * cell + 1, columns.length * cell - 2, cell - 2);
  }
}
