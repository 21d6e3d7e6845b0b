// The lessons: their contents, or the one of the address (#lesson-3), with what the model of this page does and what was
// measured (`lessons/record.py`), on the packaged model or on this machine's.

import { moving } from "./lesson.js";
import { MOVING } from "./lesson_all.js";
import { measured, prose } from "./lesson_measured.js";
import { html, paint } from "./markup.js";

const EVERY = 3000;  // milliseconds between two looks at a run
const NUMBER = /^#lesson-(\d+)$/;

// Draws the page; asks for the record once, or again with `body`: `run` starts a run.
export async function lessons(element, context, body) {
  if (element.asked && !body) return draw(element, context);
  element.asked = true;
  const found = await context.engine("lessons", body ?? {}).catch((error) => ({ error: error.message }));
  element.asked = !found.error;
  if (element.shows !== "lessons") return;
  element.lessons = found;
  draw(element, context);
  if (found.running) setTimeout(() => { if (element.shows === "lessons") lessons(element, context, {}); }, EVERY);
}

// A lesson that is shown already stays, and only its pictures are drawn again.
function draw(element, context) {
  const { record, error } = element.lessons ?? {}, number = +NUMBER.exec(location.hash)?.[1];
  const lesson = record?.lessons.find((one) => one.number === number), module = MOVING[lesson?.name];
  const page = element.querySelector(".lesson");
  if (page && page.record === record && page.number === number) return page.draw();
  if (!element.lessons) return;
  if (error || !record) return paint(element, html`<p class="soft">${error || progress(element.lessons)}</p>`);
  if (!lesson) paint(element, contents(element.lessons));
  else paint(element, article(lesson, record, Boolean(module)));
  element.querySelector("[data-run]")?.addEventListener("click", () => lessons(element, context, { run: true }));
  scrollTo(0, 0);
  const opened = element.querySelector(".lesson");
  if (!opened) return;
  Object.assign(opened, { record, number, draw: module ? moving(opened.querySelector(".moving"), context, lesson.name,
    module, lesson) : () => {} });
  opened.draw();
}

const progress = ({ running, said }) => running ? html`The lessons are running, for 10 to 20 minutes on two cores. You can
  use the page meanwhile.<pre role="status">${said.join("\n")}</pre>`
  : "This file has no lessons. They are of the model storybook: seq2see export storybook --format web writes a file with them.";

function contents({ record, own, may_run: mayRun }) {
  const lessonOf = (number) => record.lessons.find((one) => one.number === number);
  const line = ({ number, title, verdict }) => html`<li><a href="#lesson-${number}"><span class="number">${number}</span>
    <b>${title}</b><span class="soft">${verdict.word}</span></a></li>`;
  const chapter = ({ title, about, lessons: numbers }) => html`<section class="card chapter"><h3>${title}</h3>
    <p class="soft">${prose(about)}</p><ol>${numbers.map((one) => line(lessonOf(one)))}</ol></section>`;
  return html`<div class="contents"><h2>Attention, measured</h2>
    <p class="lead">Textbooks and papers say how attention works. Here you predict what a small translation model does, move
    something, and see. Below each lesson stands what was measured, and whether the claim held.</p>
    <p><a class="chip" href="#story">Lessons 1 to 8 as one story</a></p>
    ${record.budget === "full" ? "" : html`<p class="warning">These lessons were run with <code>--quick</code>, which only
      shows that every lesson runs. Their verdicts mean nothing.</p>`}
    <div class="chapters">${record.chapters.map(chapter)}</div>
    <p class="fine">${own ? "Run on this machine’s model" : "Run on the packaged model storybook"}: ${prose(record.model)}.
    Made by <code>${record.command}</code>, Seq2See ${record.version}; seeds ${record.seeds.join(", ")}.
    ${mayRun ? html`<button class="chip" data-run>Run on this model</button>` : ""}</p></div>`;
}

function article(lesson, record, moves) {
  const numbers = record.chapters.flatMap((one) => one.lessons), at = numbers.indexOf(lesson.number);
  const title = (number) => record.lessons.find((one) => one.number === number).title;
  const link = (number, label) => number === undefined ? html`<span></span>`
    : html`<a href="#lesson-${number}"><span class="soft">${label}</span> ${number}. ${title(number)}</a>`;
  return html`<article class="lesson"><p class="soft"><a href="#lessons">Lessons</a> · ${lesson.number} of ${numbers.length}</p>
    <h2>${lesson.title}</h2>
    ${moves ? html`<div class="lead">${MOVING[lesson.name].lead}</div><div class="moving"></div>`
      : html`<p class="lead">${prose(lesson.claim)}</p>`}
    ${measured(lesson, record)}
    <nav class="turn" aria-label="Previous and next lesson">${link(numbers[at - 1], "Previous:")}${
      link(numbers[at + 1], "Next:")}</nav></article>`;
}
