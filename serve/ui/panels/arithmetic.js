// The panel of the numbers behind one row: from the query to what the head hands over.

function arithmeticPanel(host) {
  const node = make("div"), said = make("p"), body = make("div"), { node: status, of, drop } = asking();
  node.append(said, status, body);
  let done = "";
  const steps = slider("Row", () => host.state.row, (row) => host.chooseRow(row), {
    most: () => host.maps.picture(host.state).rows.length - 1,
    said: (row) => host.maps.picture(host.state).rows[row]?.text ?? "",
  });
  node.prepend(steps);

  async function refresh() {
    const { kind, layer, head, words, view } = host.state;
    steps.refresh();
    const unit = host.maps.picture(host.state).rows[host.state.row], row = unit.pieces[0];
    const key = `${kind} ${layer} ${head} ${row}`;
    if (key === done) return;
    done = key;
    const pieces = host.maps.picture({ ...host.state, view: "raw", words: false, head: Math.max(head, 0) });
    said.textContent = `${host.maps.nameOf({ ...host.state, view: "raw" })}: how “${pieces.rows[row].text}” (row ${row}`
      + `${words && unit.pieces.length > 1 ? ", its first piece" : ""}) came to its weights`
      + `${view === "raw" ? "" : "; the arithmetic is that of the weights themselves, view raw"}.`;
    const found = await of(() => host.ask("arithmetic", { kind, layer, head, row }));
    if (found) draw(found, pieces.columns, pieces.rows[row].text);
  }

  function draw(found, columns, name) {
    const most = (vectors) => Math.max(1e-6, ...vectors.flat().map(Math.abs));
    const qk = most([found.query, ...found.keys]), v = most([...found.values, found.mixed]), out = most([found.output]);
    const line = (title, vector, full) => {
      const p = make("p", "s2s-number", `${title} `);
      p.append(strip(vector, full, host, title));
      return p;
    };
    const scroll = make("div", "s2s-sum"), table = make("table"), first = make("tr");
    const head = (text, scope) => Object.assign(make("th", "", text), { scope });
    const biased = found.bias.some((number) => number);
    const names = ["key k", "q · k", `× ${found.scale.toFixed(4)}`, ...(biased ? ["+ bias"] : []), "mask", "softmax", "value v"];
    table.append(make("caption", "s2s-hidden", `The weights of “${name}”, column by column`), first);
    first.append(make("td"), ...names.map((text) => head(text, "col")));
    const best = found.weights.indexOf(Math.max(...found.weights));
    columns.forEach(({ text }, c) => {
      const row = make("tr"), cell = (content) => {
        const one = make("td");
        one.append(content);
        return one;
      };
      if (c === best) row.dataset.on = "";
      row.append(head(text, "row"), cell(strip(found.keys[c], qk, host, `key of ${text}`)), cell(four(found.products[c])),
        cell(four(found.products[c] * found.scale)), ...(biased ? [cell(four(found.bias[c]))] : []),
        cell(found.allowed[c] ? "+ 0" : "− ∞"), cell(four(found.weights[c])),
        cell(strip(found.values[c], v, host, `value of ${text}`)));
      table.append(row);
    });
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "The arithmetic, column by column");
    scroll.append(table);
    const length = Math.hypot(...found.output);
    body.replaceChildren(line(`query q of “${name}”, ${found.query.length} numbers`, found.query, qk), scroll,
      line("Σ weight × v, what the head mixed", found.mixed, v),
      line(`W_O times that, what it hands over, ${found.output.length} numbers`, found.output, out),
      make("p", "", `Its length is ${four(length)}; what all heads of the layer hand over together has length ${four(found.length)}.`),
      make("p", "s2s-note", "Blue is above 0, orange below; point at a strip for its numbers."));
  }
  return { name: "arithmetic", title: "Arithmetic", node, refresh, show() { done = ""; drop(); body.replaceChildren(); } };
}
