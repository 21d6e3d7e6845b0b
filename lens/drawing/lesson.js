// One lesson that moves.  `lesson_NAME.js` has what a reader moves and sees, the record (`lessons/record.py`) what was
// measured.  A module of a lesson exports one object:
//
//     lead                            two or three sentences
//     start                           the state of its control: what the model really does
//     needs(state, lesson)            questions [[route, body], ...] for the engine; [] if the record suffices
//     control(state, answers, lesson) one control, of `lesson_parts.js`: data-set, data-slide
//     picture(state, answers, lesson, theme)   stays while the control moves
//     says(state, answers, lesson)    one live sentence from these numbers
//     predict                         { question, options, right(answers, lesson), because(answers, lesson), shows }
//     short(state, answers, lesson)   of lessons 1 to 8: leads the story on to the next
//
// The answers come in the order of the questions.  `predict` is asked before the control may move, with answers to
// `start`, or to `predict.needs`; `shows` is the state that the answer is shown in.

import { CAT } from "./lesson_parts.js";
import { html, paint } from "./markup.js";

// What a reader has done in each lesson during the visit: { state, guess }, the guess a number of an option.
const visits = new Map();
export function visitOf(name, { start }) {
  if (!visits.has(name)) visits.set(name, { state: { ...start }, guess: null });
  return visits.get(name);
}

// Questions about the sentence of the lessons need not repeat it, nor the model.
export function asking([route, body], model) {
  const own = body.text && body.translation === undefined ? { source: CAT.source, target: CAT.target } : CAT;
  if (route === "inside") return [route, { question: { ...CAT, model, ...body } }];
  return [route, { ...(route === "look" ? own : { source: CAT.source, target: CAT.target }), model, ...body }];
}

export const modelOf = ({ models }) => (models.find((one) => one.name === "storybook") ?? models[0])?.name;

const SHELL = html`<div class="told"><div class="predict"></div><fieldset class="control"></fieldset>
  <p class="live" aria-live="polite"></p></div><figure class="card pictured"></figure>`;

// Draws a lesson's moving part into an element, which listens from then on; gives a function that draws it again.
export function moving(element, context, name, module, lesson) {
  const visit = visitOf(name, module), find = (one) => element.querySelector(one);
  element.insertAdjacentHTML("beforeend", String(SHELL));
  find(".live").dataset.says = `lesson-${name.slice(4)}`;
  let latest = 0;
  element.addEventListener("click", (event) => {
    const set = event.target.closest("[data-set]"), guess = event.target.closest("[data-guess]");
    if (!set && !guess) return;
    event.stopPropagation();  // a control of the lesson, not of the explorer
    if (set) visit.state = { ...visit.state, [set.dataset.set]: JSON.parse(set.dataset.value) };
    else Object.assign(visit, { guess: +guess.dataset.guess, state: { ...visit.state, ...module.predict.shows } });
    draw();
  });
  element.addEventListener("input", (event) => {
    const { dataset: { slide }, value } = event.target;
    if (!slide) return;
    event.stopPropagation();
    visit.state = { ...visit.state, [slide]: +value };
    draw();
  });
  return draw;

  async function draw() {
    const mine = ++latest, model = modelOf(context.settings);
    const ask = (all) => Promise.all(all.map((one) => context.ask(...asking(one, model), new AbortController().signal)));
    element.setAttribute("aria-busy", true);
    try {
      const answers = await ask(module.needs(visit.state, lesson));
      const known = visit.guess === null ? null : await ask(module.predict.needs ?? module.needs(module.start, lesson));
      if (mine === latest) show(answers, known);
    } catch (error) {
      if (mine === latest) paint(find(".pictured"), html`<p class="soft">${error.message}</p>`);
    }
    if (mine === latest) element.removeAttribute("aria-busy");
  }

  function show(answers, known) {
    const { state, guess } = visit, asked = find(".predict");
    paint(asked, predicted(name, module.predict, guess, known, lesson));
    find(".control").disabled = guess === null;
    paintControl(find(".control"), module.control(state, answers, lesson));
    paint(find(".live"), module.says(state, answers, lesson));
    paint(find(".pictured"), module.picture(state, answers, lesson, context.state.theme));
  }
}

// The question, and when it is answered the same sentence for every answer.
function predicted(name, { question, options, right, because }, guess, answers, lesson) {
  const place = guess === null ? null : right(answers, lesson);
  const mark = (i) => place === null ? "" : i === place ? html` <small>what happens</small>`
    : i === guess ? html` <small>your guess</small>` : "";
  const option = (one, i) => html`<button class="pick" data-guess="${i}" data-k="guess-${i}"
    aria-pressed="${guess === null ? null : i === guess}" ${guess === null ? "" : "disabled"}
    ${i === place ? html`data-right` : ""}>${one}${mark(i)}</button>`;
  return html`<p class="question" id="ask-${name}">${guess === null ? html`<b>Predict first.</b> ` : ""}${question}</p>
    <div class="picks" role="group" aria-labelledby="ask-${name}">${options.map(option)}</div>${
    guess === null ? "" : html`<p class="because" data-says="predict-${name.slice(4)}" role="status">${
      because(answers, lesson)}</p>`}`;
}

// A slider that is being moved stays the element it is.
function paintControl(element, markup) {
  const held = element.contains(element.getRootNode().activeElement) && element.querySelector("input:focus");
  if (!held) return paint(element, markup);
  const made = document.createElement("div");
  made.innerHTML = element.painted = String(markup);
  const copy = (query, take) => {
    const from = made.querySelectorAll(query);
    element.querySelectorAll(query).forEach((one, i) => take(one, from[i]));
  };
  copy("output", (one, other) => { one.innerHTML = other.innerHTML; });
  copy("input", (one, other) => one.setAttribute("aria-valuetext", other.getAttribute("aria-valuetext")));
  copy("[aria-pressed]", (one, other) => one.setAttribute("aria-pressed", other.getAttribute("aria-pressed")));
}
