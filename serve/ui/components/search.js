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
    const given = Number(input.value) || 0, value = Math.min(Math.max(whole ? Math.round(given) : given, Number(input.min)), Number(input.max));
    input.value = value;
    return value;
  };
  function set({ num_beams: width, alternatives: some, temperature: heat, top_k: k, top_p: p, seed: drawn = 0 }) {
    for (const [input, value] of [[beams, width > 1 ? width : undefined], [temperature, heat], [topK, k], [topP, p]])
      if (value !== undefined) input.value = value;
    [temperatureShown.textContent, topPShown.textContent, seed] = [temperature.value, topP.value, drawn];
    if (some !== undefined) alternatives.selectedIndex = Math.min(some, alternatives.length) - 1;
    const draws = [heat, k, p].some((value) => value !== undefined);
    node.querySelector(`[value=${draws ? "draw" : width === 1 ? "greedy" : "beam"}]`).checked = true;
    show();
  }
  return {
    node, set,
    offer({ most, usual, alternatives: count }) {  // what the server takes, and what the model does by itself
      beams.max = most;
      if (beams.dataset.usual !== String(usual.num_beams)) beams.value = Math.max(usual.num_beams, 2);
      beams.dataset.usual = usual.num_beams;
      const held = alternatives.selectedIndex;
      alternatives.replaceChildren(...Array.from({ length: count }, (_, i) => make("option", {}, String(i + 1))));
      alternatives.selectedIndex = held >= 0 ? Math.min(held, count - 1) : Math.min(3, count) - 1;
      if (!node.querySelector("input[type=radio]:checked")) set(usual);
      show();
    },
    chosen() {
      const some = { alternatives: alternatives.selectedIndex + 1 };
      if (way() === "greedy") return { num_beams: 1 };
      if (way() === "beam") {
        some.alternatives = Math.min(some.alternatives, beams.max);
        beams.value = Math.max(beams.value, some.alternatives);  // each takes a beam
        return { num_beams: within(beams, true), ...some };
      }
      return { temperature: within(temperature), top_k: within(topK, true), top_p: within(topP), seed, ...some };
    },
  };
}
