// The tree of a beam search: a column a step, what lived on joined to what came of it.

function beamTree(host) {
  const LINE = 22, COLUMN = 92, space = "http://www.w3.org/2000/svg";
  const make_ = (tag, attributes, text) => {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // The nodes on the way to a hypothesis, as "step number".
  function wayTo(steps, step, number) {
    const nodes = new Set();
    for (; step >= 0 && number !== null; step--) {
      nodes.add(`${step} ${number}`);
      number = steps[step][number][1];
    }
    return nodes;
  }

  function draw({ steps, hypotheses, length_penalty }) {
    const node = make("div"), place = make("div", "s2s-tree"), list = make("ol", "s2s-list");
    const tall = Math.max(...steps.map((step) => step.length)), best = wayTo(steps, ...hypotheses[0].slice(0, 2));
    const width = steps.length * COLUMN + 20, height = (tall + 1) * LINE;
    const svg = make_("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
    svg.setAttribute("aria-label", `Beam tree of ${steps.length} steps; the list below has its hypotheses.`);
    const x = (step) => 10 + step * COLUMN, y = (number) => (number + 1) * LINE;
    steps.forEach((nodes, step) => nodes.forEach(([, parent], number) => {
      if (parent === null || !step) return;
      const [x1, y1, x2, y2] = [x(step - 1) + 66, y(parent) - 4, x(step) - 6, y(number) - 4], half = (x1 + x2) / 2;
      const line = make_("path", { d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
      if (best.has(`${step} ${number}`)) line.dataset.on = "";
      svg.append(line);
    }));
    steps.forEach((nodes, step) => nodes.forEach(([text, , logProb, score], number) => {
      const one = make_("text", { x: x(step), y: y(number) }, shortened(text, 64, 12));
      if (best.has(`${step} ${number}`)) one.setAttribute("font-weight", 600);
      else one.setAttribute("class", "s2s-gone");
      one.append(make_("title", {}, `${text}: log-probability so far ${logProb.toFixed(3)}`
        + `${score === null ? "" : `, score ${score.toFixed(4)}`}`));
      svg.append(one);
    }));
    place.tabIndex = 0;
    place.setAttribute("role", "region");
    place.setAttribute("aria-label", "Beam tree");
    place.append(svg);
    list.append(...hypotheses.map(([, , text, score]) => {
      const line = make("li", "", text);
      line.append(make("span", "s2s-number", `  score ${score.toFixed(4)}`));
      return line;
    }));
    node.append(place, list, make("p", "s2s-note", "A column a step, the best above; bold is the way to the best hypothesis. "
      + `A score is the log-probability divided by the length to the power ${length_penalty}.`));
    return node;
  }
  return { draw };
}
