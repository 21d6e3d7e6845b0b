// HTML as text: values in html`...` are escaped, unless they are such HTML themselves.

class Markup {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
function escaped(value) {
  if (value instanceof Markup || Array.isArray(value)) return value.text ?? value.map(escaped).join("");
  return value == null || value === false ? "" : String(value).replace(/[&<>"']/g, (mark) => ESCAPES[mark]);
}

const rendered = (before, value) => value === false && /(^| )aria-\w+="$/.test(before) ? "false" : escaped(value);
export const html = (parts, ...values) =>
  new Markup(parts.reduce((text, part, i) => text + rendered(parts[i - 1], values[i - 1]) + part));

const PATHS = {
  down: "m4 6 4 4 4-4", up: "m4 10 4-4 4 4", close: "m4 4 8 8M12 4l-8 8", more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  pen: "M10.8 2.9 13.1 5.2 5.6 12.7l-3 .7.7-3z", share: "M8 10V2M5 4.5 8 1.8l3 2.7M3 8v5.2h10V8",
  copy: "M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5z"
    + "M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5",
  pin: "M6 2h4l-.5 4.2L12 8.6V10H4V8.6l2.5-2.4zM8 10v4.5", warning: "M8 5v3.5M8 11v.1M8 1.8 15 14H1z",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z",
  info: "M8 1.7a6.3 6.3 0 1 0 0 12.6A6.3 6.3 0 0 0 8 1.7M8 7.4v3.6M8 5v.1",
};
export const icon = (name) =>
  html`<svg class="ic" viewBox="0 0 16 16" aria-hidden="true"><path d="${PATHS[name]}"/></svg>`;

// The words of `after` that `before` lacks in that place: [{ start, end }, ...].
export function changed(before, after) {
  const cut = (text) => [...text.matchAll(/[\p{L}\p{M}\p{N}]+['’]?|[^\s\p{L}\p{M}\p{N}]/gu)];
  const words = cut(after), textOf = ([word]) => word;
  return unshared(cut(before).map(textOf), words.map(textOf))
    .map((j) => ({ start: words[j].index, end: words[j].index + words[j][0].length }));
}

// The places in B of what is not in a longest common subsequence of A and B.
export function unshared(A, B) {
  const kept = new Set(shared(A, B).map(([, j]) => j));
  return [...B.keys()].filter((j) => !kept.has(j));
}

// A longest common subsequence of A and B: [[place in A, place in B], ...].
export function shared(A, B) {
  const longest = Array.from({ length: A.length + 1 }, () => new Uint16Array(B.length + 1)), found = [];
  for (let i = A.length - 1; i >= 0; i--) for (let j = B.length - 1; j >= 0; j--)
    longest[i][j] = A[i] === B[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  for (let i = 0, j = 0; i < A.length && j < B.length;) {
    if (A[i] === B[j]) found.push([i++, j++]); else if (longest[i + 1][j] >= longest[i][j + 1]) i++; else j++;
  }
  return found;
}

// A text in which some stretches, [{ start, end }, ...], are drawn by `draw`, from the text and the stretch.
export function stretches(text, some, draw) {
  const ends = [0, ...some.map(({ end }) => end)];
  return html`${some.map((one, i) => [text.slice(ends[i], one.start), draw(text.slice(one.start, one.end), one)])}${
    text.slice(ends.at(-1))}`;
}

// The attribute of a tooltip; `tip` is HTML or text.
export const tipped = (tip) => html`data-tip="${String(tip)}"`;
// A row of buttons, one for each value or [value, text]; `act` is what the click handler does with name and value.
export function segment(label, act, name, options, chosen, tip = "") {
  const button = ([value, text = value]) => html`<button data-${act}="${name}" data-value="${value}"
    data-k="${name}-${value}" aria-pressed="${value === chosen}">${text}</button>`;
  return html`<span class="seg" role="group" aria-label="${label}" ${tip}>${
    options.map((one) => button([one].flat()))}</span>`;
}
// A slider from 0 to `last`, and what its value stands for.
export const slide = (label, last, value, attributes, valueText) => html`<label class="slide second"><span>${
  label}</span><input type="range" min="0" max="${last}" value="${value}" ${attributes}
  aria-valuetext="${valueText}"><output>${valueText}</output></label>`;
// A button that opens the menu of this name.
export const opener = (state, name, label, more = html`class="tool second"`) => html`<button data-menu="${name}"
  data-k="${name}" aria-haspopup="menu" aria-expanded="${state.menu === name}" ${more}>${label}</button>`;
export const about = (tip) =>
  html`<button class="about" aria-label="About this" ${tipped(tip)}>${icon("info")}</button>`;

// Each drawn by `draw`, with `by` between them.
export const listed = (all, draw, by = ", ") => html`${all.map((one, i) => html`${i ? by : ""}${draw(one)}`)}`;

// Whether the page has the layout of a phone, as in narrow.css.
const PHONE = matchMedia("(max-width: 760px)");
export const isNarrow = () => PHONE.matches;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
export const isStill = () => STILL.matches;

// Puts a pop-up at a place of the window, inside its edges.
export function putAt(box, left, top) {
  const home = box.offsetParent.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(left, innerWidth - box.offsetWidth - 12)) - home.left}px`;
  box.style.top = `${top - home.top}px`;
}

// Puts HTML into an element and returns the focus to the control with the same `data-k`.
export function paint(element, markup) {
  const root = element.getRootNode(), kept = element.contains(root.activeElement) && root.activeElement.dataset.k;
  const text = escaped(markup instanceof Markup ? markup : markup || "");
  if (element.painted === text) return false;
  element.innerHTML = element.painted = text;
  if (kept) element.querySelector(`[data-k="${CSS.escape(kept)}"]`)?.focus({ preventScroll: true });
  return true;
}
