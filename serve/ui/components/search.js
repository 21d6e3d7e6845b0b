// How a translation is searched for or drawn: the settings below the texts.

function searchSettings({ changed }) {
  const field = (label, input, hint) => make("label", { class: "tr-field" }, make("span", {}, label), input, hint);
  const number = (min, max, step, value) => make("input", { type: "number", min, max, step, value, onchange: changed });
  const slider = (min, max, step, value) => {
    const shown = make("output", {}, String(value));
    const input = make("input", { type: "range", min, max, step, value, onchange: changed,
      oninput: () => { shown.textContent = input.value; } });
    return [input, shown];
  };
  const name = "how" + Math.random();
  const radio = (value, text) => make("label", {}, make("input", { type: "radio", name, value, onchange: () => { show(); changed(); } }), text);
  const ways = make("span", { class: "tr-choice", role: "radiogroup", "aria-label": "How to search" },
    radio("greedy", "greedy"), radio("beam", "beam search"), radio("draw", "sampling"));
  const beams = number(2, 8, 1, 4), alternatives = make("select", { onchange: changed });
  const [temperature, temperatureShown] = slider(0.1, 3, 0.1, 1), [topP, topPShown] = slider(0.05, 1, 0.05, 1);
  const topK = number(0, 1000, 1, 0);
  let seed = 0;
  const again = make("button", { type: "button", class: "tr-quiet", onclick: () => { seed += 1; changed(); } }, "Draw again");
  const ofBeam = [field("beams", beams)];
  const ofDraw = [field("temperature", temperature, temperatureShown), field("top-k", topK, make("small", {}, "0: all")),
    field("top-p", topP, topPShown), again];
  const node = make("div", { class: "tr-settings" }, ways, ...ofBeam, ...ofDraw, field("alternatives", alternatives));
  const way = () => node.querySelector("input[type=radio]:checked").value;

  function show() {
    ofBeam.forEach((one) => { one.hidden = way() !== "beam"; });
    ofDraw.forEach((one) => { one.hidden = way() !== "draw"; });
    alternatives.closest("label").hidden = way() === "greedy";
  }
  const within = (input, whole) => {
    const value = Math.min(Math.max(Number(input.value) || 0, Number(input.min)), Number(input.max));
    input.value = value;
    return whole ? Math.round(value) : value;
  };
  return {
    node,
    offer({ most, usual, alternatives: count }) {  // what the server takes, and what the model does by itself
      beams.max = most;
      if (beams.dataset.usual !== String(usual)) beams.value = Math.max(usual, 2);
      beams.dataset.usual = usual;
      const held = alternatives.selectedIndex;
      alternatives.replaceChildren(...Array.from({ length: count }, (_, i) => make("option", {}, String(i + 1))));
      alternatives.selectedIndex = held >= 0 ? Math.min(held, count - 1) : Math.min(3, count) - 1;
      if (!node.querySelector("input[type=radio]:checked")) node.querySelectorAll("input[type=radio]")[usual > 1 ? 1 : 0].checked = true;
      show();
    },
    chosen() {
      const some = { alternatives: alternatives.selectedIndex + 1 };
      if (way() === "greedy") return { num_beams: 1 };
      if (way() === "beam") return { num_beams: Math.max(within(beams, true), some.alternatives), ...some };
      return { temperature: within(temperature), top_k: within(topK, true), top_p: within(topP), seed, ...some };
    },
  };
}
