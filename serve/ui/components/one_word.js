// Sentences of which one word can be changed, and what that changes: `oneWord({ choose })` below the texts.

function oneWord({ choose }) {
  const KINDS = { cross: "cross-attention", encoder: "encoder", decoder: "decoder" };
  let shown = null, picked = 0, offered = null;
  const title = make("h3"), list = make("ul", { class: "ow-list" }), result = make("div", { class: "ow-result", hidden: true });
  const node = make("section", { class: "ow", "aria-label": "Change one word" }, title, list, result);
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  function line([before, words, after]) {
    const buttons = words.map((word, which) => make("button", { type: "button", "aria-pressed": "false", onclick: () => {
      if (!buttons.some(pressed)) forget();
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === which)));
      choose({ texts: words.map((one) => before + one + after), which });
    } }, word));
    return make("li", {}, before, make("span", { class: "ow-words" }, ...buttons), after);
  }
  function forget() {
    list.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", "false"));
    shown = null;
    draw();
  }

  function marked(text, spans) {
    return wordsOf(text, spans).map((run) => run.word === null ? run.text : make("mark", {}, run.text));
  }
  function draw() {
    result.hidden = !shown;
    if (!shown) return;
    const sides = shown.sides.map((side) => make("div", {}, make("p", { class: "ow-source" }, ...marked(side.source, side.source_changed)),
      make("p", { class: "ow-target", lang: shown.target }, ...marked(side.target, side.target_changed)), make("canvas", { role: "img" })));
    const moves = shown.moves.map((move, i) => {
      const [was, is] = move.row, row = was === is ? was : `${was} → ${is}`;
      return make("li", {}, make("button", { type: "button", "aria-pressed": String(i === picked), onclick: () => { picked = i; draw(); } },
        make("b", {}, row), ` ${KINDS[move.kind]}, layer ${move.layer}, head ${move.head}: `,
        `${move.away[0]} ${percent(move.away[1])} → ${percent(move.away[2])}, ${move.to[0]} ${percent(move.to[1])} → ${percent(move.to[2])}`));
    });
    result.replaceChildren(make("div", { class: "ow-sides" }, ...sides),
      make("p", { class: "ow-note" }, "What moved most in the maps, of each head its most moved row. A row is where a head looked, not why the model chose the word."),
      make("ol", { class: "ow-moves" }, ...moves));
    const move = shown.moves[picked];
    if (!move) return;
    sides.forEach((side, i) => {
      const canvas = side.querySelector("canvas");
      smallMap(canvas, move.maps[i], { cell: 20, labels: true, row: move.maps[i].row, within: side.clientWidth });
      canvas.setAttribute("aria-label", `${KINDS[move.kind]}, layer ${move.layer}, head ${move.head}, of: ${shown.sides[i].target}`);
    });
  }
  return {
    node, forget,
    offer({ sentences, language }) {  // [before the word, its two choices, after it]; none, and there is nothing to see
      node.hidden = !sentences.length;
      title.textContent = `Change one word: what “it” is changes, and the ${language} for it may change too`;
      if (offered === JSON.stringify(sentences)) return;
      offered = JSON.stringify(sentences);
      list.replaceChildren(...sentences.map(line));
    },
    show(compared) {
      shown = compared;
      picked = 0;
      draw();
    },
  };
}
