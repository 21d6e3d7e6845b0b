// `learningPanel(root, gradio)`: drawn anew from each record, so it may be opened in the middle of a training.

function learningPanel(root, { props, watch }) {
  const SVG = "http://www.w3.org/2000/svg";
  const CLEARLY = 1.1;  // times as pointed: less is no reason to show another head
  let picked = null, record = null, leading = 0;
  const title = make("h2"), progress = make("progress", { max: 1, value: 0, "aria-label": "Steps" }), where = make("p", { class: "ln-where" });
  const curve = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "polyline"), loss = make("p", { class: "ln-where" });
  const sentence = make("p", { class: "ln-source" }), translation = make("p", { class: "ln-target", lang: "fr" });
  const grid = make("div", { class: "ln-grid" }), large = make("canvas", { role: "img" }), named = make("p", { class: "ln-where" });
  const maps = make("div", { class: "ln-maps" }, make("div", { class: "ln-large" }, large), make("div", {}, grid, named));
  curve.setAttribute("viewBox", "0 0 300 90");
  curve.setAttribute("preserveAspectRatio", "none");
  curve.setAttribute("role", "img");
  line.setAttribute("vector-effect", "non-scaling-stroke");
  curve.append(line);
  root.append(
    make("div", { class: "ln-left" }, title, progress, where, curve, loss),
    make("div", { class: "ln-right" }, sentence, translation, maps));

  const clock = (seconds) => seconds >= 3600 ? `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min` : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  const TITLES = { starting: "A model is about to learn French", learning: "A model learns French, now", measuring: "It has learnt: now it is examined" };
  function draw() {
    record = props.value;
    root.hidden = !record;
    if (!record) return;
    title.textContent = TITLES[record.state];
    const begun = record.step !== undefined;
    progress.value = begun ? record.step / record.steps : 0;
    where.textContent = !begun ? "Reading 20,000 sentence pairs; the first step comes in some seconds."
      : record.state === "measuring" ? "Translating sentences it never saw. Then this page is its translator."
      : `step ${counted(record.step)} of ${counted(record.steps)}${record.seconds_left ? ` · about ${clock(record.seconds_left)} left, then this page is its translator` : ""}`;
    drawLoss(record.losses || []);
    sentence.textContent = record.sentence || "";
    translation.textContent = begun ? record.translation || "(nothing yet)" : "…";
    maps.hidden = !record.maps;
    if (record.maps) drawMaps();
  }
  function drawLoss(losses) {
    curve.style.visibility = losses.length > 1 ? "visible" : "hidden";
    if (!losses.length) { loss.textContent = ""; return; }
    const last = losses.at(-1), most = Math.max(...losses.map(([, value]) => value)), least = Math.min(...losses.map(([, value]) => value));
    line.setAttribute("points", losses.map(([step, value]) =>
      `${(300 * step / record.steps).toFixed(1)},${(4 + 82 * (most - value) / (most - least || 1)).toFixed(1)}`).join(" "));
    loss.textContent = `loss ${last[1].toFixed(2)}${losses.length > 1 ? `, from ${losses[0][1].toFixed(2)} at step ${losses[0][0]}` : ""}`;
    curve.setAttribute("aria-label", loss.textContent);
  }
  // How pointed a head is: the mean of its rows' largest weights.
  function pointed(values) {
    const width = record.columns.length, rows = record.rows.map((_, r) => Math.max(...values.slice(r * width, (r + 1) * width)));
    return rows.reduce((a, b) => a + b, 0) / rows.length;
  }
  function drawMaps() {
    const heads = record.maps.flatMap((layer, l) => layer.map((bytes, h) => ({ l, h, values: bytes.map((byte) => byte / 255) })));
    const of = (values) => ({ rows: record.rows, columns: record.columns, values });
    const points = heads.map(({ values }) => pointed(values)), most = Math.max(...points);
    if (most > CLEARLY * points[leading]) leading = points.indexOf(most);
    const chosen = heads[picked ?? leading];
    grid.style.gridTemplateColumns = `repeat(${record.maps[0].length}, max-content)`;
    if (grid.children.length !== heads.length) {
      grid.replaceChildren(...heads.map(({ l, h }, i) => make("button", { type: "button", "aria-label": `Layer ${l}, head ${h}`,
        onclick: () => { picked = i; draw(); } }, make("canvas"))));
    }
    heads.forEach((one, i) => {
      grid.children[i].setAttribute("aria-pressed", String(one === chosen));
      smallMap(grid.children[i].firstChild, of(one.values), { cell: 4 });
    });
    smallMap(large, of(chosen.values), { cell: 18, labels: true, within: maps.clientWidth });
    const name = `cross-attention, layer ${chosen.l}, head ${chosen.h}`;
    large.setAttribute("aria-label", `${name}: where each word of the translation, a row, looked among the words of the sentence`);
    named.textContent = `${name}${picked === null ? ", one of the most pointed now" : ""}. A row is a word of the translation; the stronger the colour, the more it looked at the word above. A click picks a head.`;
  }
  watch("value", draw);
  draw();
}
