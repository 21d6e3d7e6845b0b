// The one drawing of attention maps: `attentionMap(root).show(data)`, data as `seq2see.lens.show.view_data` makes it.
// Nothing is fetched, nothing is renormalised, and text reaches the page only as textContent or canvas text.

function attentionMap(root) {
  "use strict";
  // Single-hue ramps whose lightness changes evenly, so that no reader needs to tell colours apart.
  const RAMPS = {
    light: [[250, 251, 253], [205, 223, 243], [139, 185, 226], [72, 137, 203], [28, 87, 158], [8, 40, 84]],
    dark: [[24, 32, 43], [24, 62, 99], [29, 103, 155], [60, 150, 205], [141, 203, 238], [236, 248, 255]],
  };
  const FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const KINDS = ["cross", "encoder", "decoder"];
  const state = { kind: "cross", layer: 0, head: 0, scale: "one", rows: "predicts", row: 0, column: 0, touched: false };
  let data = null, weights = {}, ui = null, box = null;

  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const four = (p) => p.toFixed(4);
  const percent = (p) => p > 0 && p < 0.0005 ? "<0.1%" : p < 1 && p >= 0.9995 ? ">99.9%"
    : (p * 100).toFixed(p < 0.1 || p >= 0.995 ? 1 : 0) + "%";

  // --- what is shown: the current kind and head
  const kind = () => data.kinds[state.kind];
  const rowNames = () => state.kind === "encoder" ? data.source : state.rows === "reads" ? data.inputs : data.target;
  const columnNames = () => state.kind === "decoder" ? data.inputs : data.source;
  const masked = (r, c) => state.kind === "decoder" && c > r;
  function head(layer, which) {
    const [, heads, rows, columns] = kind().shape;
    const from = (layer * heads + which) * rows * columns;
    return weights[state.kind].subarray(from, from + rows * columns);
  }
  const weight = (r, c) => head(state.layer, state.head)[r * kind().shape[3] + c] / 65535;
  const largest = (map) => map.reduce((a, b) => Math.max(a, b), 1) / 65535;
  const top = (map) => state.scale === "one" ? 1 : largest(map);

  function decode(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true));
  }

  // --- colour
  const isDark = () => root.closest(".s2s-page") ? matchMedia("(prefers-color-scheme: dark)").matches
    : Boolean(root.closest(".dark")) || document.body.classList.contains("dark");
  function colour(share) {
    const ramp = RAMPS[root.dataset.theme];
    const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
    return ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (at - low)));
  }
  const css = (rgb) => `rgb(${rgb.join(",")})`;
  const readable = (rgb) => (0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]) > 140 ? "#10151c" : "#ffffff";
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // --- building the page once
  function choice(legend, options, get, set) {
    const group = make("fieldset", "s2s-group"), row = make("span", "s2s-choice"), name = "s2s" + Math.random();
    group.append(make("legend", "", legend), row);
    for (const [value, text] of options) {
      const label = make("label", "", text), input = make("input");
      Object.assign(input, { type: "radio", name, value });
      input.addEventListener("change", () => { set(value); update(); });
      label.append(input);
      row.append(label);
    }
    group.refresh = () => row.querySelectorAll("input").forEach((input) => { input.checked = input.value === get(); });
    return group;
  }
  function selector(legend, count, get, set) {
    const group = make("label", "s2s-group"), list = make("select");
    group.append(make("span", "", legend), list);
    list.addEventListener("change", () => { set(list.selectedIndex); update(); });
    group.refresh = () => {
      if (list.length !== count()) list.replaceChildren(...Array.from({ length: count() }, (_, i) => make("option", "", i)));
      list.selectedIndex = get();
    };
    return group;
  }
  function card(caption) {
    const node = make("section", "s2s-card");
    if (caption) node.append(make("h3", "s2s-cap", caption));
    return node;
  }
  function build() {
    ui = {};
    const texts = make("div", "s2s-texts"), bar = make("div", "s2s-bar"), main = make("div", "s2s-main");
    for (const [side, caption] of [["source", "Source"], ["target", "Translation, with the probability of each piece"]]) {
      const section = card(caption);
      section.append(ui[side] = make("div", "s2s-pieces"));
      if (side === "source") section.append(ui.unseen = make("p", "s2s-unseen"));
      texts.append(section);
    }
    ui.controls = [
      choice("", KINDS.map((name) => [name, data.kinds[name].name]), () => state.kind, (value) => { state.kind = value; }),
      selector("Layer", () => kind().shape[0], () => state.layer, (i) => { state.layer = i; }),
      selector("Head", () => kind().shape[1], () => state.head, (i) => { state.head = i; }),
      choice("Colours", [["one", "0 to 1"], ["map", "this map"]], () => state.scale, (value) => { state.scale = value; }),
      ui.rowChoice = choice("A row", [["predicts", "predicts"], ["reads", "reads"]], () => state.rows, (value) => { state.rows = value; }),
    ];
    bar.append(...ui.controls);
    const map = card(), side = make("div", "s2s-side"), overview = card("Every layer and head"), next = card();
    ui.about = make("p", "s2s-about"), ui.axis = make("p", "s2s-axis"), ui.scroll = make("div", "s2s-scroll");
    ui.canvas = make("canvas"), ui.tip = make("div", "s2s-tip"), ui.read = make("p", "s2s-read"), ui.live = make("div", "s2s-hidden");
    ui.legend = make("div", "s2s-scale"), ui.note = make("p", "s2s-note"), ui.thumbs = make("div", "s2s-thumbs");
    ui.nextTitle = make("h3", "s2s-cap"), ui.next = make("ul", "s2s-next"), ui.facts = make("p", "s2s-note");
    ui.canvas.tabIndex = 0;
    ui.canvas.setAttribute("role", "img");
    ui.live.setAttribute("aria-live", "polite");
    ui.tip.hidden = true;
    ui.scroll.append(ui.canvas, ui.tip);
    ui.details = make("details");
    ui.table = make("div", "s2s-table");
    ui.details.append(make("summary", "", "The numbers of this map as a table"), ui.table);
    ui.details.addEventListener("toggle", drawTable);
    map.append(ui.about, ui.axis, ui.scroll, ui.read, ui.live, ui.legend, ui.note, ui.details);
    overview.append(ui.thumbs, make("p", "s2s-note", "Layers downwards, heads across, both counted from 0. Choose one to enlarge it. A piece that begins with · continues a word."));
    next.append(ui.nextTitle, ui.next);
    side.append(overview, next);
    main.append(map, side);
    root.replaceChildren(texts, bar, main, ui.facts);
    listen();
  }
  function listen() {
    ui.canvas.addEventListener("pointermove", point);
    ui.canvas.addEventListener("pointerdown", point);
    ui.canvas.addEventListener("pointerleave", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("blur", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("keydown", (event) => {
      const [, , rows, columns] = kind().shape;
      const to = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -columns], End: [0, columns],
        PageUp: [-rows, 0], PageDown: [rows, 0] }[event.key];
      if (!to) return;
      event.preventDefault();
      select(state.touched ? state.row + to[0] : state.row, state.touched ? state.column + to[1] : state.column);
      ui.live.textContent = ui.read.textContent;
    });
  }

  // --- choosing a cell
  function select(row, column) {
    const [, , rows, columns] = kind().shape;
    state.row = Math.min(Math.max(row, 0), rows - 1);
    state.column = Math.min(Math.max(column, 0), columns - 1);
    state.touched = true;
    drawMap();
    drawPieces();
    drawReading();
  }
  function point(event) {
    const at = ui.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - at.left - box.left) / box.cell), row = Math.floor((event.clientY - at.top - box.top) / box.cell);
    const [, , rows, columns] = kind().shape;
    if (row >= 0 && row < rows && column < columns && column >= 0) select(row, column);
    else ui.tip.hidden = true;
  }

  // --- drawing
  function update() {
    root.dataset.theme = isDark() ? "dark" : "light";
    const [layers, heads, rows, columns] = kind().shape;
    state.layer = Math.min(state.layer, layers - 1);
    state.head = Math.min(state.head, heads - 1);
    state.row = Math.min(state.row, rows - 1);
    state.column = Math.min(state.column, columns - 1);
    ui.controls.forEach((control) => control.refresh());
    ui.rowChoice.style.display = state.kind === "encoder" ? "none" : "";
    const name = make("b", "", `${kind().name}, layer ${state.layer}, head ${state.head}`);
    ui.about.replaceChildren(name, `: ${kind().about}.`);
    ui.axis.textContent = `${kind().row_titles[state.rows]}; ${kind().column_title}`;
    ui.facts.textContent = data.facts;
    ui.unseen.hidden = !data.unseen.length;
    ui.unseen.textContent = `Never seen in training: ${data.unseen.join(", ")}. The model has learnt nothing about `
      + `${data.unseen.length > 1 ? "these words" : "this word"}; what it writes for ${data.unseen.length > 1 ? "them" : "it"} is a guess.`;
    const [end, tags, punctuation] = kind().shares[state.layer][state.head];
    ui.note.textContent = `Every row sums to 1. Of this head's attention, ${percent(end)} is on the closing </s>, ${percent(tags)} on tags and the start, and `
      + `${percent(punctuation)} on punctuation. It shows where the head looked, not why the model chose its words.`;
    ui.tip.hidden = true;
    drawMap();
    drawPieces();
    drawReading();
    drawLegend();
    drawThumbs();
    drawTable();
  }
  function sized(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  }
  function short(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    const letters = Array.from(text);
    while (letters.length > 1 && context.measureText(letters.join("") + "…").width > width) letters.pop();
    return letters.join("") + "…";
  }
  function drawMap() {
    const [, , rows, columns] = kind().shape, names = rowNames(), across = columnNames();
    let context = ui.canvas.getContext("2d");
    context.font = `13px ${FONT}`;
    // As wide as fits, but not so tall that the map leaves the screen; where columns are narrow the letters shrink too.
    const widest = (list, limit) => Math.min(limit, Math.max(...list.map((name) => context.measureText(name).width)));
    const left = Math.ceil(widest(names, 120)) + 10, up = widest(across, 110);
    const slant = Math.ceil(up * 0.71), lean = Math.ceil(Math.min(up, context.measureText(across[columns - 1]).width) * 0.71);
    const cell = Math.max(14, Math.min(40, Math.max(20, Math.floor(600 / rows)), Math.floor((ui.scroll.clientWidth - left - lean - 8) / columns)));
    box = { left, top: slant + 16, cell, font: cell < 18 ? 11 : 13 };
    context = sized(ui.canvas, left + columns * cell + lean + 8, box.top + rows * cell + 3);
    const map = head(state.layer, state.head), full = top(map);
    drawNames(context, names, across);
    context.textBaseline = "middle";
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        const x = left + c * cell, y = box.top + r * cell;
        if (masked(r, c)) {
          context.fillStyle = ink("--line");
          context.fillRect(x + cell / 2 - 1, y + cell / 2 - 1, 2, 2);
          continue;
        }
        const value = map[r * columns + c] / 65535, rgb = colour(value / full);
        context.fillStyle = css(rgb);
        context.fillRect(x, y, cell - 1, cell - 1);
        if (cell >= 26) {
          context.font = `${cell >= 32 ? 11 : 10}px ${FONT}`;
          context.textAlign = "center";
          context.fillStyle = readable(rgb);
          context.fillText(value >= 0.995 ? "1" : value < 0.005 ? "0" : value.toFixed(2).slice(1), x + (cell - 1) / 2, y + cell / 2);
        }
      }
    }
    context.strokeStyle = ink("--line");
    context.strokeRect(left - 0.5, box.top - 0.5, columns * cell, rows * cell);
    if (state.touched) {
      context.strokeStyle = ink("--mark");
      context.lineWidth = 2;
      context.strokeRect(left + state.column * cell - 1, box.top + state.row * cell - 1, cell + 1, cell + 1);
    }
    ui.canvas.setAttribute("aria-label", `Heat map, ${rows} rows by ${columns} columns, ${kind().name} layer ${state.layer} head `
      + `${state.head}. ${kind().row_titles[state.rows]}; ${kind().column_title}. Arrow keys read it cell by cell.`);
  }
  function drawNames(context, names, across) {
    const { left, top: above, cell } = box;
    context.textBaseline = "middle";
    const style = (on) => {
      context.font = `${on ? "600 " : ""}${box.font}px ${FONT}`;
      context.fillStyle = on ? ink("--mark") : ink("--ink");
    };
    context.textAlign = "right";
    names.forEach((name, r) => {
      style(state.touched && r === state.row);
      context.fillText(short(context, name, left - 8), left - 6, above + r * cell + cell / 2);
    });
    context.textAlign = "left";
    across.forEach((name, c) => {
      style(state.touched && c === state.column);
      context.save();
      context.translate(left + c * cell + cell / 2, above - 8);
      context.rotate(-Math.PI / 4);
      context.fillText(short(context, name, 112), 0, 0);
      context.restore();
    });
  }
  function drawReading() {
    const r = state.row, c = state.column;
    const step = `step ${r}, which reads “${data.inputs[r]}” and predicts “${data.target[r]}”,`;
    if (!state.touched) {
      ui.read.textContent = "Point at a cell, or focus the map and use the arrow keys.";
    } else if (masked(r, c)) {
      ui.read.textContent = `Masked: ${step} cannot look at “${data.inputs[c]}”, which comes later.`;
    } else {
      const who = state.kind === "encoder" ? `source piece ${r}, “${data.source[r]}”,` : step;
      ui.read.textContent = `${four(weight(r, c))}: ${who} gives this share of its attention to “${columnNames()[c]}” (column ${c}).`;
    }
    if (state.touched) {
      ui.tip.hidden = false;
      ui.tip.textContent = masked(r, c) ? "masked" : four(weight(r, c));
      const right = box.left + (state.column + 1) * box.cell + 6, width = ui.tip.offsetWidth;
      const x = right + width > ui.scroll.scrollLeft + ui.scroll.clientWidth ? box.left + state.column * box.cell - width - 6 : right;
      ui.tip.style.left = x + "px";
      ui.tip.style.top = box.top + (state.row + 0.5) * box.cell - ui.tip.offsetHeight / 2 + "px";
    }
    drawCandidates();
  }
  function drawCandidates() {
    const step = state.kind === "encoder" || !state.touched ? -1 : state.row;
    ui.nextTitle.textContent = step < 0 ? "Candidates of a step" : `Step ${step}: most probable pieces`;
    if (step < 0) {
      ui.next.replaceChildren(make("li", "", "Choose a row of the cross-attention or decoder map."));
      ui.next.firstChild.style.display = "block";
      return;
    }
    const rows = data.candidates[step].slice();
    if (!rows.some((candidate) => candidate[2])) rows.push([data.target[step], data.probabilities[step], true]);
    ui.next.replaceChildren(...rows.map(([text, p, chosen]) => {
      const line = make("li"), track = make("span"), fill = make("i");
      if (chosen) line.dataset.on = "";
      fill.style.width = p * 100 + "%";
      track.append(fill);
      line.append(make("span", "", text), track, make("span", "", percent(p)));
      line.title = chosen ? (step < data.given ? "given, not chosen" : "chosen") : "";
      return line;
    }));
  }
  function drawPieces() {
    const full = top(head(state.layer, state.head)), tinted = state.kind === "decoder" ? "target" : "source";
    for (const side of ["source", "target"]) {
      const names = data[side];
      if (ui[side].childElementCount !== names.length) fillPieces(side, names);
      const isRow = side === (state.kind === "encoder" ? "source" : "target");
      ui[side].childNodes.forEach((node, i) => {
        // In the decoder map column c is the input of step c, which is the piece that step c - 1 predicted.
        const column = state.kind === "decoder" ? i + 1 : i;
        const visible = state.touched && side === tinted && column < kind().shape[3] && !masked(state.row, column);
        const rgb = visible ? colour(weight(state.row, column) / full) : null;
        node.style.background = rgb ? css(rgb) : "";
        node.style.color = rgb ? readable(rgb) : "";
        node.toggleAttribute("data-on", state.touched && isRow && i === state.row);
      });
    }
  }
  function fillPieces(side, names) {
    ui[side].replaceChildren(...names.map((name, i) => {
      const node = make("span", "s2s-piece");
      if (side === "source" && data.unseen_pieces[i]) {
        node.dataset.unseen = "";
        node.title = "never seen in training";
      }
      node.append(make("b", "", name));
      if (side === "target") node.append(make("small", "", i < data.given ? "given" : percent(data.probabilities[i])));
      const choose = () => {
        if (side === "target" && state.kind !== "encoder") select(i, state.column);
        else if (side === "source" && state.kind === "encoder") select(i, state.column);
        else if (side === "source" && state.kind === "cross") select(state.row, i);
      };
      node.addEventListener("pointerenter", choose);
      node.addEventListener("click", choose);
      return node;
    }));
  }
  function drawLegend() {
    const canvas = make("canvas"), context = sized(canvas, 160, 10), full = top(head(state.layer, state.head));
    for (let x = 0; x < 160; x++) {
      context.fillStyle = css(colour(x / 159));
      context.fillRect(x, 0, 1, 10);
    }
    const meaning = state.scale === "one" ? "(the whole range)" : "(the largest weight of this map)";
    const most = state.scale === "one" ? ` · largest here ${four(largest(head(state.layer, state.head)))}` : "";
    ui.legend.replaceChildren("0", canvas, `${state.scale === "one" ? 1 : four(full)} ${meaning}${most}`);
  }
  function drawThumbs() {
    const [layers, heads, rows, columns] = kind().shape;
    ui.thumbs.style.gridTemplateColumns = `repeat(${heads}, minmax(22px, 56px))`;
    const buttons = [];
    for (let layer = 0; layer < layers; layer++) {
      for (let which = 0; which < heads; which++) {
        const button = make("button"), canvas = make("canvas"), map = head(layer, which), full = top(map);
        canvas.width = columns;
        canvas.height = rows;
        const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
        map.forEach((value, i) => image.data.set([...colour(value / 65535 / full), 255], 4 * i));
        context.putImageData(image, 0, 0);
        button.type = "button";
        button.title = `Layer ${layer}, head ${which}`;
        button.setAttribute("aria-label", button.title);
        button.setAttribute("aria-pressed", layer === state.layer && which === state.head);
        button.append(canvas);
        button.addEventListener("click", () => {
          [state.layer, state.head] = [layer, which];
          update();
          ui.thumbs.children[layer * heads + which].focus();
        });
        buttons.push(button);
      }
    }
    ui.thumbs.replaceChildren(...buttons);
  }
  function drawTable() {
    if (!ui.details.open) return ui.table.replaceChildren();
    const table = make("table"), [, , rows, columns] = kind().shape, line = make("tr");
    table.append(make("caption", "s2s-hidden", `${kind().row_titles[state.rows]}; ${kind().column_title}`), line);
    line.append(make("th", "", ""), ...columnNames().map((name) => Object.assign(make("th", "", name), { scope: "col" })));
    for (let r = 0; r < rows; r++) {
      const row = make("tr");
      row.append(Object.assign(make("th", "", rowNames()[r]), { scope: "row" }));
      for (let c = 0; c < columns; c++) row.append(make("td", "", masked(r, c) ? "masked" : four(weight(r, c))));
      table.append(row);
    }
    ui.table.replaceChildren(table);
  }

  // --- the outside: a new trace, a new size, a new theme
  function show(next) {
    data = next;
    if (!data) {
      ui = null;
      return root.replaceChildren();
    }
    weights = Object.fromEntries(KINDS.map((name) => [name, decode(data.kinds[name].weights)]));
    Object.assign(state, { row: 0, column: 0, touched: false });
    if (!ui) {
      state.layer = data.kinds.cross.shape[0] - 1;
      build();
    }
    ui.source.replaceChildren();
    ui.target.replaceChildren();
    update();
  }
  let width = 0;
  new ResizeObserver(() => {
    if (ui && root.clientWidth !== width) {
      width = root.clientWidth;
      update();
    }
  }).observe(root);
  new MutationObserver(() => ui && update()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => ui && update());
  return { show };
}
