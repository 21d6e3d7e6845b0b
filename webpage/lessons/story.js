// The first nine lessons, in the order of STORY, as one page to scroll, from a word to the translated cat; at its end the whole machine, with the same
// numbers.  What a section shows is asked for when it comes into view.  Who follows a link finds the place again.

import { modelOf, moving } from "./lesson.js";
import { MOVING } from "./lesson_all.js";
import { CAT } from "./lesson_parts.js";
import { NONE, STORY, recordOf } from "./lessons.js";
import { machine, machineActions } from "../machine/machine.js";
import { insideActions } from "../machine/machine_inside.js";
import { html, paint } from "../common/markup.js";
import { START } from "../common/state.js";
import { KINDS, Trace, headOf } from "../common/trace.js";

const REST = 5000;     // milliseconds after which the other sections are drawn
const NEAR = "400px";  // from the window, where a section is drawn
const STEP = 11;       // of the machine at first: writes *il*
let left = null;       // where a link was followed: { top, heights } in pixels, heights of the sections

export async function story(element, context) {
  const page = element.querySelector(".tale");
  if (page) return page.draw();
  if (element.asked) return;
  element.asked = true;
  const { record, error } = await recordOf(context);
  if (element.shows !== "story") return;
  if (!record) {
    element.asked = false;
    return paint(element, html`<p class="soft">${error ?? NONE}</p>`);
  }
  const lessons = STORY.map((name) => record.lessons.find((one) => one.name === name)).filter(Boolean);
  if (paint(element, tale(lessons))) begin(element.querySelector(".tale"), context, lessons);
}

function tale(lessons) {
  const step = ({ number, title }, i) =>
    html`<button class="chip" data-to="${number}">${i + 1}. ${title}</button>`;
  const section = ({ number, name, title }, i) => html`<section class="scene" data-number="${number}"
    aria-labelledby="s2s-scene-${number}"><p class="soft">${i + 1} of ${lessons.length}</p>
    <h3 id="s2s-scene-${number}">${title}</h3><div class="lead">${MOVING[name].lead}</div><div class="moving"></div>
    <p class="second"><a href="#lesson-${number}">What was
    measured: lesson ${number}</a></p></section>`;
  return html`<div class="tale"><h2>From a word to a translation</h2>
    <p class="lead">How does a machine translate a sentence? This story follows <i lang="en">${CAT.text}</i> It
      becomes French in nine steps. In each step, you predict something and move something. Reading takes ten minutes,
      and trying everything takes a class hour.</p>
    <p class="soft lead">The numbers come from the small model storybook, and are computed as you read. The model was trained
      on simple made-up sentences in the style of children’s books. Numbers marked “measured” were computed beforehand,
      with this model or with small models trained for the lesson. In the pictures, <i>end</i> is the mark after the last
      English word. <i>start</i> and <i>to French</i> are the marks before the first French word.</p>
    <div class="picks" role="group" aria-label="The nine steps">${lessons.map(step)}</div>
    ${lessons.map(section)}<section class="scene" aria-labelledby="s2s-scene-whole"><p class="soft">All of it</p>
    <h3 id="s2s-scene-whole">The whole machine</h3><div class="lead"><p>One kind of block was missing so far. A
      <b>feed-forward block</b> follows the attention. It works on the numbers of one word at a time: 256 small detectors
      look at them. Each detector that is on adds its own fixed vector, stronger or weaker. Attention and the feed-forward
      block together are a <b>layer</b>. Here the encoder has two layers, and the decoder has two. The output of the last
      layer is compared with every word of the vocabulary. This gives each word its <b>score</b>, or logit.</p>
      <p>The picture below shows the same sentence and the same numbers, from the English words to the next French word.
      Choose another word, or point at a line.</p></div><div class="whole"></div>
    <p class="short">The picture shows where the numbers of a word come from, and where each head looked. Neither of them
      is an explanation yet. <span data-says="story-values"></span> In <a href="#lesson-9">lesson 9</a>, you choose
      any head of the decoder. You see where it looks, and how likely <i>il</i> is without it.</p>
    <p class="short">And why <i>il</i>? Cats get tired, streets do not. With <i>wide</i> instead of <i>tired</i>,
      <i>it</i> stands for the street, and the model writes <i>elle</i>. <a href="#lesson-10">Lesson 10</a>
      looks for the head that makes the
      difference.</p>
    <p><a class="chip solid" href="#lesson-9">Continue with lesson 9</a></p></section></div>`;
}

// Each section draws itself when it is near, and from then on with the page; after a while the others too, for paper has
// them all.
function begin(page, context, lessons) {
  const drawn = new Map(), scenes = [...page.querySelectorAll(".scene")];
  const near = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting)
    .forEach(({ target }) => drawScene(target)), { rootMargin: NEAR });
  scenes.forEach((one) => near.observe(one));
  setTimeout(async () => { for (const one of scenes) if (one.isConnected) await drawScene(one); }, REST);
  page.draw = () => drawn.forEach((draw) => draw());
  page.addEventListener("click", ({ target }) => {
    const to = target.closest("[data-to]")?.dataset.to;
    if (to) page.querySelector(`.scene[data-number="${to}"]`).scrollIntoView();
    if (target.closest("a")) left = { top: scrollY, heights: scenes.map((one) => one.offsetHeight) };
  });
  function drawScene(target) {
    if (drawn.has(target)) return null;
    near.unobserve(target);
    const lesson = lessons.find(({ number }) => number === +target.dataset.number);
    drawn.set(target, lesson ? scene(target, context, lesson) : whole(target, context));
    return drawn.get(target)();
  }
  left?.heights.forEach((height, i) => { scenes[i].style.minHeight = `${height}px`; });
  scrollTo(0, left?.top ?? 0);
}

function scene(element, context, lesson) {
  return moving(element.querySelector(".moving"), context, lesson, MOVING[lesson.name]);
}

// The machine for the sentence of the story, whatever sentence Explore shows; under it, what two heads tell of maps.
function whole(scene, context) {
  const element = scene.querySelector(".whole"), { needs, short, start } = MOVING.l09_values, [[route, body]] = needs();
  const own = { ...context, state: { ...context.state, machine: { ...START.machine, step: STEP }, lab: {}, part: 0 },
    root: element, render: draw, set(changes) { Object.assign(own.state, changes); draw(); } };
  const model = modelOf(context.settings), { signal } = new AbortController();
  own.actions = { ...machineActions(own), ...insideActions(own), machine_explore({ dataset: { value } }) {
    location.hash = "see";
    context.open(CAT.text, { model, source: CAT.source, target: CAT.target, head: headOf(value), chosen: true });
  } };
  element.addEventListener("click", (event) => {
    const control = event.target.closest("[data-do^=machine_]");
    if (!control) return;
    event.stopPropagation();  // the page's machine is another
    own.actions[control.dataset.do](control);
  });
  const request = context.ask("look", { ...CAT, model, maps: KINDS, evidence: true }, signal).then(({ traces: [one], measured }) => {
    own.state.traces = [new Trace(one, measured)];
  });
  context.ask(route, { ...CAT, model, ...body }, signal)
    .then((answer) => paint(scene.querySelector("[data-says=story-values]"), short(start, [answer])), () => {});
  return draw;

  async function draw() {
    own.state.theme = context.state.theme;
    try {
      await request;
      machine(element, own);
    } catch ({ message }) { paint(element, html`<p class="soft">${message}</p>`); }
  }
}
