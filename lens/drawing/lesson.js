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

import { CAT } from "./lesson_parts.js";
import { html, paint } from "./markup.js";

const WAITING = html`<p class="soft">Computing…</p>`;

// What a reader has done in each lesson during the visit: { state, guess }, the guess a number of an option.
const visits = new Map();
function visitOf(name, { start }) {
  if (!visits.has(name)) visits.set(name, { state: { ...start }, guess: null });
  return visits.get(name);
}

function asking([route, body], model) {
  const { text, translation, ...languages } = CAT;
  if (route === "inside") return [route, { question: { ...CAT, model, ...body } }];
  const about = route === "look" && body.text === undefined ? { text, translation } : {};
  return [route, { ...languages, ...about, model, ...body }];
}

// The model of the lessons, if it is here.
export const modelOf = ({ models }) => (models.find((one) => one.name === "storybook") ?? models[0])?.name;

const SHELL = html`<div class="told"><div class="predict"></div><p class="first">Answer first, then move this.</p>
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
    const mine = ++latest, { needs, start, predict } = module;
    element.setAttribute("aria-busy", true);
    try {
      const answers = await ask(needs(visit.state, lesson));
      const known = visit.guess === null ? null : await ask(predict.needs ?? needs(start, lesson));
      if (mine === latest) show(answers, known);
    } catch (error) {
      if (mine === latest) paint(find(".pictured"), html`<p class="soft">${error.message}</p>`);
    }
    if (mine === latest) element.removeAttribute("aria-busy");
  }

  function ask(questions) {
    const model = modelOf(context.settings), { signal } = new AbortController();  // no other question ends these
    return Promise.all(questions.map((one) => context.ask(...asking(one, model), signal)));
  }

  function show(answers, known) {
    const { state, guess } = visit, isAnswered = guess !== null;
    paint(find(".predict"), predicted(lesson, module.predict, guess, known));
    paint(find(".first"), isAnswered ? "Now move this yourself." : "Answer first, then move this.");
    find(".control").disabled = !isAnswered;
    paintControl(find(".control"), module.control(state, answers, lesson));
    paint(find(".live"), isAnswered ? module.says(state, answers, lesson) : "");
    paint(find(".pictured"), module.picture(state, answers, lesson, context.state.theme, isAnswered));
    paint(find(".short"), isAnswered ? module.short(state, answers, lesson) : "");
  }
}

// Its own controls are not the explorer's, which has a data-set too.
function listen(element, actions) {
  element.addEventListener("click", (event) => {
    const { dataset } = event.target.closest("[data-set], [data-guess]") ?? {};
    if (!dataset) return;
    event.stopPropagation();
    actions["guess" in dataset ? "guess" : "set"](dataset);
  });
  element.addEventListener("input", (event) => {
    const { dataset, value } = event.target;
    if (!("slide" in dataset)) return;
    event.stopPropagation();
    actions.slide(dataset, value);
  });
}

// The question; once it is answered, the same sentence whatever the answer was.
function predicted(lesson, { question, options, right, because }, guess = null, answers = null) {
  const isAsked = !answers, place = isAsked ? null : right(answers, lesson), id = `s2s-ask-${lesson.number}`;
  const mark = (i) => i === place ? html`<small>this is what happens${i === guess ? ", as you guessed" : ""}</small>`
    : i === guess ? html`<small>your guess</small>` : "";
  const option = (one, i) => html`<button class="pick" data-guess="${i}" data-k="guess-${i}" ${isAsked ? ""
    : html`disabled aria-pressed="${i === guess}"`} ${i === place ? html`data-right` : ""}>${one} ${mark(i)}</button>`;
  return html`<p class="question" id="${id}">${isAsked ? html`<b>Predict first.</b> ` : ""}${question}</p>
    <div class="picks" role="group" aria-labelledby="${id}">${options.map(option)}</div>${
    isAsked ? "" : html`<p class="because" data-says="predict-${lesson.name.slice(4)}" role="status">${
      because(answers, lesson)}</p>`}`;
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
