// A tour of the page in four steps, each at the card it describes.

import { html, paint, putAt } from "./markup.js";

const STEPS = [
  [".texts", html`Change <i>tired</i> to <i>wide</i>. One English word, and <i>il</i> becomes <i>elle</i>.`],
  [".texts", html`The lines show where heads looked while writing the dark word. Point at another word to follow it.`],
  [".work", html`The map shows the same for every word at once. Beside it: the heads that matter for the word.`],
  [".heads", html`These are all the heads. The coloured ones do something that was measured.`],
];

export function tour(root) {
  const box = root.querySelector(".tourbox");
  let at = -1, back = null;
  const ring = (card) =>
    root.querySelectorAll(".card").forEach((one) => one.classList.toggle("ringed", one === card));
  const end = () => { at = -1; box.hidden = true; ring(null); back?.focus(); };
  const go = (step) => {
    if (step >= STEPS.length) return end();
    at = step;
    const [where, said] = STEPS[at], card = root.querySelector(where);
    ring(card);
    card.scrollIntoView({ block: "nearest" });
    paint(box, html`<p>${said}</p><div class="row2"><span class="second">${at + 1} of ${STEPS.length}</span><button
      class="chip" data-tour="end">Close</button><button class="chip solid"
      data-tour="next">${at + 1 < STEPS.length ? "Next" : "Done"}</button></div>`);
    box.hidden = false;
    const rect = card.getBoundingClientRect();
    const fits = rect.bottom + box.offsetHeight + 16 < innerHeight;
    putAt(box, rect.left + 24, fits ? rect.bottom + 8 : Math.max(8, rect.bottom - box.offsetHeight - 16));
    box.querySelector("[data-tour=next]").focus();
  };
  box.addEventListener("click", (event) => {
    const to = event.target.closest("[data-tour]")?.dataset.tour;
    if (to) to === "next" ? go(at + 1) : end();
  });
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); end(); } });
  return () => { back = document.activeElement; go(0); };
}
