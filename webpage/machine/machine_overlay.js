// What lies over the machine: a block that was opened, and the stops of a word's way through it.

import { insideBlock } from "./machine_inside.js";
import { stops } from "./machine_tour.js";
import { html, paint } from "../common/markup.js";

const GROWTH = 280;          // milliseconds in which an opened block grows out of its gate
const AROUND = 6, BOX = 300; // pixels around what a stop is about; and of its box's width

// An opened block, or nothing.
export function drawOpen(box, { trace, data, state }, context) {
  const { open } = state.machine, wasOpen = !box.hidden;
  box.hidden = !open || !data;
  const painted = paint(box, box.hidden ? "" : html`<div class="m-scrim" data-do="machine_close"></div><div
    class="card m-open" role="dialog" aria-labelledby="opened-name">${
    insideBlock(open, data, trace, state, context)}</div>`);
  if (painted && !box.hidden && !wasOpen) {
    grow(box.querySelector(".m-open"), box.parentElement.querySelector(`[data-value="${open.kind}.${open.layer}"]`));
    box.querySelector("[data-k=machine-close]")?.focus({ preventScroll: true });
  }
}

function grow(card, gate) {
  if (!gate || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const [from, to] = [gate, card].map((one) => one.getBoundingClientRect());
  const small = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${from.width / to.width}, ${
    from.height / to.height})`;
  card.animate([{ transform: small, opacity: 0.2 }, { transform: "none", opacity: 1 }],
    { duration: GROWTH, easing: "cubic-bezier(.2, .8, .2, 1)" });
}

// A stop: what it is about stands out, the rest fades, and a box says one sentence.
export function drawStop(box, { trace, data, state }, under) {
  const { stop } = state.machine, all = data && stop !== null ? stops(data, trace, state) : [], own = all[stop];
  box.hidden = !own;
  under.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
  under.classList.toggle("touring", Boolean(own));
  if (!own) return paint(box, "");
  const button = (label, to, more) => html`<button class="chip ${more}" data-do="machine_stop" data-value="${to}"
    data-k="stop-${label}">${label}</button>`;
  const lit = own.show.map((one) => [...under.querySelectorAll(one)]);
  lit.flat().forEach((one) => one.classList.add("lit"));
  const groups = own.show.flatMap((name, i) => name.includes("data-area") ? [lit[i]] : lit[i].map((one) => [one]));
  const holes = groups.map(around).filter(Boolean).map((one) => within(one, under));
  const painted = paint(box, html`<svg class="m-spot" aria-hidden="true"><path fill-rule="evenodd" d="M0,0H${
    under.clientWidth}V${under.clientHeight}H0Z${holes.map(hole)}"/>${holes.map((one) => html`<rect x="${one.left}"
    y="${one.top}" width="${one.width}" height="${one.height}" rx="10"/>`)}</svg><div class="card m-stop" role="dialog"
    aria-label="Follow the word"><p class="second">${stop + 1} of ${all.length}</p><h2>${own.title}</h2>${own.text}<div
    class="row2">${stop > 0 && button("Back", stop - 1, "")}${stop + 1 < all.length ? button("Next", stop + 1, "solid")
    : button("Done", "", "solid")}<span class="push"></span>${
    stop + 1 < all.length && button("Close", "", "")}</div></div>`);
  place(box.querySelector(".m-stop"), holes, under);
  if (painted) box.querySelector(".chip.solid").focus({ preventScroll: true });
  if (painted && innerWidth < 1000) lit.flat()[0]?.scrollIntoView({ block: "start" });
}

const hole = ({ left, top, width, height }) => `M${left},${top}h${width}v${height}h${-width}Z`;
// The rectangle around these elements, of the window.
function around(elements) {
  const all = elements.map((one) => one.getBoundingClientRect()).filter(({ width, height }) => width && height);
  if (!all.length) return null;
  const of = (side, pick) => pick(...all.map((one) => one[side]));
  return { left: of("left", Math.min), top: of("top", Math.min), right: of("right", Math.max),
    bottom: of("bottom", Math.max) };
}
// The same, a little larger, in pixels of the stage.
function within({ left, top, right, bottom }, stage) {
  const home = stage.getBoundingClientRect();
  const [x, y] = [left - home.left, top - home.top].map((one) => Math.max(2, one - AROUND));
  return { left: x, top: y, width: Math.min(right - home.left + AROUND, home.width - 3) - x,
    height: Math.min(bottom - home.top + AROUND, home.height - 3) - y };
}

// The box stands where it covers least of what its stop is about.
function place(card, holes, stage) {
  const { clientWidth: width, clientHeight: height } = stage, cardHeight = card.offsetHeight;
  const along = (room) => Array.from({ length: Math.max(1, Math.floor((room - 24) / 24)) }, (_, i) => 12 + 24 * i);
  const places = along(width - BOX).flatMap((x) => along(height - cardHeight).map((y) => [x, y]));
  const covered = (x, y) => holes.reduce((sum, one) =>
    sum + overlap(x, BOX, one.left, one.width) * overlap(y, cardHeight, one.top, one.height), 0);
  const far = (x, y) => Math.min(...holes.map((one) => Math.hypot(x + BOX / 2 - one.left - one.width / 2,
    y + cardHeight / 2 - one.top - one.height / 2)));
  const cost = ([x, y]) => 100 * covered(x, y) + far(x, y);
  const [x, y] = places.reduce((best, one) => cost(one) < cost(best) ? one : best);
  Object.assign(card.style, { left: `${x}px`, top: `${y}px` });
}
const overlap = (a, length, b, other) => Math.max(0, Math.min(a + length, b + other) - Math.max(a, b));
