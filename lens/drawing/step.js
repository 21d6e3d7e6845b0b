// The panel of one step: what it read, what it might have said, and how a temperature reshapes that.
//
// Probabilities under any temperature are exact: beside the best candidates' log-probabilities the data have, for each
// temperature of the slider, the logarithm of the sum over the whole vocabulary.

function stepPanel(host) {
  const node = make("div"), said = make("p"), list = make("ul", "s2s-next"), lens = make("div"), note = make("p", "s2s-note");
  let warmth = 0;  // which temperature
  const data = () => host.data, steps = () => data().target.length;
  const steps_ = slider("Step", () => host.state.step, (step) => host.chooseStep(step),
    { most: () => steps() - 1, said: (step) => `${step} of ${steps() - 1}` });
  const heat = slider("Temperature", () => warmth, (i) => { warmth = i; drawList(); },
    { most: () => data().temperatures.length - 1, said: (i) => data().temperatures[i].toFixed(2) });
  node.append(steps_, said, heat, list, note, lens);

  // The probability of candidate `log_prob` at a step, at the temperature chosen.
  function probability(step, logProb) {
    const { temperatures, log_sums, candidates } = data();
    if (!log_sums.length) return Math.exp(logProb);
    return Math.exp((logProb - candidates[step][0][1]) / temperatures[warmth] - log_sums[step][warmth]);
  }

  function drawList() {
    const step = host.state.step, given = step < data().given;
    const rows = data().candidates[step].slice();
    if (!rows.some(([, , chosen]) => chosen)) rows.push([data().target[step], data().log_probs[step], true]);
    list.replaceChildren(...rows.map(([text, logProb, chosen]) => {
      const line = make("li"), track = make("span"), fill = make("i"), p = probability(step, logProb);
      if (chosen) line.dataset.on = "";
      fill.style.width = p * 100 + "%";
      track.append(fill);
      const shown = make("span", "", percent(p));
      shown.title = four(p);
      line.append(make("span", "", text), track, shown);
      if (chosen) line.append(make("span", "s2s-hidden", given ? "given, not chosen" : "chosen"));
      line.title = `${text}: ${four(p)}${chosen ? given ? ", given, not chosen" : ", chosen" : ""}`;
      return line;
    }));
    note.textContent = `The ${data().candidates[step].length} most probable pieces of this step, whose entropy at temperature`
      + ` 1 is ${data().entropies[step].toFixed(2)} nats${data().calibrated ? ", calibrated" : ""}.`;
  }

  function drawSaid() {
    const { target, inputs, given, probabilities, target_text, ends } = data(), step = host.state.step;
    const letters = Array.from(target_text), before = letters.slice(0, Math.max(0, ...ends.slice(0, step))).join("");
    said.textContent = `Step ${step} read “${inputs[step]}”${before ? `, after “${before}” was written,` : ""} and `
      + (step < given ? `was given “${target[step]}”.` : `predicted “${target[step]}”, probability ${four(probabilities[step])}.`)
      + seen(step);
  }
  // Where the head on the screen looked while it did.
  function seen(step) {
    const { kind, view } = host.state;
    if (kind === "encoder" || view !== "raw") return "";
    const { columns, weight, masked } = host.maps.picture({ ...host.state, rows: "predicts", words: false });
    const best = columns.map(({ text }, c) => [text, masked(step, c) ? 0 : weight(step, c)])
      .sort((a, b) => b[1] - a[1]).slice(0, 3);
    return ` ${host.maps.nameOf(host.state)} looked most at ${best.map(([text, p]) => `“${text}” ${four(p)}`).join(", ")}.`;
  }

  function refresh() {
    heat.style.display = data().log_sums.length ? "" : "none";
    steps_.refresh();
    heat.refresh();
    drawSaid();
    drawList();
    host.lensOf?.(lens);
  }
  return { name: "step", title: "Step", node, refresh, show() { warmth = Math.max(data().temperatures.indexOf(1), 0); } };
}
