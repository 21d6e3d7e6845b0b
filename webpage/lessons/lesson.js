// One lesson that moves.  `lesson_NAME.js` has what a reader moves and sees, the record (`lessons/record.py`) what was
// measured.  A module of a lesson exports one object:
//
//     lead                            two or three sentences
//     start                           the state of its control: what the model really does
//     needs(state, lesson)            questions [[route, body], ...] for the engine; [] if the record suffices
//     control(state, answers, lesson) one control, of `lesson_parts.js`: data-set, data-slide
//     picture(state, answers, lesson, theme, isAnswered)   stays while the control moves; its class "more" is below
//                                     the control on a phone
//     says(state, answers, lesson)    one live sentence from these numbers, once the question is answered
//     predict                         { question, options, right(answers, lesson), because(answers, lesson), shows }
//     short(state, answers, lesson)   what was shown, once the question is answered; in the story it leads on to the next
//
// The answers come in the order of the questions, which are about the lessons' sentence unless they bring another.
// `predict` is asked before the control may move, with answers to `start`, or to `predict.needs`.  The control stays where
// it is, for the reader to move; `shows` is what else of the state the answer changes.  Nothing that is seen before may
// give the answer away: neither lead nor picture.

import { answersTo, drawn, predicted } from "./lesson_drawn.js";
import { html, paint } from "../common/markup.js";

const WAITING = html`<p class="soft">Computing…</p>`;

// What a reader has done in each lesson during the visit.
const visits = new Map();
function visitOf(name, { start }) {
  if (!visits.has(name)) visits.set(name, { state: { ...start }, guess: null });
  return visits.get(name);
}

// The model of the lessons, if it is here.
export const modelOf = ({ models }) => (models.find((one) => one.name === "storybook") ?? models[0])?.name;

const SHELL = html`<div class="told"><div class="predict"></div><p class="first"></p>
  <fieldset class="control" aria-label="What to move" disabled></fieldset>
  <p class="live" aria-live="polite"></p></div><figure class="card pictured"></figure><p class="short"></p>`;

// Draws a lesson's moving part into an element, which listens from then on; gives a function that draws it again.
export function moving(element, context, lesson, module) {
  const { name } = lesson, visit = visitOf(name, module), find = (one) => element.querySelector(one);
  const change = (changes) => { visit.state = { ...visit.state, ...changes }; draw(); };
  let latest = 0;
  element.insertAdjacentHTML("beforeend", String(SHELL));
  find(".live").dataset.says = `lesson-${name.slice(4)}`;
  find(".short").dataset.says = `story-${name.slice(4)}`;
  paint(find(".predict"), predicted(lesson, module.predict));
  paint(find(".pictured"), WAITING);
  listen(element, {
    set: ({ set, value }) => change({ [set]: JSON.parse(value) }),
    guess: ({ guess }) => { visit.guess = +guess; change(module.predict.shows); },
    slide: ({ slide }, value) => change({ [slide]: +value }),
  });
  return draw;

  async function draw() {
    const mine = ++latest;
    element.setAttribute("aria-busy", true);
    try {
      const answers = await answersTo(module, lesson, visit, modelOf(context.settings), ask);
      if (mine === latest) show(drawn(module, lesson, visit, answers, context.state.theme));
    } catch (error) {
      if (mine === latest) paint(find(".pictured"), html`<p class="soft">${error.message}</p>`);
    }
    if (mine === latest) element.removeAttribute("aria-busy");
  }

  // No other question ends these.
  function ask(route, body) { return context.ask(route, body, new AbortController().signal); }

  function show({ control, ...others }) {
    find(".control").disabled = visit.guess === null;
    paintControl(find(".control"), control);
    for (const [name, markup] of Object.entries(others)) paint(find(`.${name}`), markup);
  }
}

// Its own controls are not the explorer's, which has a data-set too.
function listen(element, actions) {
  element.addEventListener("click", (event) => {
    const { dataset } = event.target.closest("[data-set], [data-guess], [data-reveal]") ?? {};
    if (!dataset) return;
    event.stopPropagation();
    if ("reveal" in dataset) return actions.guess({ guess: -1 });  // without a guess, as a teacher may want it
    actions["guess" in dataset ? "guess" : "set"](dataset);
  });
  element.addEventListener("input", (event) => {
    const { dataset, value } = event.target;
    if (!("slide" in dataset)) return;
    event.stopPropagation();
    actions.slide(dataset, value);
  });
}

// A slider that is being moved stays the element it is.
function paintControl(element, markup) {
  if (!element.querySelector("input:focus")) return paint(element, markup);
  const made = document.createElement("div");
  made.innerHTML = element.painted = String(markup);
  const copy = (query, take) => {
    const from = made.querySelectorAll(query);
    element.querySelectorAll(query).forEach((one, i) => take(one, from[i]));
  };
  copy("output", (one, other) => one.replaceChildren(...other.childNodes));
  for (const name of ["aria-valuetext", "aria-pressed"]) {
    copy(`[${name}]`, (one, other) => one.setAttribute(name, other.getAttribute(name)));
  }
}
