// What one trace's data holds: the rows, the columns and the numbers of any of its maps.  No drawing, no page.
//
//   const maps = traceMaps(data)                // as `seq2see.lens.show.view_data` makes it
//   maps.picture({ view, kind, layer, head, rows, words })

const KINDS = ["cross", "encoder", "decoder"];

const four = (p) => p.toFixed(4).replace(/^-0\.0000$/, "0.0000");
const percent = (p) => p > 0 && p < 0.0005 ? "<0.1%" : p < 1 && p >= 0.9995 ? ">99.9%"
  : (p * 100).toFixed(p < 0.1 || p >= 0.995 ? 1 : 0) + "%";
const rightToLeft = (text) => /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(text);

function floats(text) {  // base64 of float32: every number as the trace has it
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function traceMaps(data) {
  const decoded = {};
  const of = (view, kind) => data.views[view].kinds[kind];
  const weights = (view, kind) => (decoded[`${view} ${kind}`] ||= floats(of(view, kind).weights));
  const alone = (names, special) => names.map((text, i) => ({ text, pieces: [i], special: special[i], word: null }));
  const units = (side, words) => words ? data.words[side] : alone(data[side], data.special[side]);

  const rowSide = ({ view, kind, rows }) =>
    kind === "encoder" ? "source" : rows === "reads" && view !== "left_out" ? "inputs" : "target";
  const columnSide = ({ kind }) => kind === "decoder" ? "inputs" : "source";

  // What a word receives is the sum over its pieces; what it gives is the mean, of log-probabilities the sum.
  function byWords(piece, rows, columns, summed) {
    const values = new Float64Array(rows.length * columns.length);
    rows.forEach((row, r) => columns.forEach((column, c) => {
      let sum = 0;
      for (const i of row.pieces) for (const j of column.pieces) sum += piece(i, j);
      values[r * columns.length + c] = summed ? sum : sum / row.pieces.length;
    }));
    return values;
  }

  function picture(choice) {
    const { view, kind, layer, head, words } = choice;
    const lone = view === "left_out", [, heads, R, C] = of(view, kind).shape;
    const rows = units(rowSide(choice), words);
    const columns = lone ? alone(data.source_words, data.source_words.map(() => false)) : units(columnSide(choice), words);
    const from = (layer * heads + head) * R * C, packed = weights(view, kind);
    const values = words ? byWords((r, c) => packed[from + r * C + c], rows, columns, lone)
      : packed.subarray(from, from + R * C);
    const masked = kind === "decoder" ? (r, c) => columns[c].pieces[0] > rows[r].pieces.at(-1) : () => false;
    const said = data.kinds[kind], way = words ? "words" : "pieces";
    return {
      choice, rows, columns, values, masked,
      weight: (r, c) => values[r * columns.length + c],
      rowTitle: lone ? data.views[view].row_titles[way] : said.row_titles[way][choice.rows],
      columnTitle: lone ? data.views[view].column_title : said.column_titles[way],
      name: nameOf(choice),
    };
  }

  function nameOf({ view, kind, layer, head }) {
    if (view === "left_out") return data.views[view].name;
    const { layered, headed } = of(view, kind);
    return data.kinds[kind].name + (layered ? `, layer ${layer}` : "") + (headed ? `, head ${head}` : "")
      + (view === "raw" ? "" : `, view ${view}`);
  }

  return { data, of, units, picture, nameOf, rowSide, columnSide };
}

// The number that the darkest colour stands for.  `scale`: "one", the same for all maps, or "map", this map's largest.
function fullOf({ values, choice }, maps, scale) {
  const most = values.reduce((a, b) => Math.max(a, b), 1e-6), least = values.reduce((a, b) => Math.min(a, b), 0);
  if (choice.view === "left_out") return { least, most, full: Math.max(most, -least) };
  const shared = maps.data.views[choice.view].of_shares ? 1 : Math.max(most, maps.of(choice.view, choice.kind).largest);
  return { least, most, full: scale === "map" ? most : shared };
}
