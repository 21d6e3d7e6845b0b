// The lines between the two texts: from the looking word to the words it looks at; threads between counterparts.

import { html, isNarrow, paint } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { mark, spanOf } from "./texts.js";
import { nameOf } from "../common/trace.js";
import { amount, roleCaption } from "../common/wording.js";

const SIZES = [22, 19, 16];
const PILL = 20, STEP = 12, NEAR = 150;  // pixels: height of a label, between the places tried, to the farthest one

// The largest size at which each text fits on one line; if none does, the texts wrap and the lines are hidden.
export function fit(root, parts) {
  const lines = [...root.querySelectorAll(".line")], before = root.fitted;
  root.fitted = [innerWidth, document.fonts?.status, parts, ...lines.map((line) => line.painted)].join("\n");
  if (root.fitted === before) return;
  const rowsOf = (line) => line.scrollHeight / parseFloat(getComputedStyle(line).lineHeight);
  const wrapped = () => lines.some((line) => rowsOf(line) > 1.6 || line.scrollWidth > line.clientWidth + 1);
  root.classList.remove("wrapped");
  root.style.removeProperty("--text");
  if (isNarrow()) return root.classList.toggle("wrapped", lines.some((line) => rowsOf(line) > 2.5));
  for (const size of parts > 1 ? [] : SIZES) {
    root.style.setProperty("--text", `${size}px`);
    if (!wrapped()) return;
  }
  root.style.setProperty("--text", "18px");
  root.classList.add("wrapped");
}

export function drawBetweenTexts(root, state, found) {
  const trace = traceOf(state), lines = [], placed = [];
  const quiet = !trace || state.editing || state.moment !== null;
  const chosen = quiet ? null : mark(root, state, found);
  if (chosen && !isNarrow() && !root.classList.contains("wrapped")) {
    const box = boxIn(root), [above, below] = root.querySelectorAll(".line");
    const room = below.offsetTop - above.offsetTop - above.offsetHeight;
    for (const one of [...found].reverse()) {
      const to = spanOf(root, one.side, one.column.word);
      if (!to || to === chosen) continue;
      const { d, end: [x, y], ...at } = one.head.kind === "cross" ? toOtherText(box(chosen), box(to), one.main)
        : withinText(box(chosen), box(to), one.head.kind === "decoder", room);
      lines.push(path(d, `var(--${one.tone})`, one.main ? 1.5 + 2 * one.share : 1.5, one.main ? 1 : 0.75),
        html`<circle cx="${x}" cy="${y}" r="${one.main ? 4 : 3}" style="fill:var(--${one.tone})"/>`);
      if (!(one.main && one.share < 0.3)) placed.push({ ...one, ...at });
    }
  }
  paint(root.querySelector(".joins"), html`${lines}`);
  labels(root.querySelector(".pills"), placed.reverse(), state, trace, roomIn(root));
}

// A faint thread from every word to its counterpart, by the links fitted to this model.
export function drawThreads(root, state) {
  const trace = traceOf(state), box = boxIn(root);
  const hidden = !trace?.evidence || state.editing || state.moment !== null || root.classList.contains("wrapped")
    || isNarrow();
  const thread = ([source, target]) => {
    const [from, to] = [spanOf(root, "source", source), spanOf(root, "target", target)];
    if (!from || !to) return "";
    const { x, bottom: y } = box(from), { x: u, top: v } = box(to);
    return path(`M${u} ${v + 3}C${u} ${v - 26} ${x} ${y + 26} ${x} ${y - 3}`, "var(--line)", 1.25, 1);
  };
  paint(root.querySelector(".threads"), html`${hidden ? "" : trace.evidence.links.map(thread)}`);
}

// Where a word is in the card of the texts: its middle, top and bottom.
function boxIn(root) {
  const home = root.getBoundingClientRect();
  return (span) => {
    const { left, top, bottom, width } = span.getBoundingClientRect();
    return { x: left - home.left + width / 2, top: top - home.top, bottom: bottom - home.top };
  };
}

