// The one drawing of attention maps: `attentionMap(root).show(data)`, data as `seq2see.lens.show.view_data` makes it.
// Nothing is fetched, nothing is renormalised, and text reaches the page only as textContent or canvas text.

function attentionMap(root) {
  "use strict";
  // Single-hue ramps whose lightness changes evenly, so that no reader needs to tell colours apart.
  const RAMPS = {
    light: [[250, 251, 253], [205, 223, 243], [139, 185, 226], [72, 137, 203], [28, 87, 158], [8, 40, 84]],
    dark: [[24, 32, 43], [24, 62, 99], [29, 103, 155], [60, 150, 205], [141, 203, 238], [236, 248, 255]],
  };
  const BELOW_0 = {  // another hue
    light: [[250, 251, 253], [246, 220, 196], [231, 171, 122], [207, 122, 53]],
    dark: [[24, 32, 43], [84, 52, 24], [158, 96, 42], [236, 168, 98]],
  };
  const FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const KINDS = ["cross", "encoder", "decoder"];
  const state = { view: "raw", kind: "cross", layer: 0, head: 0, scale: "one", rows: "predicts", words: false, dim: false,
    row: 0, column: 0, by: "cell", touched: false };
  let data = null, weights = {}, ui = null, box = null, drawn = {};

  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const four = (p) => p.toFixed(4).replace(/^-0\.0000$/, "0.0000");
  const percent = (p) => p > 0 && p < 0.0005 ? "<0.1%" : p < 1 && p >= 0.9995 ? ">99.9%"
    : (p * 100).toFixed(p < 0.1 || p >= 0.995 ? 1 : 0) + "%";

  // --- what is shown: the current view, kind, layer and head
  const view = () => data.views[state.view];
  const maps = () => view().kinds[state.kind];
  const shares = () => view().of_shares;  // of 1 at most
  const lone = () => state.view === "left_out";  // one map, whose columns are words
  const way = () => state.words ? "words" : "pieces";
  const rowSide = () => state.kind === "encoder" ? "source" : state.rows === "reads" && !lone() ? "inputs" : "target";
  const columnSide = () => state.kind === "decoder" ? "inputs" : "source";
  const alone = (names, special) => names.map((text, i) => ({ text, pieces: [i], special: special[i], word: null }));
  const unitsOf = (side) => state.words ? data.words[side] : alone(data[side], data.special[side]);
  const rowUnits = () => unitsOf(rowSide());
  const columnUnits = () => lone() ? alone(data.source_words, data.source_words.map(() => false)) : unitsOf(columnSide());
  const rowTitle = () => lone() ? view().row_titles[way()] : data.kinds[state.kind].row_titles[way()][state.rows];
  const columnTitle = () => lone() ? view().column_title : data.kinds[state.kind].column_titles[way()];
  const masked = (r, c) => state.kind === "decoder" && drawn.columns[c].pieces[0] > drawn.rows[r].pieces.at(-1);
  const named = (layer, head) => lone() ? view().name : data.kinds[state.kind].name + (maps().layered ? `, layer ${layer}` : "")
    + (maps().headed ? `, head ${head}` : "") + (state.view === "raw" ? "" : `, view ${state.view}`);

  // What a word receives is the sum over its pieces; what it gives is the mean, of log-probabilities the sum.
  function map(layer, head) {
    const [, heads, rows, columns] = maps().shape;
    const from = (layer * heads + head) * rows * columns, packed = weights[state.view][state.kind];
    const piece = (r, c) => packed[from + r * columns + c];
    if (!state.words) return Float64Array.from({ length: rows * columns }, (_, i) => piece(Math.floor(i / columns), i % columns));
    const values = [];
    for (const row of rowUnits()) {
      for (const column of columnUnits()) {
        let sum = 0;
        for (const r of row.pieces) for (const c of column.pieces) sum += piece(r, c);
        values.push(lone() ? sum : sum / row.pieces.length);
      }
    }
    return Float64Array.from(values);
  }
  // The map on the screen, made once for each choice.
  function choose() {
    drawn = { rows: rowUnits(), columns: columnUnits(), values: map(state.layer, state.head) };
    drawn.least = drawn.values.reduce((a, b) => Math.min(a, b), 0);
    drawn.most = drawn.values.reduce((a, b) => Math.max(a, b), 1e-6);
    drawn.full = lone() ? Math.max(drawn.most, -drawn.least) : state.scale === "map" ? drawn.most
      : shares() ? 1 : Math.max(drawn.most, maps().largest);
  }
  const weight = (r, c) => drawn.values[r * drawn.columns.length + c];

  // Shares come as 16-bit fractions of 1, what can be more as 32-bit numbers.
  function decode(text, ofShares) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), packed = new DataView(bytes.buffer);
    return ofShares ? Float32Array.from({ length: bytes.length / 2 }, (_, i) => packed.getUint16(2 * i, true) / 65535)
      : Float32Array.from({ length: bytes.length / 4 }, (_, i) => packed.getFloat32(4 * i, true));
  }

  // --- colour
  const isDark = () => root.closest(".s2s-page") ? matchMedia("(prefers-color-scheme: dark)").matches
    : Boolean(root.closest(".dark")) || document.body.classList.contains("dark");
  function colour(share) {
    const ramp = (share < 0 ? BELOW_0 : RAMPS)[root.dataset.theme];
    const at = Math.min(Math.abs(share), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
    return ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (at - low)));
  }
  const css = (rgb) => `rgb(${rgb.join(",")})`;
  const readable = (rgb) => (0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]) > 140 ? "#10151c" : "#ffffff";
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // --- building the page once
  function choice(legend, options, get, set) {
    const group = make("fieldset", "s2s-group"), row = make("span", "s2s-choice"), name = "s2s" + Math.random();
    group.append(...(legend ? [make("legend", "", legend)] : []), row);
    group.setAttribute("aria-label", legend || "Attention");
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
  function selector(legend, texts, get, set) {
    const group = make("label", "s2s-group"), list = make("select");
    group.append(make("span", "", legend), list);
    list.setAttribute("aria-label", legend);
    list.addEventListener("change", () => { set(list.selectedIndex); update(); });
    group.refresh = () => {
      list.replaceChildren(...texts().map((text) => make("option", "", text)));
      list.selectedIndex = get();
    };
    return group;
  }
  function tick(text, get, set) {
    const label = make("label", "s2s-group s2s-tick"), input = make("input");
    input.type = "checkbox";
    input.addEventListener("change", () => { set(input.checked); update(); });
    label.append(input, text);
    label.refresh = () => { input.checked = get(); };
    return label;
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
    const kinds = choice("", KINDS.map((name) => [name, data.kinds[name].name]), () => state.kind, (value) => { state.kind = value; });
    const count = (axis) => Array.from({ length: maps().shape[axis] }, (_, i) => String(i));
    ui.kinds = kinds;
    ui.views = selector("View", () => Object.keys(data.views), () => Object.keys(data.views).indexOf(state.view), chooseView);
    ui.layers = selector("Layer", () => count(0), () => state.layer, (i) => { state.layer = i; });
    ui.heads = selector("Head", () => count(1), () => state.head, (i) => { state.head = i; });
    ui.rowChoice = choice("A row", [["predicts", "predicts"], ["reads", "reads"]], () => state.rows, (value) => { state.rows = value; });
    ui.scale = choice("Colours", [["one", "0 to 1"], ["map", "this map"]], () => state.scale, (value) => { state.scale = value; });
    ui.controls = [kinds, ui.views, ui.layers, ui.heads, ui.rowChoice,
      choice("By", [["pieces", "pieces"], ["words", "words"]], way, (value) => { state.words = value === "words"; state.touched = false; }),
      ui.scale, tick("Dim special pieces", () => state.dim, (on) => { state.dim = on; })];
    bar.append(...ui.controls);
    const map = card(), side = make("div", "s2s-side"), next = card();
    ui.overview = card(" ");
    ui.about = make("p", "s2s-about"), ui.axis = make("p", "s2s-axis"), ui.scroll = make("div", "s2s-scroll");
    ui.canvas = make("canvas"), ui.tip = make("div", "s2s-tip"), ui.read = make("p", "s2s-read"), ui.live = make("div", "s2s-hidden");
    ui.legend = make("div", "s2s-scale"), ui.note = make("p", "s2s-note"), ui.trust = make("p", "s2s-trust"), ui.thumbs = make("div", "s2s-thumbs");
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
    map.append(ui.about, ui.axis, ui.scroll, ui.read, ui.live, ui.trust, ui.legend, ui.note, ui.details);
    ui.overview.append(ui.thumbs, ui.counted = make("p", "s2s-note"));
    next.append(ui.nextTitle, ui.next);
    side.append(ui.overview, next);
    main.append(map, side);
    root.replaceChildren(texts, bar, main, ui.facts);
    listen();
  }
  function chooseView(i) {
    state.view = Object.keys(data.views)[i];
    if (!maps()) state.kind = "cross";
    state.touched = false;
  }
  function listen() {
    ui.canvas.addEventListener("pointermove", point);
    ui.canvas.addEventListener("pointerdown", point);
    ui.canvas.addEventListener("pointerleave", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("blur", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("keydown", (event) => {
      const rows = drawn.rows.length, columns = drawn.columns.length;
      const to = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -columns], End: [0, columns],
        PageUp: [-rows, 0], PageDown: [rows, 0] }[event.key];
      if (!to) return;
      event.preventDefault();
      select(state.touched ? state.row + to[0] : state.row, state.touched ? state.column + to[1] : state.column);
      ui.live.textContent = ui.read.textContent;
    });
    for (const side of ["source", "target"]) ui[side].addEventListener("keydown", (event) => {
      const chips = Array.from(ui[side].children), at = chips.indexOf(event.target);
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: chips.length - 1 }[event.key];
      if (to === undefined || !chips[to]) return;
      event.preventDefault();
      chips.forEach((chip, i) => { chip.tabIndex = i === to ? 0 : -1; });
      chips[to].focus();
      ui.live.textContent = ui.read.textContent;
    });
  }

  // --- choosing a cell
  // `by`: a cell was chosen, or a whole row or column of the map, as the pieces above it do.
  function select(row, column, by = "cell") {
    state.row = Math.min(Math.max(row, 0), drawn.rows.length - 1);
    state.column = Math.min(Math.max(column, 0), drawn.columns.length - 1);
    Object.assign(state, { by, touched: true });
    drawMap();
    drawPieces();
    drawReading();
  }
  // Which row and which column of the map a piece or word above it stands for, if any.
  function rowOf(side, i) {
    if (side !== (state.kind === "encoder" ? "source" : "target")) return null;
    const row = rowSide() === "inputs" ? i + 1 : i;  // what step i predicts, step i + 1 reads
    return row < drawn.rows.length ? row : null;
  }
  function columnOf(side, i) {
    if (side !== (state.kind === "decoder" ? "target" : "source")) return null;
    if (lone()) return state.words ? data.words.source[i].word : data.word_of_piece[i];
    const column = state.kind === "decoder" ? i + 1 : i;
    return column < drawn.columns.length ? column : null;
  }
  function point(event) {
    const at = ui.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - at.left - box.left) / box.cell), row = Math.floor((event.clientY - at.top - box.top) / box.cell);
    if (row >= 0 && row < drawn.rows.length && column < drawn.columns.length && column >= 0) select(row, column);
    else ui.tip.hidden = true;
  }

  // --- drawing
  function update() {
    root.dataset.theme = isDark() ? "dark" : "light";
    const [layers, heads] = maps().shape;
    state.layer = Math.min(state.layer, layers - 1);
    state.head = Math.min(state.head, heads - 1);
    choose();
    state.row = Math.min(state.row, drawn.rows.length - 1);
    state.column = Math.min(state.column, drawn.columns.length - 1);
    ui.controls.forEach((control) => control.refresh());
    ui.kinds.querySelectorAll("input").forEach((input) => { input.disabled = !view().kinds[input.value]; });
    const visible = [[ui.views, Object.keys(data.views).length > 1], [ui.layers, maps().layered], [ui.heads, maps().headed],
      [ui.rowChoice, state.kind !== "encoder" && !lone()], [ui.overview, maps().layered], [ui.scale, !lone()]];
    visible.forEach(([node, on]) => { node.style.display = on ? "" : "none"; });
    ui.scale.querySelector("label").firstChild.textContent = shares() ? "0 to 1" : "all maps";
    const about = state.view === "raw" ? data.kinds[state.kind].about : view().about;
    ui.about.replaceChildren(make("b", "", named(state.layer, state.head)), `: ${about}.`);
    ui.axis.textContent = `${rowTitle()}; ${columnTitle()}`;
    ui.facts.textContent = data.facts;
    ui.unseen.hidden = !data.unseen.length;
    ui.unseen.textContent = `Never seen in training: ${data.unseen.join(", ")}. The model has learnt nothing about `
      + `${data.unseen.length > 1 ? "these words" : "this word"}; what it writes for ${data.unseen.length > 1 ? "them" : "it"} is a guess.`;
    ui.note.textContent = `${maps().sums} ${sinks()}${state.dim ? "Special pieces are dimmed here, and counted in every number. " : ""}`
      + (state.view === "raw" ? "It shows where the head looked, not why the model chose its words." : "");
    const { trust } = maps();
    ui.trust.title = data.terms;
    ui.trust.replaceChildren(make("b", "", "Trust: "), typeof trust === "string" ? trust : trust[lone() ? "predicts" : state.rows][state.layer][state.head]);
    ui.overview.firstChild.textContent = maps().headed ? "Every layer and head" : "Every layer";
    ui.counted.textContent = (maps().headed ? "Layers downwards, heads across, both counted" : "Layers downwards, counted")
      + " from 0. Choose one to enlarge it. A piece that begins with · continues a word.";
    ui.tip.hidden = true;
    drawMap();
    drawPieces();
    drawReading();
    drawLegend();
    drawThumbs();
    drawTable();
  }
  function sinks() {
    if (!maps().sinks) return "";
    const [end, tags, punctuation] = maps().sinks[state.layer][state.head];
    return `Of ${state.view === "raw" ? "this head's attention" : "this map"}, ${percent(end)} is on the closing </s>, `
      + `${percent(tags)} on tags and the start, and ${percent(punctuation)} on punctuation. `;
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
    const rows = drawn.rows.length, columns = drawn.columns.length;
    const names = drawn.rows.map((unit) => unit.text), across = drawn.columns.map((unit) => unit.text);
    let context = ui.canvas.getContext("2d");
    context.font = `13px ${FONT}`;
    // As wide as fits, but not so tall that the map leaves the screen; where columns are narrow the letters shrink too.
    const widest = (list, limit) => Math.min(limit, Math.max(...list.map((name) => context.measureText(name).width)));
    const left = Math.ceil(widest(names, 120)) + 10, up = widest(across, 110);
    const slant = Math.ceil(up * 0.71), lean = Math.ceil(Math.min(up, context.measureText(across[columns - 1]).width) * 0.71);
    const cell = Math.max(14, Math.min(40, Math.max(20, Math.floor(600 / rows)), Math.floor((ui.scroll.clientWidth - left - lean - 8) / columns)));
    box = { left, top: slant + 16, cell, font: cell < 18 ? 11 : 13 };
    context = sized(ui.canvas, left + columns * cell + lean + 8, box.top + rows * cell + 3);
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
        const value = weight(r, c), rgb = colour(value / drawn.full);
        context.globalAlpha = state.dim && (drawn.rows[r].special || drawn.columns[c].special) ? 0.3 : 1;
        context.fillStyle = css(rgb);
        context.fillRect(x, y, cell - 1, cell - 1);
        if (cell >= 26) {
          context.font = `${cell >= 32 ? 11 : 10}px ${FONT}`;
          context.textAlign = "center";
          context.fillStyle = readable(rgb);
          context.fillText(inCell(value), x + (cell - 1) / 2, y + cell / 2);
        }
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = ink("--line");
    context.strokeRect(left - 0.5, box.top - 0.5, columns * cell, rows * cell);
    if (state.touched) {
      context.strokeStyle = ink("--mark");
      context.lineWidth = 2;
      const [r, height] = state.by === "column" ? [0, rows] : [state.row, 1], [c, across] = state.by === "row" ? [0, columns] : [state.column, 1];
      context.strokeRect(left + c * cell - 1, box.top + r * cell - 1, across * cell + 1, height * cell + 1);
    }
    ui.canvas.setAttribute("aria-label", `Heat map, ${rows} rows by ${columns} columns, ${named(state.layer, state.head)}. `
      + `${rowTitle()}; ${columnTitle()}. Arrow keys read it cell by cell.`);
  }
  function inCell(value) {
    if (!shares()) return Math.abs(value) < 0.005 ? "0" : value.toFixed(Math.abs(value) < 9.995 ? 2 : 1);
    return value >= 0.995 ? "1" : value < 0.005 ? "0" : value.toFixed(2).slice(1);
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
      style(state.touched && r === state.row && state.by !== "column");
      context.fillText(short(context, name, left - 8), left - 6, above + r * cell + cell / 2);
    });
    context.textAlign = "left";
    across.forEach((name, c) => {
      style(state.touched && c === state.column && state.by !== "row");
      context.save();
      context.translate(left + c * cell + cell / 2, above - 8);
      context.rotate(-Math.PI / 4);
      context.fillText(short(context, name, 112), 0, 0);
      context.restore();
    });
  }
  function who(r) {
    const { text, pieces } = drawn.rows[r];
    if (state.kind === "encoder") return state.words ? `source word “${text}” (the mean of its pieces)` : `source piece ${r}, “${text}”,`;
    if (lone()) return state.words ? `“${text}”, all its pieces together,` : `piece ${r}, “${text}”,`;
    if (!state.words) return `step ${r}, which reads “${data.inputs[r]}” and predicts “${data.target[r]}”,`;
    const verb = state.rows === "reads" ? "read" : "predict";
    return pieces.length > 1 ? `the mean of steps ${pieces[0]} to ${pieces.at(-1)}, which ${verb} “${text}”,` : `step ${pieces[0]}, which ${verb}s “${text}”,`;
  }
  // The three largest of the row or column that was chosen.
  function whole() {
    const row = state.by === "row", others = row ? drawn.columns : drawn.rows, own = row ? drawn.rows[state.row] : drawn.columns[state.column];
    const cells = others.map(({ text }, i) => [text, ...(row ? [state.row, i] : [i, state.column])]).filter(([, r, c]) => !masked(r, c));
    const best = cells.map(([text, r, c]) => [text, weight(r, c)]).sort((a, b) => b[1] - a[1]).slice(0, 3);
    return `Most in the ${row ? "row" : "column"} of “${own.text}”: ${best.map(([text, value]) => `“${text}” ${four(value)}`).join(", ")}.`;
  }
  function drawReading() {
    const r = state.row, c = state.column;
    if (!state.touched) {
      ui.read.textContent = "Point at a cell or a word, or focus the map and use the arrow keys.";
    } else if (state.by !== "cell") {
      ui.read.textContent = whole();
    } else if (masked(r, c)) {
      ui.read.textContent = `Masked: ${who(r)} cannot look at “${drawn.columns[c].text}”, which comes later.`;
    } else {
      ui.read.textContent = `${four(weight(r, c))}: ${who(r)} ${view().reading} “${drawn.columns[c].text}” (column ${c}).`;
    }
    ui.tip.hidden = !state.touched || state.by !== "cell";
    if (!ui.tip.hidden) {
      ui.tip.textContent = masked(r, c) ? "masked" : four(weight(r, c));
      const right = box.left + (state.column + 1) * box.cell + 6, width = ui.tip.offsetWidth;
      const x = right + width > ui.scroll.scrollLeft + ui.scroll.clientWidth ? box.left + state.column * box.cell - width - 6 : right;
      ui.tip.style.left = x + "px";
      ui.tip.style.top = box.top + (state.row + 0.5) * box.cell - ui.tip.offsetHeight / 2 + "px";
    }
    drawCandidates();
  }
  function drawCandidates() {
    const step = state.kind === "encoder" || !state.touched || state.by === "column" ? -1 : drawn.rows[state.row].pieces[0];
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
    for (const side of ["source", "target"]) {
      const units = unitsOf(side), key = way() + units.length;
      if (ui[side].dataset.key !== key || !ui[side].childElementCount) fillPieces(side, units);
      ui[side].dataset.key = key;
      ui[side].childNodes.forEach((node, i) => {
        const row = rowOf(side, i), column = columnOf(side, i), rgb = state.touched ? tint(row, column) : null;
        node.style.background = rgb ? css(rgb) : "";
        node.style.color = rgb ? readable(rgb) : "";
        node.toggleAttribute("data-on", state.touched && (state.by === "column" ? column === state.column : row === state.row));
        node.toggleAttribute("data-dim", state.dim && units[i].special);
      });
    }
  }
  // The colour of a piece: its weight in the row that was chosen, or in the column.
  function tint(row, column) {
    const [r, c] = state.by === "column" ? [row, state.column] : [state.row, column];
    return r === null || c === null || masked(r, c) ? null : colour(weight(r, c) / drawn.full);
  }
  function fillPieces(side, units) {
    const probable = (unit) => unit.pieces.reduce((p, i) => p * data.probabilities[i], 1);
    ui[side].replaceChildren(...units.map((unit, i) => {
      const node = make("button", "s2s-piece");
      node.type = "button";
      node.tabIndex = i ? -1 : 0;
      if (side === "source" && unit.pieces.some((piece) => data.unseen_pieces[piece])) {
        node.dataset.unseen = "";
        node.title = "never seen in training";
      }
      node.append(make("b", "", unit.text));
      if (side === "target") node.append(make("small", "", unit.pieces[0] < data.given ? "given" : percent(probable(unit))));
      const choose = () => {
        const row = rowOf(side, i), column = columnOf(side, i);
        if (row !== null) select(row, state.column, "row");
        else if (column !== null) select(state.row, column, "column");
      };
      for (const event of ["pointerenter", "focus", "click"]) node.addEventListener(event, choose);
      return node;
    }));
  }
  function drawLegend() {
    const canvas = make("canvas"), context = sized(canvas, 160, 10), { least, most, full } = drawn;
    for (let x = 0; x < 160; x++) {
      context.fillStyle = css(colour((least + (full - least) * x / 159) / full));
      context.fillRect(x, 0, 1, 10);
    }
    const meaning = lone() ? "(the largest)" : state.scale === "map" ? "(the largest weight of this map)" : shares() ? "(the whole range)" : "(the largest of all maps)";
    const largest = state.scale === "one" && !lone() ? ` · largest here ${four(most)}` : "";
    ui.legend.replaceChildren(least < 0 ? four(least) : "0", canvas,
      `${state.scale === "one" && shares() ? 1 : four(full)} ${meaning}${largest} · a cell: ${view().cell}`);
  }
  function drawThumbs() {
    const [layers, heads] = maps().shape, rows = drawn.rows.length, columns = drawn.columns.length;
    ui.thumbs.style.gridTemplateColumns = `repeat(${heads}, minmax(22px, 56px))`;
    const buttons = [];
    for (let layer = 0; layer < layers; layer++) {
      for (let which = 0; which < heads; which++) {
        const button = make("button"), canvas = make("canvas"), values = map(layer, which);
        const full = state.scale === "map" ? values.reduce((a, b) => Math.max(a, b), 1e-6) : drawn.full;
        canvas.width = columns;
        canvas.height = rows;
        const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
        values.forEach((value, i) => image.data.set([...colour(value / full), 255], 4 * i));
        context.putImageData(image, 0, 0);
        button.type = "button";
        button.title = maps().headed ? `Layer ${layer}, head ${which}` : `Layer ${layer}`;
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
    const table = make("table"), line = make("tr");
    table.append(make("caption", "s2s-hidden", `${named(state.layer, state.head)}. ${rowTitle()}; ${columnTitle()}`), line);
    line.append(make("th", "", ""), ...drawn.columns.map(({ text }) => Object.assign(make("th", "", text), { scope: "col" })));
    drawn.rows.forEach(({ text }, r) => {
      const row = make("tr");
      row.append(Object.assign(make("th", "", text), { scope: "row" }));
      drawn.columns.forEach((_, c) => row.append(make("td", "", masked(r, c) ? "masked" : four(weight(r, c)))));
      table.append(row);
    });
    ui.table.replaceChildren(table);
  }

  // --- the outside: a new trace, a new size, a new theme
  function show(next) {
    data = next;
    if (!data) {
      ui = null;
      return root.replaceChildren();
    }
    weights = Object.fromEntries(Object.entries(data.views).map(([name, { kinds, of_shares }]) => [name,
      Object.fromEntries(Object.entries(kinds).map(([kind, { weights }]) => [kind, decode(weights, of_shares)]))]));
    Object.assign(state, { row: 0, column: 0, by: "cell", touched: false });
    if (!ui) {
      Object.assign(state, data.start);
      build();
    }
    if (!data.views[state.view]) state.view = "raw";
    if (!maps()) state.kind = "cross";
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
