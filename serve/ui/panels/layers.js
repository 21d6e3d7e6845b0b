// Below the step's candidates: what each decoder layer would have said, had it been the last.

const lenses = new WeakMap();  // of each trace's data

function layersOf(place) {
  const host = this, { data } = host;
  place._waiting ||= asking();
  const { node, of, drop } = place._waiting;
  if (!lenses.has(data)) {
    const more = button("What would each layer have said?", async () => {
      const found = await of(() => host.ask("layers"));
      if (!found) return;
      lenses.set(data, found);
      if (host.data === data) host.lensOf(place);
    });
    drop();
    return place.replaceChildren(more, node);
  }
  const { log_probs, ranks, top } = lenses.get(data), step = host.state.step;
  const table = make("table", "s2s-layers"), first = make("tr");
  const head = (text, scope) => Object.assign(make("th", "", text), { scope });
  table.append(make("caption", "s2s-hidden", `What each decoder layer would say at step ${step}`), first);
  first.append(head("after", "col"), head(`“${data.target[step]}”`, "col"), head("its own first choices", "col"));
  top.forEach((steps, layer) => {
    const line = make("tr"), last = layer === top.length - 1;
    const said = steps[step].map(([text, logProb]) => `${text} ${percent(Math.exp(logProb))}`);
    const own = `${percent(Math.exp(log_probs[layer][step]))}, ${ranks[layer][step] + 1}.`;
    line.append(head(`layer ${layer}${last ? ", the model" : ""}`, "row"), make("td", "", own), make("td", "", said.join(", ")));
    table.append(line);
  });
  place.replaceChildren(make("h3", "s2s-cap", "Logit lens"), table, make("p", "s2s-note",
    "A hint at what is formed where: but for the last, no layer was trained to be read like this."
      + (data.calibrated ? " These probabilities are not calibrated." : "")));
}
