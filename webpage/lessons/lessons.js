// The lessons: their contents, or the one of the address (#lesson-3), with what the model of this page does and what
// was measured (`lessons/record.py`), on the packaged model or on this machine's.

import { modelOf, moving } from "./lesson.js";
import { MOVING } from "./lesson_all.js";
import { WARNING, measured, prose } from "./lesson_measured.js";
import { html, paint } from "../common/markup.js";

const EVERY = 3000;  // milliseconds between two looks at a run
export const NONE = "The lessons were measured on the model storybook, which is not here. seq2see demo shows them, and seq2see export "
  + "storybook --format web writes a file with them.";
// The lessons of the story, in its order; the others go deeper.
export const STORY = ["l01_words", "l13_positions", "l02_attention", "l03_scaling", "l04_causal_mask", "l05_many_heads",
  "l06_cross_attention", "l07_temperature", "l08_kv_caching"];
const inOrder = ({ lessons }) => [...STORY.map((name) => lessons.find((one) => one.name === name)).filter(Boolean),
  ...lessons.filter((one) => !STORY.includes(one.name))];

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
  location.hash = "see";
  open(text, { model: modelOf(settings), source: "en", target: "fr", head: { kind, layer, head }, chosen: true });
}

const progress = (said) => html`The lessons are running. This takes 10 to 20 minutes on two cores. You can use
  the page in the meantime.<pre role="status">${said.join("\n")}</pre>`;

function contents({ record, own, may_run: mayRun }) {
  const all = inOrder(record), step = ({ number, name, title }) => html`<li><a class="card" href="#lesson-${number}"><span
    class="second">${STORY.includes(name) ? STORY.indexOf(name) + 1 : ""}</span> <b>${title}</b></a></li>`;
  const [story, deeper] = [all.slice(0, STORY.length), all.slice(STORY.length)];
  return html`<div class="contents"><h2>Attention, measured</h2>
    <p class="lead">How does a machine translate <i lang="en">The cat did not cross the street…</i>? One story in nine
    steps, ten minutes. In each you predict something, then move something, and see what a small translation model does.</p>
    <p><a class="chip solid" href="#story">Read all nine steps as one story</a></p>
    ${record.budget === "full" ? "" : WARNING}<ol class="steps">${story.map(step)}</ol>
    <h3>Go deeper</h3><p class="soft">The other lessons, each with what was measured: which claims of textbooks hold for this
    model.</p><ol class="steps">${deeper.map(step)}</ol>
    <p class="soft"><a href="#lab-learn">Watch the model learn</a> · <a href="#lab-machine">The whole machine</a></p>
    <p class="fine">${own ? "Run on this machine’s model" : `Run on ${record.run}`}: ${prose(record.model)}.
    Measured with Seq2See ${record.version}, by <code>${record.command}</code>. Seeds: ${record.seeds.join(", ")}.
    ${mayRun ? html`<button class="chip" data-run>Run the lessons here (10 to 20 minutes)</button>` : ""}</p></div>`;
}

function article(lesson, record, model) {
  const numbers = inOrder(record).map((one) => one.number), at = numbers.indexOf(lesson.number);
  const title = (number) => record.lessons.find((one) => one.number === number).title, module = MOVING[lesson.name];
  const link = (number, label) => number === undefined ? html`<span></span>`
    : html`<a href="#lesson-${number}"><span class="soft">${label}</span> ${number}. ${title(number)}</a>`;
  return html`<article class="lesson"><p class="soft"><a href="#learn">Learn</a> · lesson ${lesson.number}</p>
    <h2>${lesson.title}</h2><div class="lead">${module?.lead ?? prose(lesson.claim)}</div>
    ${model && model !== record.run.split(/[\\/]/).at(-1) ? html`<p class="fine">The pictures show the model ${model}. The
      measurements below are of ${record.run}.</p>` : ""}${module ? html`<div class="moving"></div>` : ""}${
      measured(lesson, record)}
    <nav class="turn" aria-label="Previous and next lesson">${link(numbers[at - 1], "Previous:")}${
      link(numbers[at + 1], "Next:")}</nav></article>`;
}
