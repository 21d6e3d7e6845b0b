// The panel of words: one word in several sentences, its neighbours, analogies.

const BANKS = `The bank lent the man some money.
The bank was closed.
The boat lay by the bank of the river.
The duck sat on the bank.`;

function wordsPanel(host) {
  const node = make("div"), first = asking(), second = asking(), plane = make("div"), list = make("ol", "s2s-list");
  const word = field("The word");
  const sentences = field("Sentences with it, one a line", { lines: 4 });
  const near = field("Near to"), minus = field("less"), plus = field("and"), row = make("div", "s2s-threes");
  let found = null, layer = 0;
  const layers = slider("Layer", () => layer, (i) => { layer = i; drawPlane(); },
    { most: () => found.points.length - 1, said: (i) => i ? `after ${i - 1}` : "before" });
  row.append(near.node, minus.node, plus.node);
  const go = button("See the word in each", async () => {
    const lines = sentences.input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    found = await first.of(() => host.ask("words", { word: word.input.value, sentences: lines }));
    if (!found) return;
    found.lines = lines;
    layer = found.points.length - 1;
    drawPlane();
  });
  const ask = button("Nearest pieces", async () => {
    const answer = await second.of(() => host.ask("near",
      { word: near.input.value, minus: minus.input.value, plus: plus.input.value }));
    if (answer) list.replaceChildren(...answer.near.map(([text, value, asked]) =>
      make("li", "", `${text}  ${value.toFixed(3)}${asked ? "  (asked with)" : ""}`)));
  });
  go.dataset.main = ask.dataset.main = "";
  node.append(word.node, sentences.node, go, first.node, plane, make("h3", "s2s-cap", "Neighbours and analogies"), row, ask,
    second.node, list, make("p", "s2s-note", "By cosine between rows of the embedding matrix. With “less” and “and”: what lies"
      + " near to the first less the second and the third, as king less man and woman."));

  function drawPlane() {
    const points = found.points[layer], shares = found.shares[layer], picture = make("div", "s2s-plane");
    const reach = Math.max(1e-9, ...points.flat().map(Math.abs));
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `The word in ${points.length} sentences; the table has how far apart they are.`);
    points.forEach(([x, y], i) => {
      const dot = make("b", "", String(i + 1));
      Object.assign(dot.style, { left: `${50 + 42 * x / reach}%`, top: `${50 - 40 * y / reach}%` });
      dot.title = found.lines[i];
      picture.append(dot);
    });
    layers.refresh();
    const names = points.map((_, i) => String(i + 1)), scroll = make("div", "s2s-sum");
    const apart = (i, j) => i === j ? "0" : found.distances[i < j ? `${i} ${j}` : `${j} ${i}`][layer].toFixed(4);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "How far apart");
    scroll.append(numberTable("1 less cosine between the word in each two sentences", names,
      points.map((_, i) => [`${i + 1} ${found.lines[i]}`, ...points.map((_, j) => apart(i, j))])));
    plane.replaceChildren(layers, picture, make("p", "s2s-note", `The plane shows ${percent(shares[0] + shares[1])} of how far`
      + " apart they lie. The table: 1 less cosine; 0 is the same direction."), scroll);
  }
  return {
    name: "words", title: "Words", node, refresh() {},
    show() {
      if (!word.input.value && ["", "en"].includes(host.language())) {
        [word.input.value, sentences.input.value] = ["bank", BANKS];
      }
      near.input.value ||= (host.data.source_words[1] ?? host.data.source_words[0] ?? "").replaceAll("▁", "");
    },
  };
}
