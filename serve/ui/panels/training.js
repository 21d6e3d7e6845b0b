// The panel of training: the sentence at each checkpoint of the run.

function trainingPanel(host) {
  const node = make("div"), body = make("div"), kept = make("p", "s2s-note"), { node: status, of, drop } = asking();
  let steps = [], at = 0, found = null, listed = false;
  const steps_ = slider("Checkpoint", () => at, (i) => { at = i; ask(); },
    { most: () => Math.max(steps.length - 1, 0), said: (i) => steps.length ? `step ${steps[i]}` : "" });
  const again = button("Look for new ones", () => { listed = false; refresh(); });
  const row = make("div", "s2s-row");
  row.append(again);
  node.append(steps_, kept, row, status, body);

  async function refresh() {
    if (found) drawFound();
    if (listed) return;
    listed = true;
    const answer = await of(() => host.ask("training"));
    if (!answer) return;
    steps = answer.steps;
    steps_.style.display = steps.length ? "" : "none";
    kept.textContent = steps.length ? `What the run kept: its checkpoints of step ${steps.join(", ")}. A training deletes the older ones, `
      + "unless it is told training.save_total_limit=null." : "";
    if (!steps.length) {
      body.replaceChildren(make("p", "", "There are no checkpoints of this run to go back to."));
      return;
    }
    at = Math.min(at, steps.length - 1);
    steps_.refresh();
    ask();
  }
  async function ask() {
    const answer = await of(() => host.ask("training", { step: steps[at] }));
    if (!answer) return;
    found = answer;
    drawFound();
  }
  function drawFound() {
    const then = side(`At step ${steps[at]}`, found.after, `log-probability ${found.new_log_prob.toFixed(3)}; of what is shown above `
      + found.log_prob.toFixed(3));
    then.append(smallMap(host, found.data));
    body.replaceChildren(then, make("p", "s2s-note", "Marked are the words that differ from the translation shown above."));
  }
  return { name: "training", title: "Training", node, refresh, show() {
    [listed, found] = [false, null];
    drop();
    body.replaceChildren();
    if (node.isConnected) refresh();
  } };
}
