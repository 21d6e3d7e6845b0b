// The one drawing of attention: `attentionMap(root).show(data)`, data as `seq2see.lens.show.view_data` makes it.
//
// Here is the page: what is chosen, and who is told.  The other files draw; `show.script` joins them, this one last.
// Nothing is fetched, nothing is renormalised, and text reaches the page only as textContent or canvas text.
//
// `panels` are functions (host) => { name, title, node, show(), refresh() }: `show` at a new trace, `refresh` whenever
// something is chosen while it is open.  `saves` are more ways to take something away: [text, act(host, button)].  `fetchView(name)`
// brings a view that is offered (`data.offered`) and not in the data; `help` is what panels find in their host.

function attentionMap(root, { panels = [stepPanel], saves = [], fetchView = null, help = {} } = {}) {
  const state = { view: "raw", kind: "cross", layer: 0, head: 0, scale: "one", rows: "predicts", words: false, dim: false,
    row: 0, column: 0, by: "cell", touched: false, step: 0, drawing: "map", lit: new Set() };
  let data = null, maps = null, ui = null, drawn = null, side = null;
  const theme = () => root.dataset.theme;
  const colours = () => Object.fromEntries(["ink", "soft", "line", "mark", "card"].map((name) => [name, ink(root, `--${name}`)]));

  // --- what is shown
  const view = () => data.views[state.view];
  const own = () => view().kinds[state.kind];
  const lone = () => state.view === "left_out";  // one map, whose columns are words
  const lines = () => state.drawing === "lines" && own().headed;
  const way = () => state.words ? "words" : "pieces";
  const weight = (r, c) => drawn.picture.weight(r, c);
  const litHeads = () => Array.from({ length: own().shape[1] }, (_, head) => head).filter((head) => state.lit.has(head));

  // --- the page, built once
  function build() {
    ui = {};
    const texts = make("div", "s2s-texts"), bar = make("div", "s2s-bar"), main = make("div", "s2s-main");
    for (const [side, caption] of [["source", "Source"], ["target", "Translation, with the probability of each piece"]]) {
      const section = card(caption);
      section.append(ui[side] = make("div", "s2s-pieces"));
      if (side === "source") section.append(ui.unseen = make("p", "s2s-unseen"));
      roving(ui[side], () => Array.from(ui[side].children));
      ui[side].addEventListener("keydown", () => { ui.live.textContent = ui.read.textContent; });
      texts.append(section);
    }
    const set = (name, all = true) => (value) => {
      state[name] = value;
      if (all) update();
      else redraw();
    };
    const names = () => data.offered ?? Object.keys(data.views), count = (axis) => Array.from({ length: own().shape[axis] }, (_, i) => String(i));
    ui.kinds = choice("", KINDS.map((name) => [name, data.kinds[name].name]), () => state.kind, set("kind", false),
      { label: "Attention" });
    ui.views = selector("View", names, () => names().indexOf(state.view), chooseView);
    ui.layers = selector("Layer", () => count(0), () => state.layer, set("layer", false));
    ui.heads = selector("Head", () => count(1), () => state.head, set("head", false));
    ui.rowChoice = choice("A row", [["predicts", "predicts"], ["reads", "reads"]], () => state.rows, set("rows"));
    ui.scale = choice("Colours", [["one", "0 to 1"], ["map", "this map"]], () => state.scale, set("scale"));
    ui.drawing = choice("As", [["map", "map"], ["lines", "lines"]], () => state.drawing, set("drawing", false));
    ui.controls = [ui.kinds, ui.views, ui.layers, ui.heads, ui.drawing, ui.rowChoice,
      choice("By", [["pieces", "pieces"], ["words", "words"]], way, (value) => {
        Object.assign(state, { words: value === "words", touched: false });
        update();
      }),
      ui.scale, tick("Dim special pieces", () => state.dim, set("dim", false))];
    bar.append(...ui.controls);
    side = panelTabs(host, panels);
    main.append(buildGrid(), buildMap(), side.node);
    root.replaceChildren(texts, bar, main, ui.facts = make("p", "s2s-note s2s-facts"));
    listen();
  }
  function buildGrid() {
    ui.overview = card("Every map");
    ui.overview.classList.add("s2s-overview");
    ui.thumbs = thumbnails((kind, layer, head) => {
      Object.assign(state, { kind, layer, head });
      redraw();
    });
    ui.overview.append(ui.thumbs.node, make("p", "s2s-note", "Layers downwards, heads across, both counted from 0."
      + " A piece that begins with · continues a word."));
    return ui.overview;
  }
  function buildMap() {
    const map = card();
    map.classList.add("s2s-map");
    const part = (name, tag, className) => { ui[name] = make(tag, className); };
    for (const [name, tag, className] of [["about", "p", "s2s-about"], ["axis", "p", "s2s-axis"], ["scroll", "div", "s2s-scroll"],
      ["canvas", "canvas"], ["tip", "div", "s2s-tip"], ["read", "p", "s2s-read"], ["live", "div", "s2s-hidden"],
      ["legend", "div", "s2s-scale"], ["note", "p", "s2s-note s2s-sums"], ["trust", "p", "s2s-trust"], ["lights", "div", "s2s-lights"],
      ["details", "details"], ["table", "div", "s2s-table"], ["rowMark", "div", "s2s-band"], ["columnMark", "div", "s2s-band"],
      ["mark", "div", "s2s-mark"]]) part(name, tag, className);
    ui.canvas.tabIndex = 0;
    ui.canvas.setAttribute("role", "img");
    ui.live.setAttribute("aria-live", "polite");
    ui.tip.hidden = true;
    ui.table.tabIndex = 0;
    ui.table.setAttribute("role", "region");
    ui.table.setAttribute("aria-label", "The numbers of this map");
    ui.scroll.append(ui.canvas, ui.rowMark, ui.columnMark, ui.mark, ui.tip);
    ui.details.append(make("summary", "", "The numbers of this map as a table"), ui.table);
    ui.details.addEventListener("toggle", drawTable);
    const away = make("div", "s2s-away");
    away.append(make("span", "", "Take away"), button("PNG", savePng), button("SVG", saveSvg),
      button("CSV", () => save(fileName("csv"), csvOf(drawn.picture), "text/csv")),
      ...saves.map(([text, act]) => button(text, (event) => act(host, event.currentTarget))));
    map.append(ui.about, ui.axis, ui.lights, ui.scroll, ui.read, ui.live, ui.trust, ui.legend, ui.note, ui.details, away);
    return map;
  }
  async function chooseView(i) {
    const name = (data.offered ?? Object.keys(data.views))[i], asked = data;
    if (!data.views[name]) {
      ui.read.textContent = `Working out the view ${name} …`;
      try {
        asked.views[name] = await fetchView(name);
      } catch (error) {
        ui.views.refresh();
        ui.read.textContent = error.message;
        return;
      }
      if (asked !== data) return;
    }
    state.view = name;
    if (!own()) state.kind = "cross";
    state.touched = false;
    update();
  }

  // What a panel may see and do.
  const host = {
    ...help,
    root,
    get data() { return data; },
    get maps() { return maps; },
    get state() { return state; },
    get theme() { return theme(); },
    colours,
    chooseStep(step) {
      state.step = step;
      if (state.kind === "encoder") return side.refresh();
      const row = drawn.picture.rows.findIndex(({ pieces }) => pieces.includes(step));
      if (row >= 0) select(row, state.column, "row", { step });
    },
    chooseRow: (row) => select(row, state.column, "row"),
    choose(chosen) {
      Object.assign(state, chosen);
      redraw();
    },
  };

  function listen() {
    ui.canvas.addEventListener("pointermove", point);
    ui.canvas.addEventListener("pointerdown", point);
    ui.canvas.addEventListener("click", (event) => {
      if (point(event) && state.kind !== "encoder") select(state.row, state.column, "row");
    });
    ui.canvas.addEventListener("pointerleave", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("blur", () => { ui.tip.hidden = true; });
    ui.canvas.addEventListener("keydown", (event) => {
      const rows = drawn.picture.rows.length, columns = drawn.picture.columns.length;
      const to = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -columns],
        End: [0, columns], PageUp: [-rows, 0], PageDown: [rows, 0], Enter: [0, 0] }[event.key];
      if (!to) return;
      event.preventDefault();
      const [down, right] = state.touched ? to : [0, 0];
      select(state.row + down, state.column + right, event.key === "Enter" ? "row" : "cell");
      ui.live.textContent = ui.read.textContent;
    });
  }

  // --- choosing a cell
  // `by`: a cell was chosen, or a whole row or column of the map, as the pieces above it do.
  // `follow`: the panel at the side goes there too; a pointer that merely passes does not take it along.
  function select(row, column, by = "cell", { step = null, follow = true } = {}) {
    state.row = Math.min(Math.max(row, 0), drawn.picture.rows.length - 1);
    state.column = Math.min(Math.max(column, 0), drawn.picture.columns.length - 1);
    Object.assign(state, { by, touched: true });
    if (follow && state.kind !== "encoder" && by !== "column") state.step = step ?? drawn.picture.rows[state.row].pieces[0];
    if (lines()) drawCanvas();
    drawMarks();
    drawPieces();
    drawReading();
    if (follow) side.refresh();
  }
  // Which row and which column of the map a piece or word above it stands for, if any.
  function rowOf(side, i) {
    if (side !== (state.kind === "encoder" ? "source" : "target")) return null;
    const row = maps.rowSide(state) === "inputs" ? i + 1 : i;  // what step i predicts, step i + 1 reads
    return row < drawn.picture.rows.length ? row : null;
  }
  function columnOf(side, i) {
    if (side !== (state.kind === "decoder" ? "target" : "source")) return null;
    if (lone()) return state.words ? data.words.source[i].word : data.word_of_piece[i];
    const column = state.kind === "decoder" ? i + 1 : i;
    return column < drawn.picture.columns.length ? column : null;
  }
  function point(event) {
    const follow = event.type === "click";
    const at = ui.canvas.getBoundingClientRect(), x = event.clientX - at.left, y = event.clientY - at.top;
    if (lines()) {
      const word = wordAt(drawn.box, drawn.picture, x, y);
      if (word) select(word.row ?? state.row, word.column ?? state.column, "row" in word ? "row" : "column", { follow });
      return word;
    }
    const cell = cellAt(drawn.box, drawn.picture, x, y), same = state.touched && state.by === "cell" && !ui.tip.hidden;
    if (!cell) ui.tip.hidden = true;
    else if (!same || cell.row !== state.row || cell.column !== state.column) select(cell.row, cell.column, "cell", { follow });
    return cell;
  }

  // --- drawing
  // Everything: a new trace, size, theme, view, scale, pieces or words.
  function update() {
    root.dataset.theme = themeOf(root);
    redraw();
    ui.overview.style.display = own().layered ? "" : "none";
    ui.thumbs.draw(maps, state, theme());
    ui.facts.textContent = data.facts;
    ui.unseen.hidden = !data.unseen.length;
    const several = data.unseen.length > 1;
    ui.unseen.textContent = `Never seen in training: ${data.unseen.join(", ")}. The model has learnt nothing about `
      + `${several ? "these words" : "this word"}; what it writes for ${several ? "them" : "it"} is a guess.`;
  }
  // Another kind, layer, head or drawing of what is there.
  function redraw() {
    if (!own()) state.view = "raw";
    const [layers, heads] = own().shape;
    state.layer = Math.min(state.layer, layers - 1);
    state.head = Math.min(state.head, heads - 1);
    if (!litHeads().length) state.lit = new Set(Array.from({ length: heads }, (_, head) => head));
    const picture = maps.picture(state);
    drawn = { picture, ...fullOf(picture, maps, state.scale) };
    state.row = Math.min(state.row, picture.rows.length - 1);
    state.column = Math.min(state.column, picture.columns.length - 1);
    ui.controls.forEach((control) => control.refresh());
    ui.kinds.querySelectorAll("input").forEach((input) => { input.disabled = !view().kinds[input.value]; });
    for (const [node, on] of [[ui.views, (data.offered ?? Object.keys(data.views)).length > 1], [ui.layers, own().layered],
      [ui.heads, own().headed && !lines()], [ui.rowChoice, state.kind !== "encoder" && !lone()], [ui.scale, !lone()],
      [ui.drawing, own().headed], [ui.lights, lines()]]) node.style.display = on ? "" : "none";
    ui.scale.querySelector("label").firstChild.textContent = view().of_shares ? "0 to 1" : "all maps";
    ui.tip.hidden = true;
    drawSaid();
    drawLights();
    drawCanvas();
    drawMarks();
    drawPieces();
    drawReading();
    drawLegend();
    drawTable();
    ui.thumbs.mark(state);
    side.refresh();
  }
  function drawSaid() {
    const about = state.view === "raw" ? data.kinds[state.kind].about : view().about;
    const name = lines() ? maps.nameOf(state).replace(/, head \d+/, ", heads by colour") : maps.nameOf(state);
    ui.about.replaceChildren(make("b", "", name), `: ${about}.`);
    ui.axis.textContent = `${drawn.picture.rowTitle}; ${drawn.picture.columnTitle}`;
    ui.note.textContent = `${own().sums} ${sinks()}${state.dim ? "Special pieces are dimmed here, and counted in every number. " : ""}`
      + (state.view === "raw" ? "It shows where the head looked, not why the model chose its words." : "");
    const { trust } = own();
    ui.trust.title = data.terms;
    const said = typeof trust === "string" ? trust : trust[lone() ? "predicts" : state.rows][state.layer][state.head];
    ui.trust.replaceChildren(make("b", "", "Trust: "), lines() && typeof trust !== "string" ? `head ${state.head}: ${said}` : said);
    const roles = data.roles?.[state.kind]?.[`${state.layer}.${state.head}`];
    if (roles && !lines()) ui.trust.append(make("br"), make("b", "", "Role: "), roles.map((role) => role.said).join("; "));
  }
  function sinks() {
    if (!own().sinks) return "";
    const [end, tags, punctuation] = own().sinks[state.layer][state.head];
    return `Of ${state.view === "raw" ? "this head's attention" : "this map"}, ${percent(end)} is on the closing </s>, `
      + `${percent(tags)} on tags and the start, and ${percent(punctuation)} on punctuation. `;
  }

  // --- the canvas, by whatever pen
  function paint(pen) {
    const look = { full: drawn.full, theme: theme(), shares: view().of_shares, dim: state.dim, ink: colours() };
    if (!lines()) return drawHeatmap(pen, drawn.picture, drawn.box, look);
    const chosen = state.touched ? { row: state.row, column: state.column, by: state.by } : null;
    return drawLines(pen, litHeads().map((head) => maps.picture({ ...state, head })), drawn.box,
      { ...look, heads: litHeads(), chosen });
  }
  function drawCanvas() {
    const { picture } = drawn, room = ui.scroll.clientWidth;
    drawn.box = lines() ? linesBox(picture, room) : heatmapBox(picture, room);
    const faint = paint(canvasPen(sized(ui.canvas, drawn.box.width, drawn.box.height)));
    const size = `${picture.rows.length} rows by ${picture.columns.length} columns, ${maps.nameOf(state)}. `;
    ui.canvas.setAttribute("aria-label", `${lines() ? "Lines between words" : "Heat map"}, ${size}${picture.rowTitle}; `
      + `${picture.columnTitle}. Arrow keys read it cell by cell.`);
    if (lines()) ui.legend.dataset.faint = percent(faint);
  }
  function drawMarks() {
    const on = state.touched && !lines();
    for (const mark of [ui.rowMark, ui.columnMark, ui.mark]) mark.hidden = !on;
    if (!on) return;
    const { left, top, cell } = drawn.box, rows = drawn.picture.rows.length, columns = drawn.picture.columns.length;
    const place = (node, x, y, width, height) => Object.assign(node.style,
      { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    ui.rowMark.hidden = state.by === "column";
    ui.columnMark.hidden = state.by === "row";
    place(ui.rowMark, 0, top + state.row * cell - 1, left - 2, cell + 1);
    place(ui.columnMark, left + state.column * cell - 1, top - 4, cell + 1, 4);
    const [r, height] = state.by === "column" ? [0, rows] : [state.row, 1];
    const [c, width] = state.by === "row" ? [0, columns] : [state.column, 1];
    place(ui.mark, left + c * cell - 2, top + r * cell - 2, width * cell + 3, height * cell + 3);
  }

  // --- heads by colour
  function drawLights() {
    if (!lines()) return ui.lights.replaceChildren();
    const heads = Array.from({ length: own().shape[1] }, (_, head) => head);
    const lightOnly = (lit) => { state.lit = new Set(lit); redraw(); };
    const boxes = heads.map((head) => {
      const label = make("label", "s2s-light"), input = make("input"), swatch = make("i");
      Object.assign(input, { type: "checkbox", checked: state.lit.has(head) });
      input.addEventListener("change", () => {
        if (input.checked) state.lit.add(head);
        else state.lit.delete(head);
        redraw();
        ui.lights.querySelectorAll("input")[head].focus();
      });
      swatch.style.background = hue(head, theme());
      label.append(input, swatch, `head ${head}`);
      label.addEventListener("dblclick", () => lightOnly([head]));
      return label;
    });
    const only = button(`only head ${state.head}`, () => lightOnly([state.head]));
    ui.lights.replaceChildren(...boxes, button("all", () => lightOnly(heads)), only);
  }

  function drawReading() {
    const { row: r, column: c } = state, { picture } = drawn;
    ui.read.textContent = readOut({ data, state, maps, picture, heads: lines() ? litHeads() : null });
    ui.tip.hidden = !state.touched || state.by !== "cell" || lines();
    if (ui.tip.hidden) return;
    ui.tip.textContent = picture.masked(r, c) ? "masked" : four(weight(r, c));
    const { left, top, cell } = drawn.box, right = left + (c + 1) * cell + 6, width = ui.tip.offsetWidth;
    const x = right + width > ui.scroll.scrollLeft + ui.scroll.clientWidth ? left + c * cell - width - 6 : right;
    ui.tip.style.left = x + "px";
    ui.tip.style.top = top + (r + 0.5) * cell - ui.tip.offsetHeight / 2 + "px";
  }
  function drawPieces() {
    for (const side of ["source", "target"]) {
      const units = maps.units(side, state.words), key = way() + units.length;
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
    return r === null || c === null || drawn.picture.masked(r, c) ? null : rampColour(weight(r, c) / drawn.full, theme());
  }
  function fillPieces(side, units) {
    const probable = (unit) => unit.pieces.reduce((p, i) => p * data.probabilities[i], 1);
    ui[side].dir = rightToLeft(data[`${side}_text`]) ? "rtl" : "ltr";
    ui[side].replaceChildren(...units.map((unit, i) => {
      const choose = (event) => {
        const row = rowOf(side, i), column = columnOf(side, i), follow = event.type !== "pointerenter";
        if (row !== null) select(row, state.column, "row", { follow });
        else if (column !== null) select(state.row, column, "column", { follow });
      };
      const node = button("", choose, "s2s-piece");
      node.tabIndex = i ? -1 : 0;
      if (side === "source" && unit.pieces.some((piece) => data.unseen_pieces[piece])) {
        node.dataset.unseen = "";
        node.title = "never seen in training";
      }
      node.append(make("b", "", unit.text));
      if (side === "target") node.append(make("small", "", unit.pieces[0] < data.given ? "given" : percent(probable(unit))));
      for (const event of ["pointerenter", "focus"]) node.addEventListener(event, choose);
      return node;
    }));
  }
  function drawLegend() {
    const canvas = make("canvas"), context = sized(canvas, 160, 10), { least, most, full } = drawn;
    for (let x = 0; x < 160; x++) {
      context.fillStyle = css(rampColour((least + (full - least) * x / 159) / full, theme()));
      context.fillRect(x, 0, 1, 10);
    }
    const whole = view().of_shares ? "(the whole range)" : "(the largest of all maps)";
    const meaning = lone() ? "(the largest)" : state.scale === "map" ? "(the largest weight of this map)" : whole;
    const largest = state.scale === "one" && !lone() ? ` · largest here ${four(most)}` : "";
    const faint = ui.legend.dataset.faint, end = state.scale === "one" && view().of_shares ? "1" : four(full);
    if (lines()) {
      ui.legend.replaceChildren(`A full line is ${end} ${meaning}, a fainter one less. Lines below ${FAINTEST} of that are not`
        + ` drawn; they carry ${faint} of the weight.`);
    } else {
      ui.legend.replaceChildren(least < 0 ? four(least) : "0", canvas, `${end} ${meaning}${largest} · a cell: ${view().cell}`);
    }
  }
  function drawTable() {
    if (!ui.details.open) return ui.table.replaceChildren();
    const { rows, columns, masked, rowTitle, columnTitle } = drawn.picture;
    ui.table.replaceChildren(numberTable(`${maps.nameOf(state)}. ${rowTitle}; ${columnTitle}`, columns.map(({ text }) => text),
      rows.map(({ text }, r) => [text, ...columns.map((_, c) => masked(r, c) ? "masked" : four(weight(r, c)))])));
  }
  const fileName = (suffix) => `${maps.nameOf(state).toLowerCase().replace(/[^a-z0-9]+/g, "-")}.${suffix}`;
  async function savePng() {
    save(fileName("png"), await pngOf(paint, drawn.box, colours().card));
  }
  function saveSvg() {
    save(fileName("svg"), svgOf(paint, drawn.box, colours().card), "image/svg+xml");
  }

  // --- the outside: a new trace, a new size, a new theme
  function show(next) {
    data = next;
    if (!data) {
      ui = maps = null;
      return root.replaceChildren();
    }
    maps = traceMaps(data);
    Object.assign(state, { row: 0, column: 0, by: "cell", touched: false, step: Math.min(data.given, data.target.length - 1) });
    if (!ui) {
      Object.assign(state, data.start);
      build();
    }
    if (!data.views[state.view]) state.view = "raw";
    if (!own()) state.kind = "cross";
    ui.source.replaceChildren();
    ui.target.replaceChildren();
    side.reset();
    update();
  }
  let width = 0;
  new ResizeObserver(() => {
    if (ui && root.clientWidth !== width) {
      width = root.clientWidth;
      update();
    }
  }).observe(root);
  new MutationObserver(() => ui && themeOf(root) !== theme() && update())
    .observe(document.body, { attributes: true, attributeFilter: ["class"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => ui && update());
  return { show, host, choose: (chosen) => data && host.choose(chosen) };
}