// From a word to one of the other text, and the position of its label.
function toOtherText(p, q, main) {
  const up = q.bottom < p.top, from = up ? p.top + 2 : p.bottom - 2, to = up ? q.bottom : q.top, bend = up ? -34 : 34;
  const t = main ? 0.5 : 0.76, u = 1 - t;
  const mix = (a, b, c, d) => u ** 3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t ** 3 * d;
  return { d: `M${p.x} ${from}C${p.x} ${from + bend} ${q.x} ${to - bend} ${q.x} ${to}`, end: [q.x, to],
    x: mix(p.x, p.x, q.x, q.x) + 26, y: mix(from, from + bend, to - bend, to) };
}

// From a word to one of the same text: over the translation, below the source.
function withinText(p, q, over, room) {
  const from = over ? p.top + 2 : p.bottom - 2, to = over ? q.top + 1 : q.bottom - 1, middle = (p.x + q.x) / 2;
  const lift = Math.min(44, room - 14, 18 + Math.abs(p.x - q.x) * 0.12);
  const y = over ? Math.min(from, to) - lift : Math.max(from, to) + lift, bend = p.x + (q.x - p.x) * 0.12;
  return { d: `M${p.x} ${from}C${p.x} ${y} ${bend} ${y} ${middle} ${y}S${q.x} ${y} ${q.x} ${to}`, end: [q.x, to],
    x: middle, y };
}

// The room for labels between the texts.
function roomIn(root) {
  const home = root.getBoundingClientRect(), box = (name) => root.querySelector(name).getBoundingClientRect();
  const [above, below] = [box(".src"), box(".tgt")];
  return { left: above.left - home.left, right: above.right - home.left, top: above.bottom - home.top,
    bottom: below.top - home.top };
}

function labels(pills, all, state, trace, room) {
  const said = ({ head, tone }) => state.view !== "raw" ? ""
    : tone === "slate" || !trace.role(head) ? "looked" : roleCaption(trace.role(head));
  paint(pills, html`${all.map((one) => html`<button class="pill tone-${one.tone}" tabindex="-1"
    data-says="pill" data-head="${nameOf(one.head)}" aria-pressed="${one.main}">${said(one)} <b>${
    amount(state.view, one.value)}</b></button>`)}`);
  for (const pill of pills.children) pill.hidden = false;  // one that stays from before is measured again
  const used = [], widths = Array.from(pills.children, (pill) => pill.offsetWidth);
  all.forEach((one, i) => {
    const at = placeFor(one, widths[i], used, room);
    pills.children[i].hidden = !at;
    if (!at) return;  // no room: the word's panel says the same
    used.push([...at, widths[i]]);
    Object.assign(pills.children[i].style, { left: `${at[0]}px`, top: `${at[1]}px` });
  });
}

// The free place nearest to where a label of this width belongs, between the texts; null if there is none near.
function placeFor({ x, y }, width, used, { left, right, top, bottom }) {
  const isClear = (a, b) => ([c, d, w]) => Math.abs(d - b) >= PILL + 1 || Math.abs(c - a) >= (w + width) / 2 + 4;
  const isFree = ([a, b]) => used.every(isClear(a, b));
  const inside = (value, low, high) => Math.max(low, Math.min(value, high));
  const [home, high, low] = [inside(x, left + width / 2, right - width / 2), top + PILL / 2, bottom - PILL / 2];
  const steps = Math.max(0, Math.floor((right - left - width) / STEP));
  const columns = Array.from({ length: steps + 1 }, (_, i) => left + width / 2 + i * STEP);
  const places = [home, ...columns].flatMap((a) => [inside(y, high, low), high, low].map((b) => [a, b]));
  const far = ([a, b]) => Math.hypot(a - home, b - y);
  return places.filter((at) => far(at) < NEAR && isFree(at)).sort((a, b) => far(a) - far(b))[0] || null;
}

const path = (d, stroke, width, opacity) => html`<path d="${d}" stroke-width="${width}" opacity="${opacity}"
  fill="none" stroke-linecap="round" style="stroke:${stroke}"/>`;
