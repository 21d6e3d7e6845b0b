// Two translations side by side, and small maps of the same head for each.

const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(3);

function side(title, stretches, numbers) {
  const node = make("div", "s2s-sideof");
  node.append(make("h5", "", title), marked(stretches), make("p", "s2s-number", numbers));
  return node;
}

// A small map of another trace, of the kind, layer and head on the screen as far as it has them.
function smallMap(host, data) {
  const { kind, layer, head, words, rows, scale } = host.state, maps = traceMaps(data);
  const [layers, heads] = maps.of("raw", kind).shape;
  const picture = maps.picture({ view: "raw", kind, layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1), words, rows });
  const box = heatmapBox(picture, 300, { most: 18 }), canvas = make("canvas"), place = make("div", "s2s-small");
  const context = sized(canvas, box.width, box.height), { full } = fullOf(picture, maps, scale);
  drawHeatmap(canvasPen(context), picture, box, { full, theme: host.theme, shares: true, dim: host.state.dim, ink: host.colours() });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Heat map, ${picture.name}. ${picture.rowTitle}; ${picture.columnTitle}`);
  canvas.addEventListener("pointermove", (event) => {
    const at = canvas.getBoundingClientRect(), cell = cellAt(box, picture, event.clientX - at.left, event.clientY - at.top);
    canvas.title = cell ? `${picture.rows[cell.row].text} → ${picture.columns[cell.column].text}: `
      + four(picture.weight(cell.row, cell.column)) : "";
  });
  const details = make("details"), table = make("div", "s2s-table");
  table.tabIndex = 0;
  details.append(make("summary", "", `${picture.name}: as a table`), table);
  details.addEventListener("toggle", () => table.replaceChildren(...(details.open ? [numberTable(picture.name,
    picture.columns.map(({ text }) => text), picture.rows.map(({ text }, r) => [text,
      ...picture.columns.map((_, c) => picture.masked(r, c) ? "masked" : four(picture.weight(r, c)))]))] : [])));
  place.append(canvas, details);
  return place;
}
