// Every map at a glance: a block for each kind, layers downwards, heads across.

// `choose(kind, layer, head)` is called for the one that is clicked.
function thumbnails(choose) {
  const node = make("div", "s2s-thumbs");
  let at = new Map();  // "kind layer head" -> button
  const key = (kind, layer, head) => `${kind} ${layer} ${head}`;
  roving(node, () => [...at.values()], () => Number(node.dataset.heads));

  // Draws all of them: after a new trace, view, scale, theme, or a change between pieces and words.
  function draw(maps, state, theme) {
    const view = maps.data.views[state.view];
    at = new Map();
    node.replaceChildren(...KINDS.filter((kind) => view.kinds[kind]?.layered).map((kind) => {
      const block = make("div", "s2s-block"), grid = make("div", "s2s-grid"), [layers, heads] = view.kinds[kind].shape;
      node.dataset.heads = heads;
      grid.style.setProperty("--heads", heads);
      for (let layer = 0; layer < layers; layer++)
        for (let head = 0; head < heads; head++) grid.append(thumbnail(maps, state, theme, kind, layer, head));
      block.append(make("h4", "", maps.data.kinds[kind].name), grid);
      return block;
    }));
    mark(state);
  }

  function thumbnail(maps, state, theme, kind, layer, head) {
    const picture = maps.picture({ ...state, kind, layer, head }), { full } = fullOf(picture, maps, state.scale);
    const one = button("", () => choose(kind, layer, head), "s2s-thumb"), canvas = make("canvas");
    paint(canvas, picture, full, theme);
    const [first, ...others] = maps.data.roles?.[kind]?.[`${layer}.${head}`] ?? [];
    const roles = first ? `. Measured: ${[first, ...others].map((role) => role.said).join("; ")}` : "";
    one.title = maps.nameOf({ ...state, kind, layer, head }) + roles;
    one.setAttribute("aria-label", one.title);
    one.append(canvas);
    if (first) one.append(make("span", "s2s-badge", first.role));
    at.set(key(kind, layer, head), one);
    return one;
  }

  // A pixel a cell; the browser enlarges it.
  function paint(canvas, { rows, columns, values, masked }, full, theme) {
    canvas.width = columns.length;
    canvas.height = rows.length;
    const context = canvas.getContext("2d"), image = context.createImageData(columns.length, rows.length);
    const pixels = new Uint32Array(image.data.buffer), table = pixelTable(theme), width = columns.length;
    for (let i = 0; i < pixels.length; i++) {
      const share = Math.max(-1, Math.min(1, values[i] / full));
      pixels[i] = masked(Math.floor(i / width), i % width) ? 0 : table[256 + Math.round(256 * share)];
    }
    context.putImageData(image, 0, 0);
  }

  function mark({ kind, layer, head }) {
    const chosen = at.get(key(kind, layer, head));
    for (const one of at.values()) {
      one.setAttribute("aria-pressed", one === chosen);
      one.tabIndex = one === (chosen ?? at.values().next().value) ? 0 : -1;
    }
  }

  return { node, draw, mark, focus: ({ kind, layer, head }) => at.get(key(kind, layer, head))?.focus() };
}
