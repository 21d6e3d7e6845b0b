// The lines between the two texts: from the looking word to the words it looks at; threads between counterparts.

import { html, isNarrow, isStill, paint } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { isOther, mark, spanOf } from "./texts.js";
import { percent } from "../common/wording.js";

const SIZES = [22, 21, 20, 19, 18, 17];  // pixels
const SLIDE = 750;  // milliseconds in which a line goes to another word

// The largest size at which each text fits on one line; if none does, the texts wrap and the lines are hidden.
export function fit(root, state) {
  const lines = [...root.querySelectorAll(".mirror, .tgt")], before = root.fitted, parts = state.traces.length;
  root.fitted = [innerWidth, document.fonts?.status, parts, ...lines.map((line) => line.painted)].join("\n");
  if (root.fitted === before) return;
  const rowsOf = (line) => line.scrollHeight / parseFloat(getComputedStyle(line).lineHeight);
  const wrapped = () => lines.some((line) => rowsOf(line) > 1.6);
  root.classList.toggle("long", parts > 1);
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

export function drawBetweenTexts(root, state, found, { slide = false } = {}) {
  const isQuiet = !traceOf(state) || isOther(state) || root.classList.contains("wrapped");
  const chosen = traceOf(state) && mark(root, state, found), place = root.querySelector(".joins");
  const box = boxIn(root), isBelow = state.head.kind === "encoder";
  const arcs = isQuiet || !chosen ? [] : found.flatMap(({ share, side, column, tone }) => {
    const to = spanOf(root, side, column.word);
    return !to || to === chosen ? [] : [{ share, tone, within: side === (isBelow ? "source" : "target"), isBelow,
      from: box(chosen), to: box(to) }];
  });
  const draw = (all) => paint(place, html`${[...all].reverse().map((one) => arc(one, one === all[0]))}`);
  const { of: before = [] } = place, start = performance.now(), mayMove = slide && before.length && arcs.length && !isStill();
  place.of = arcs;
  cancelAnimationFrame(place.sliding);
  if (!mayMove) return draw(arcs);
  const step = (now) => {
    const k = Math.min(1, Math.max(0, (now - start) / SLIDE)), eased = k < 0.5 ? 4 * k ** 3 : 1 - (2 - 2 * k) ** 3 / 2;
    const mix = (a, b) => Object.fromEntries(Object.keys(b).map((key) => [key, a[key] + (b[key] - a[key]) * eased]));
    draw(arcs.map((one, i) => {
      const old = before[i] ?? before[0];
      return old.within !== one.within ? one : { ...one, from: mix(old.from, one.from), to: mix(old.to, one.to) };
    }));
    if (k < 1) place.sliding = requestAnimationFrame(step);
  };
  step(start);
}

// A line, the largest with its share: over the translation, below the text, or between the two.
function arc({ share, tone, within, isBelow, from: p, to: q }, isMain) {
  const [y, v] = isBelow ? [p.bottom, q.bottom] : [p.top, within ? q.top : q.bottom], sign = isBelow ? 1 : -1;
  const lift = sign * Math.min(40, 24 + Math.abs(p.x - q.x) / 16) * 1.25, end = v + (within ? sign * 3 : 4);
  const isAcross = within && Math.abs(p.top - q.top) > 12;  // to a word of another line
  const d = isAcross ? `M${p.x} ${p.top > q.top ? p.top + 2 : p.bottom - 2}L${q.x} ${p.top > q.top ? q.bottom - 2 : q.top + 2}`
    : within ? `M${p.x} ${y}C${p.x} ${y + lift} ${q.x} ${v + lift} ${q.x} ${end}`
    : `M${p.x} ${y}C${p.x} ${y - 40} ${q.x} ${v + 40} ${q.x} ${end}`;
  const x = (p.x + q.x) / 2, middle = within ? (y + v) / 2 + 0.75 * lift : (y + v) / 2, said = percent(share);
  const width = 16 + 7.2 * said.length;
  return html`<g class="tone-${tone}" opacity="${isMain ? 1 : 0.6}"><path d="${d}" fill="none" stroke-linecap="round"
    stroke-width="${1.5 + 2.6 * share}"/>${!isAcross && html`<circle cx="${q.x}" cy="${end}" r="4"/>`}${isMain && !isAcross && html`<rect
    x="${x - width / 2}" y="${middle - 10}" width="${width}" height="20" rx="10"/><text x="${x}"
    y="${middle + 4.2}" data-says="pill">${said}</text>`}</g>`;
}

// A faint thread from every word to its counterpart, by the links fitted to this model.
export function drawThreads(root, state) {
  const trace = traceOf(state), box = boxIn(root);
  const hidden = !trace?.evidence || isOther(state) || root.classList.contains("wrapped") || isNarrow();
  const thread = ([source, target]) => {
    const [from, to] = [spanOf(root, "source", source), spanOf(root, "target", target)];
    if (!from || !to) return "";
    const { x } = box(from), { x: u, top: v } = box(to), y = root.querySelector(".box").offsetTop
      + root.querySelector(".box").offsetHeight;
    return html`<path d="M${u} ${v - 1}C${u} ${v - 26} ${x} ${y + 26} ${x} ${y + 1}" fill="none"/>`;
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
