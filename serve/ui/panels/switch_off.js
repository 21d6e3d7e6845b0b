// The panel that switches heads off: the translation without them, beside the one shown.

function switchOffPanel(host) {
  const node = make("div"), grids = make("div"), result = make("div", "s2s-sides"), { node: status, of, drop } = asking();
  const off = new Set();  // "kind layer head"
  let heads = [];
  node.append(make("p", "s2s-note", "Choose heads: each then hands over nothing, and the sentence is translated anew."), grids);
  const row = make("div", "s2s-row");
  row.append(button("This head", () => toggle(`${host.state.kind} ${host.state.layer} ${host.state.head}`)), button("All on", () => {
    off.clear();
    draw();
  }));
  node.append(row, status, result);
  roving(grids, () => heads, () => Number(grids.dataset.heads));

  function build() {
    heads = [];
    const { kinds } = host.data.views.raw;
    grids.replaceChildren(...KINDS.map((kind) => {
      const grid = make("div", "s2s-headgrid"), [layers, count] = kinds[kind].shape;
      grid.style.setProperty("--heads", count);
      grids.dataset.heads = count;
      grid.setAttribute("role", "group");
      grid.setAttribute("aria-label", host.data.kinds[kind].name);
      for (let layer = 0; layer < layers; layer++) {
        grid.append(make("span", "", layer ? `layer ${layer}` : `${host.data.kinds[kind].name}, layer 0`));
        for (let head = 0; head < count; head++) {
          const one = button(String(head), () => toggle(one.dataset.of), "s2s-head");
          one.dataset.of = `${kind} ${layer} ${head}`;
          one.setAttribute("aria-label", `Switch off ${host.maps.nameOf({ view: "raw", kind, layer, head })}`);
          one.tabIndex = heads.length ? -1 : 0;
          heads.push(one);
          grid.append(one);
        }
      }
      return grid;
    }));
  }
  function toggle(head) {
    if (!off.delete(head)) off.add(head);
    draw();
  }
  async function draw() {
    for (const one of heads) one.setAttribute("aria-pressed", off.has(one.dataset.of));
    if (!off.size) {
      drop();
      return result.replaceChildren();
    }
    const asked = [...off].map((head) => head.split(" ")).map(([kind, layer, number]) => [kind, Number(layer), Number(number)]);
    const found = await of(() => host.ask("switch_off", { heads: asked }));
    if (!found) return;
    const same = found.after.every(([, changed]) => !changed);
    result.replaceChildren(
      side("As it is", found.before, `log-probability ${found.log_prob.toFixed(3)}; without ${count(off.size)} `
        + `${found.log_prob_without.toFixed(3)} (${signed(found.log_prob_without - found.log_prob)})`),
      side(`Without ${count(off.size)}${same ? ": the same words" : ""}`, found.after,
        `log-probability ${found.new_log_prob.toFixed(3)} without ${count(off.size)}`
        + `${found.finished ? "" : "; stopped at the limit of length"}`));
  }
  const count = (heads) => heads === 1 ? "this head" : `these ${heads} heads`;
  return { name: "switch-off", title: "Switch off", node, refresh() {}, show() { off.clear(); build(); draw(); } };
}
