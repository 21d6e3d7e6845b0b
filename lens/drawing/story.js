// Lessons 1 to 8 as one page to scroll, from a word to the translated cat; at its end the whole machine, with the same
// numbers.  What a section shows is asked for when it comes into view.

import { modelOf, moving } from "./lesson.js";
import { MOVING } from "./lesson_all.js";
import { CAT } from "./lesson_parts.js";
import { recordOf } from "./lessons.js";
import { machine, machineActions } from "./machine.js";
import { insideActions } from "./machine_inside.js";
import { html, paint } from "./markup.js";
import { START } from "./state.js";
import { KINDS, Trace, headOf } from "./trace.js";

const LAST = 8;        // lesson of the story
const NEAR = "400px";  // from the window, where a section is drawn
const STEP = 11;       // of the machine at first: writes *il*

export async function story(element, context) {
  const page = element.querySelector(".tale");
  if (page) return page.draw();
  if (element.asked) return;
  element.asked = true;
  const { record, error } = await recordOf(context);
  if (element.shows !== "story") return;
  if (!record) {
    element.asked = false;
    return paint(element, html`<p class="soft">${error ?? "This page has no lessons yet: look again later."}</p>`);
  }
  const lessons = record.lessons.filter((one) => one.number <= LAST && MOVING[one.name]);
  if (paint(element, tale(lessons))) begin(element.querySelector(".tale"), context, lessons);
}

function tale(lessons) {
  const section = ({ number, name, title }) => html`<section class="scene" data-number="${number}"
    aria-labelledby="s2s-scene-${number}"><p class="soft">${number} of ${LAST}</p>
    <h3 id="s2s-scene-${number}">${title}</h3><div class="lead">${MOVING[name].lead}</div><div class="moving"></div>
    <p class="short" data-says="story-${name.slice(4)}"></p><p class="second"><a href="#lesson-${number}">What was
    measured, in lesson ${number}</a></p></section>`;
  return html`<div class="tale"><h2>From a word to a translation</h2>
    <p class="lead">How does a machine turn <i lang="en">${CAT.text}</i> into French? Eight steps, each with something
      to predict and something to move. The numbers are this model’s own, computed as you read. It takes a class hour.</p>
    ${lessons.map(section)}<section class="scene" aria-labelledby="s2s-scene-whole"><p class="soft">All of it</p>
    <h3 id="s2s-scene-whole">The whole machine</h3><p class="lead">The same sentence and the same numbers, from the
      English words to the next French word. Choose another word, or point at a line.</p><div class="whole"></div>
    <p class="short">What you see is where the numbers of a word come from, and a map shows where a head looked. Neither
      is an explanation yet: <a href="#lesson-9">lesson 9</a> shows large weights that carry little.</p>
    <p><a class="chip solid" href="#lesson-9">Go on with lesson 9</a></p></section></div>`;
}

// Each section draws itself when it is near, and from then on with the page.
function begin(page, context, lessons) {
  const drawn = new Map(), scenes = [...page.querySelectorAll(".scene")];
  const near = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach(({ target }) => {
    near.unobserve(target);
    const lesson = lessons.find(({ number }) => number === +target.dataset.number);
    drawn.set(target, lesson ? scene(target, context, lesson) : whole(target.querySelector(".whole"), context));
    drawn.get(target)();
  }), { rootMargin: NEAR });
  scenes.forEach((one) => near.observe(one));
  page.draw = () => drawn.forEach((draw) => draw());
  scrollTo(0, 0);
}

function scene(element, context, lesson) {
  const module = MOVING[lesson.name], short = element.querySelector(".short");
  return moving(element.querySelector(".moving"), context, lesson, module,
    (state, answers) => paint(short, module.short(state, answers, lesson)));
}

// The machine for the sentence of the story, whatever sentence Explore shows.
function whole(element, context) {
  const own = { ...context, state: { ...context.state, machine: { ...START.machine, step: STEP }, lab: {}, part: 0 },
    root: element, render: draw, set(changes) { Object.assign(own.state, changes); draw(); } };
  const model = modelOf(context.settings), { signal } = new AbortController();
  own.actions = { ...machineActions(own), ...insideActions(own), machine_explore({ dataset: { value } }) {
    location.hash = "explore";
    context.open(CAT.text, { model, source: CAT.source, target: CAT.target, head: headOf(value), pinned: true });
  } };
  element.addEventListener("click", (event) => {
    const control = event.target.closest("[data-do^=machine_]");
    if (!control) return;
    event.stopPropagation();  // the page's machine is another
    own.actions[control.dataset.do](control);
  });
  const asked = context.ask("look", { ...CAT, model, maps: KINDS }, signal).then(({ traces: [one], measured }) => {
    own.state.traces = [new Trace(one, measured)];
  });
  return draw;

  async function draw() {
    own.state.theme = context.state.theme;
    try {
      await asked;
      machine(element, own);
    } catch ({ message }) { paint(element, html`<p class="soft">${message}</p>`); }
  }
}
