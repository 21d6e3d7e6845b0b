// A tour of the page in a few steps, each at the card it describes, and about what is there.

import { flipOf } from "../common/flips.js";
import { html, paint, putAt } from "../common/markup.js";

function stepsOf(root, state, settings) {
  const flip = flipOf(settings, state.text), agrees = flip && flipOf(settings, flip.text).agrees;
  return [
    [".texts", flip ? html`Change <i>${flip.own}</i> to <i>${flip.other}</i>, and <i>${flip.agrees}</i> becomes
      <i>${agrees}</i>.` : "Type your own sentence. It is translated while you type."],
    [".texts", root.querySelector(".joins path")
      ? "The line shows where a head looked while the model wrote the dark word. Point at another word to see its line."
      : "A head looked at the tinted words while the model wrote the dark word. Choose another word to follow it."],
    [".why", "This says why the word was written, and what changes with the head switched off."],
    [".work", "The map shows where one head looked for every word."],
    [".strip-of-heads", "These are all the heads. Open them to see another one. The lab has everything else."],
  ];
}

export function tour(root, state, settings) {
  const box = root.querySelector(".tourbox");
  let at = -1, back = null, steps = [];
  const ring = (card) =>
    root.querySelectorAll(".card").forEach((one) => one.classList.toggle("ringed", one === card));
  const end = () => { at = -1; box.hidden = true; ring(null); back?.focus(); };
  const go = (step) => {
    if (step >= steps.length) return end();
    at = step;
    const [where, said] = steps[at], card = root.querySelector(where);
    ring(card);
    card.scrollIntoView({ block: "nearest" });
    paint(box, html`<p>${said}</p><div class="row2"><span class="second">${at + 1} of ${steps.length}</span><button
      class="chip" data-tour="end">Close</button><button class="chip solid"
      data-tour="next">${at + 1 < steps.length ? "Next" : "Done"}</button></div>`);
    box.hidden = false;
    const rect = card.getBoundingClientRect();
    const fits = rect.bottom + box.offsetHeight + 16 < innerHeight;
    putAt(box, rect.left + 24, fits ? rect.bottom + 8 : Math.max(8, rect.bottom - box.offsetHeight - 16));
    box.querySelector("[data-tour=next]").focus();
  };
  box.addEventListener("click", (event) => {
    const to = event.target.closest("[data-tour]")?.dataset.tour;
    if (to === "next") go(at + 1); else if (to) end();
  });
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); end(); } });
  return () => {
    [back, steps] = [document.activeElement, stepsOf(root, state, settings)];
    go(0);
  };
}
