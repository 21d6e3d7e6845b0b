// What a lesson that moves asks the engine, and what it shows of the answers, each part as HTML.  `visit` is what a reader
// has done in it: { state, guess }, the guess a number of an option or null.

import { CAT } from "./lesson_parts.js";
import { html } from "../common/markup.js";

// The answers to what it needs in this state; and to its question, once that is answered.
export function answersTo(module, lesson, { state, guess }, model, ask) {
  const { needs, start, predict } = module;
  const all = (questions) => Promise.all(questions.map((one) => ask(...asking(one, model))));
  return Promise.all([all(needs(state, lesson)), guess === null ? null : all(predict.needs ?? needs(start, lesson))]);
}

function asking([route, body], model) {
  const { text, translation, ...languages } = CAT;
  if (route === "inside") return [route, { question: { ...CAT, model, ...body } }];
  const about = route === "look" && body.text === undefined ? { text, translation } : {};
  return [route, { ...languages, ...about, model, ...body }];
}

// By the class of its place.
export function drawn(module, lesson, { state, guess }, [answers, known], theme) {
  const isAnswered = guess !== null;
  return {
    predict: predicted(lesson, module.predict, guess, known),
    first: isAnswered ? "Now move this yourself." : html`Answer first, then move this. <button class="chip" data-reveal
      data-k="reveal">Show me</button>`,
    control: module.control(state, answers, lesson),
    live: isAnswered ? module.says(state, answers, lesson) : "",
    pictured: module.picture(state, answers, lesson, theme, isAnswered),
    short: isAnswered ? module.short(state, answers, lesson) : "",
  };
}

// The question; once it is answered, the same sentence whatever the answer was.
export function predicted(lesson, { question, options, right, because }, guess = null, answers = null) {
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
