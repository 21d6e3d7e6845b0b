// What the page listens to: clicks, the text field, the pointer, the keyboard.

import { clicksOf, pickHead, pickRow, pickWord } from "./actions.js";
import { cellAt } from "./map.js";
import { sift, walk } from "./menus.js";
import { chosenOf, traceOf } from "../common/state.js";
import { same } from "./texts.js";
import { headOf } from "../common/trace.js";
import { listenToFiles } from "./upload.js";

const REST = 400;  // milliseconds without a key press, after which the text is translated

export function listen(context) {
  listenToClicks(context);
  listenToField(context);
  listenToPointer(context);
  listenToKeys(context);
  listenToFiles(context);
}

function listenToClicks(context) {
  const { state, root, set, note, actions } = context, clicks = clicksOf(context);
  const controls = Object.keys(clicks).map((name) => `[data-${name}]`).join();
  root.addEventListener("click", (event) => {
    const at = (name) => event.target.closest(name), own = at(controls);
    if (own && !own.matches("input, select, textarea")) {
      if (own.tagName === "A") {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;  // another tab or window
        event.preventDefault();
      }
      const [name] = Object.keys(clicks).filter((one) => own.dataset[one] !== undefined);
      return clicks[name](own.dataset[name], own);
    }
    const span = at(".w"), row = at("[data-row]");
    if (span) return pickWord(context, span.dataset.side, +span.dataset.piece);
    if (row) return pickRow(context, +row.dataset.row);
    if (state.menu && !at(".pop")) set({ menu: null });
  });
  const given = ({ target, type }) => {
    const { dataset, value, checked } = target;
    if (dataset.find !== undefined) return sift(target.closest(".pop"), target);
    if ((target.type === "range") !== (type === "input")) return;  // a slider acts while it moves
    if (dataset.toggle) set({ [dataset.toggle]: checked });
    else if (dataset.note) note(dataset.note, value.trim());
    else actions[dataset.do]?.(target);
  };
  for (const type of ["input", "change"]) root.addEventListener(type, given);
}

// Translates while the reader types; Enter or leaving the field ends it, Escape gives up.
function listenToField({ state, root, set, open, again }) {
  let typing = null;
  function end(keep) {
    clearTimeout(typing);
    const text = (state.draft ?? "").trim();
    set({ editing: false });
    if (keep && text && text !== state.text) open(text, { pinned: false }); else if (!keep) again();
  }
  root.addEventListener("input", ({ target }) => {
    if (!target.matches(".field")) return;
    state.draft = target.value;
    target.style.height = "auto"; target.style.height = `${target.scrollHeight}px`;
    clearTimeout(typing);
    typing = setTimeout(() => open(target.value, { pinned: false }), REST);
  });
  root.addEventListener("focusout", ({ target }) => {
    if (!target.matches(".field") || !state.editing) return;
    setTimeout(() => {
      if (state.editing && !root.getRootNode().activeElement?.matches(".field")) end(true);
    }, 120);
  });
  root.addEventListener("keydown", (event) => {
    if (!event.target.matches(".field")) return;
    if (event.key === "Escape") { state.draft = state.text; end(false); }
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); end(true); }
  });
}

function listenToPointer({ state, root, hover }) {
  root.addEventListener("pointermove", (event) => {
    const { target, pointerType } = event, span = target.closest(".w"), row = target.closest("[data-row]");
    if (pointerType === "touch") return;
    if (span) hover({ side: span.dataset.side, piece: +span.dataset.piece });
    else if (row) hover(cellAt(event, state) || { row: +row.dataset.row });
    else if (!root.querySelector("[role=grid]:focus-visible")) hover(null);
  });
  root.addEventListener("pointerleave", () => hover(null));
  root.addEventListener("focusin", ({ target }) => {
    if (target.matches(".w:focus-visible")) hover({ side: target.dataset.side, piece: +target.dataset.piece });
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (target.matches(".w,[role=grid]") && !relatedTarget?.matches?.(".w,[role=grid]")) hover(null);
  });
}

// --- the keyboard

function listenToKeys(context) {
  const { state, root, set, actions } = context;
  root.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key === "Escape" && state.menu) {
      const { menu } = state;
      event.stopPropagation();
      set({ menu: null });
      return root.querySelector(`[data-menu="${menu}"]`)?.focus();
    }
    if (target.closest(".pop")) return walk(root.querySelector(".pop"), event);
    if (target.matches(".field")) return;
    if (key === "Escape" && state.upload) return actions.upload();
    if (key === "Escape" && state.drawer) return actions.lab({ dataset: { value: state.drawer } });
    if (target.dataset.do === "seek") {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[key];
      if (by) { event.preventDefault(); actions.moment(by); }
    }
    if (target.matches(".w")) wordKey(context, event);
    if (target.matches("[role=grid]")) gridKey(context, event);
    if (target.matches(".th")) headKey(context, event);
  });
}

// Moves the focus among controls that share one tab stop; returns the newly focused control.
function move(root, event, selector, step) {
  if (!step) return null;
  event.preventDefault();
  const all = [...root.querySelectorAll(selector)], next = all[all.indexOf(event.target) + step];
  if (!next) return null;
  all.forEach((one) => { one.tabIndex = one === next ? 0 : -1; });
  next.focus();
  return next;
}

function wordKey(context, event) {
  const { key, target } = event, { side, piece } = target.dataset;
  if (key === "Enter" || key === " ") { event.preventDefault(); return pickWord(context, side, +piece); }
  const onward = getComputedStyle(target).direction === "rtl" ? -1 : 1;
  const next = move(context.root, event, `.w[data-side=${side}]`, { ArrowLeft: -onward, ArrowRight: onward }[key]);
  if (next) context.hover({ side, piece: +next.dataset.piece }, { speak: true });
}

function gridKey(context, event) {
  const { state, root, hover } = context, { key, ctrlKey } = event;
  const map = traceOf(state).map(state.head, state), onward = map.mirrored ? -1 : 1;
  if (step(context, event)) return;
  if (key === "Escape") { hover(null); return event.target.blur(); }
  const row = state.hover?.row ?? map.rows.findIndex((one) => one.pieces.includes(chosenOf(state)));
  const column = state.hover?.column ?? -1, [last, end] = [map.rows.length - 1, map.columns.length - 1];
  if (key === "Enter" || key === " ") { event.preventDefault(); return pickRow(context, Math.max(0, row)); }
  const to = { ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - onward], ArrowRight: [row, column + onward],
    Home: [ctrlKey ? 0 : row, 0], End: [ctrlKey ? last : row, end] }[key];
  if (!to) return;
  event.preventDefault();
  hover({ row: Math.max(0, Math.min(last, to[0])), column: Math.max(0, Math.min(end, to[1])) }, { speak: true });
  root.querySelector("#s2s-cell")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function headKey(context, event) {
  const { target, key } = event, [, heads] = traceOf(context.state).sizes[headOf(target.dataset.head).kind];
  if (step(context, event)) return;
  move(context.root, event, ".th", { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[key]);
}

// [ and ] choose the previous and next head, comma and full stop the previous and next word.
function step(context, event) {
  const { state } = context, trace = traceOf(state), by = { "[": -1, "]": 1, ",": -1, ".": 1 }[event.key];
  const after = (all, isChosen) => all[(all.findIndex(isChosen) + by + all.length) % all.length];
  if (!by) return false;
  event.preventDefault();
  if (/[[\]]/.test(event.key)) pickHead(context, after(trace.heads, (one) => same(one, state.head)));
  else pickWord(context, "target", after(trace.written, (one) => one.pieces.includes(state.word)).pieces[0]);
  return true;
}
