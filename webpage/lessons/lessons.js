// The lessons: their contents, or the one of the address (#lesson-3), with what the model of this page does and what
// was measured (`lessons/record.py`), on the packaged model or on this machine's.

import { modelOf, moving } from "./lesson.js";
import { MOVING } from "./lesson_all.js";
import { WARNING, measured, prose, textbook } from "./lesson_measured.js";
import { html, paint } from "../common/markup.js";

const EVERY = 3000;  // milliseconds between two looks at a run
const NONE = "This file has no lessons. The lessons use the model storybook. To write a file with lessons, run: seq2see "
  + "export storybook --format web";

// On paper everything is open.
for (const when of ["beforeprint", "afterprint"]) {
  addEventListener(when, () => document.querySelectorAll(".s2s .measured details")
    .forEach((one) => { one.open = when === "beforeprint"; }));
}

// Draws the page; asks for the record once, or again with `body`: `run` starts a run.
export async function lessons(element, context, body) {
  if (element.asked && !body) return element.lessons && draw(element, context);
  element.asked = true;
  const found = await recordOf(context, body);
  element.asked = !found.error;
  element.lessons = found;
  if (element.shows !== "lessons") return;
  draw(element, context);
  if (found.running) setTimeout(() => { if (element.shows === "lessons") lessons(element, context, {}); }, EVERY);
}

// What the server or the file says of its lessons: { record, own, running, said, may_run } or { error }.
export const recordOf = (context, body = {}) =>
  context.engine("lessons", body).catch((error) => ({ error: error.message }));

// A lesson that is shown already stays, and only its pictures are drawn again.
function draw(element, context) {
  const { record, error, running, said } = element.lessons, number = +/^#lesson-(\d+)$/.exec(location.hash)?.[1];
  const lesson = record?.lessons.find((one) => one.number === number), old = element.querySelector(".lesson");
  const isNew = paint(element, !record ? html`<div class="soft">${error ?? (running ? progress(said) : NONE)}</div>`
    : lesson ? article(lesson, record, modelOf(context.settings)) : contents(element.lessons));
  if (!isNew) return old?.draw();
  if (record) scrollTo(0, 0);
  const run = element.querySelector("[data-run]"), look = element.querySelector("[data-look]");
  run?.addEventListener("click", () => lessons(element, context, { run: true }));
  look?.addEventListener("click", () => lookAt(lesson.look, context));
  if (lesson) begin(element.querySelector(".lesson"), context, lesson);
}

function begin(page, context, lesson) {
  const module = MOVING[lesson.name], place = page.querySelector(".moving");
  Object.assign(page, { lesson, draw: module ? moving(place, context, lesson, module) : () => {} });
  page.draw();
}

// Opens the lesson's sentence at its head, on the page Explore.
function lookAt({ text, kind, layer, head }, { settings, open }) {
  location.hash = "explore";
  open(text, { model: modelOf(settings), source: "en", target: "fr", head: { kind, layer, head }, pinned: true });
}

const progress = (said) => html`The lessons are running. This takes 10 to 20 minutes on two cores. You can use
  the page in the meantime.<pre role="status">${said.join("\n")}</pre>`;

function contents({ record, own, may_run: mayRun }) {
  const lessonOf = (number) => record.lessons.find((one) => one.number === number);
  const line = ({ number, title, verdict }) => html`<li><a href="#lesson-${number}"><span class="place">${number}</span>
    <b>${title}</b><span class="soft">${textbook(verdict.word)}</span></a></li>`;
  const chapter = ({ title, about, lessons: numbers }) => html`<section class="card chapter"><h3>${title}</h3>
    <p class="soft">${prose(about)}</p><ol>${numbers.map((one) => line(lessonOf(one)))}</ol></section>`;
  return html`<div class="contents"><h2>Attention, measured</h2>
    <p class="lead">Textbooks and papers describe how attention works. Here you predict what a small translation model
    does, move something, and see what happens. Below each lesson, you find what was measured and which claims hold.</p>
    <p><a class="chip solid" href="#story">Read lessons 1 to 8 as one story</a></p>
    ${record.budget === "full" ? "" : WARNING}<div class="chapters">${record.chapters.map(chapter)}</div>
    <p class="fine">${own ? "Run on this machine’s model" : `Run on ${record.run}`}: ${prose(record.model)}.
    Measured with Seq2See ${record.version}, by <code>${record.command}</code>. Seeds: ${record.seeds.join(", ")}.
    ${mayRun ? html`<button class="chip" data-run>Run the lessons here (10 to 20 minutes)</button>` : ""}</p></div>`;
}

function article(lesson, record, model) {
  const numbers = record.chapters.flatMap((one) => one.lessons), at = numbers.indexOf(lesson.number);
  const title = (number) => record.lessons.find((one) => one.number === number).title, module = MOVING[lesson.name];
  const link = (number, label) => number === undefined ? html`<span></span>`
    : html`<a href="#lesson-${number}"><span class="soft">${label}</span> ${number}. ${title(number)}</a>`;
  return html`<article class="lesson"><p class="soft"><a href="#lessons">Lessons</a> · ${lesson.number} of 18</p>
    <h2>${lesson.title}</h2><div class="lead">${module?.lead ?? prose(lesson.claim)}</div>
    ${model && model !== record.run.split(/[\\/]/).at(-1) ? html`<p class="fine">The pictures show the model ${model}. The
      measurements below are of ${record.run}.</p>` : ""}${module ? html`<div class="moving"></div>` : ""}${
      measured(lesson, record)}
    <nav class="turn" aria-label="Previous and next lesson">${link(numbers[at - 1], "Previous:")}${
      link(numbers[at + 1], "Next:")}</nav></article>`;
}
