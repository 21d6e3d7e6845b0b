// The panel of what would be if: another source, another beginning, another search, another model.

function whatIfPanel(host) {
  const node = make("div"), form = make("div"), result = make("div", "s2s-sides"), { node: status, of, drop } = asking();
  let way = "source", found = null;
  const ways = choice("", [["source", "other source"], ["prefix", "other beginning"], ["search", "other search"], ["tree", "beam tree"],
    ["model", "other model"]], () => way, (value) => { way = value; draw(); }, { label: "What is otherwise" });
  const text = field("The source, with something changed", { lines: 3 });
  const prefix = field("The translation begins with", { placeholder: "Elle" });
  const beams = selector("Beams", () => ["1, greedy", "2", "4", "6", "8"], () => width, (i) => { width = i; });
  const others = selector("Model", () => host.models(), () => other, (i) => { other = i; });
  let width = 0, other = 0;
  const go = button("Compare", run);
  go.dataset.main = "";
  const grown = beamTree(host);
  node.append(ways, form, status, result);
  for (const { input } of [text, prefix])
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      run();
    });

  const BEAMS = [1, 2, 4, 6, 8];
  async function run() {
    if (way === "tree") {
      found = null;
      const tree = await of(() => host.ask("tree", { num_beams: Math.max(2, BEAMS[width]) }));
      return tree && result.replaceChildren(grown.draw(tree));
    }
    const asked = { source: { text: text.input.value }, prefix: { prefix: prefix.input.value }, search: { num_beams: BEAMS[width] },
      model: { model: host.models()[other] } }[way];
    found = await of(() => host.ask("what_if", asked));
    if (found) drawFound();
  }
  function drawFound() {
    const parts = found.parts > 1 ? `; the first of ${found.parts} parts` : "";
    const before = side("As it is", found.before, `log-probability ${found.log_prob.toFixed(3)}`);
    const after = side("And then", found.after, `log-probability ${found.new_log_prob.toFixed(3)}${parts}`);
    if (way === "source") [before, after].forEach((one, i) => one.firstChild.after(marked(found.sources[i])));
    before.append(smallMap(host, host.data));
    after.append(smallMap(host, found.data));
    result.replaceChildren(before, after);
  }
  function draw() {
    ways.refresh();
    ways.querySelectorAll("label")[4].style.display = host.models().length ? "" : "none";
    const parts = { source: [text.node], prefix: [prefix.node], search: [beams], tree: [beams], model: [others] }[way];
    beams.refresh();
    others.refresh();
    const row = make("div", "s2s-row");
    row.append(...parts.filter((part) => part.tagName !== "LABEL" || part.className === "s2s-group"), go);
    go.textContent = way === "tree" ? "Grow the tree" : "Compare";
    form.replaceChildren(...parts.filter((part) => part.className === "s2s-field"), row);
    result.replaceChildren();
    found = null;
    drop();
  }
  return {
    name: "what-if", title: "What if", node,
    refresh() { if (found) drawFound(); },
    show() {
      text.input.value = host.data.source_text;
      draw();
    },
  };
}
