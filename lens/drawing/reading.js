// What a map says in words: of a cell, of a whole row or column, of all heads that are lit.

// `heads`: the heads drawn as lines, or null where one map is drawn.
function readOut({ data, state, maps, picture, heads }) {
  const { row: r, column: c, by } = state, { columns, masked, weight } = picture;
  if (!state.touched) return "Point at a cell or a word, or focus the map and use the arrow keys.";
  if (by !== "cell") return whole();
  if (masked(r, c)) return `Masked: ${who()} cannot look at “${columns[c].text}”, which comes later.`;
  const reading = `${who()} ${data.views[state.view].reading} “${columns[c].text}” (column ${c}).`;
  return `${heads ? of((one) => four(one.weight(r, c))).join(", ") : four(weight(r, c))}: ${reading}`;

  function of(said) {
    return heads.map((head) => `head ${head} ${said(maps.picture({ ...state, head }))}`);
  }
  function who() {
    const { text, pieces } = picture.rows[r], { kind, words, rows } = state;
    if (kind === "encoder") return words ? `source word “${text}” (the mean of its pieces)` : `source piece ${r}, “${text}”,`;
    if (state.view === "left_out") return words ? `“${text}”, all its pieces together,` : `piece ${r}, “${text}”,`;
    if (!words) return `step ${r}, which reads “${data.inputs[r]}” and predicts “${data.target[r]}”,`;
    const verb = rows === "reads" ? "read" : "predict";
    return pieces.length > 1 ? `the mean of steps ${pieces[0]} to ${pieces.at(-1)}, which ${verb} “${text}”,`
      : `step ${pieces[0]}, which ${verb}s “${text}”,`;
  }
  // The three largest of the row or column that was chosen; of each head the largest.
  function whole() {
    const row = by === "row", chosen = row ? picture.rows[r] : columns[c], others = row ? columns : picture.rows;
    const best = (one, count) => others.map(({ text }, i) => [text, ...(row ? [r, i] : [i, c])])
      .filter((cell) => !masked(cell[1], cell[2])).map(([text, ...cell]) => [text, one.weight(...cell)])
      .sort((a, b) => b[1] - a[1]).slice(0, count).map(([text, value]) => `“${text}” ${four(value)}`).join(", ");
    const said = heads ? of((one) => best(one, 1)).join("; ") : best(picture, 3);
    return `Most in the ${row ? "row" : "column"} of “${chosen.text}”: ${said}.`;
  }
}
