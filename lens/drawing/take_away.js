// What a reader takes away, made in the browser: the drawing as PNG or SVG, the numbers of the map as CSV.

function save(name, content, type) {
  const link = make("a"), url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Nine digits tell any two float32 numbers apart.  A cell that is masked is empty.
function csvOf({ rows, columns, weight, masked, rowTitle, columnTitle, name }) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const safe = (text) => quoted(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);  // or a spreadsheet runs it
  const lines = rows.map(({ text }, r) => [safe(text),
    ...columns.map((_, c) => masked(r, c) ? "" : Number(weight(r, c).toPrecision(9)))].join(","));
  return [[quoted(`${name}. ${rowTitle}; ${columnTitle}`), ...columns.map(({ text }) => safe(text))].join(","), ...lines]
    .join("\r\n") + "\r\n";
}

// The drawing on its background, twice as fine as the screen shows it.
function pngOf(draw, { width, height }, background) {
  const canvas = make("canvas");
  Object.assign(canvas, { width: 2 * width, height: 2 * height });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  const pen = canvasPen(context);
  pen.rect(0, 0, width, height, background);
  draw(pen);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function svgOf(draw, { width, height }, background) {
  const pen = svgPen(width, height);
  pen.rect(0, 0, width, height, background);
  draw(pen);
  return new XMLSerializer().serializeToString(pen.svg);
}
