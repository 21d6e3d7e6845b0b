// What the page listens to: clicks, the text field, the pointer, the keyboard.

import { clicksOf, pickHead, pickRow, pickWord } from "./actions.js";
import { cellAt } from "../maps/map.js";
import { mapOf, rowOf, wordAt } from "../maps/difference.js";
import { sift, walk } from "./menus.js";
import { traceOf } from "../common/state.js";
import { headOf, same } from "../common/trace.js";
import { listenToFiles } from "./upload.js";

const REST = 500;  // milliseconds without a key press, after which the text is translated

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
    if (span?.dataset.side === "target") return chooseWord(context, +span.dataset.piece);
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

// A word of the translation; the chosen one opens the menu of other possible words.
function chooseWord(context, piece) {
  const { state, set, settings } = context, isChosen = traceOf(state).unitAt("target", piece).pieces.includes(state.word);
  if (isChosen && state.page === "see" && settings.engine) return set({ menu: state.menu === "word" ? null : "word" });
  pickWord(context, "target", piece);
}

// Translates while the reader types, Ctrl+Enter at once; the caret marks the column of its word.
function listenToField({ state, root, render, open, hover }) {
  const field = root.querySelector(".texts textarea");
  let typing = null;
  if (!field) return;
  function translate() {
    clearTimeout(typing);
    if (state.draft === null) return;
    const text = state.draft;
    state.draft = null;
    if (text !== state.text) open(text); else render();
  }
  field.addEventListener("input", () => {
    state.draft = field.value;
    clearTimeout(typing);
    typing = setTimeout(translate, REST);
    render();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); translate(); }
  });
  field.addEventListener("blur", () => { translate(); hover(null); });
  document.addEventListener("selectionchange", () => {
    const trace = traceOf(state);
    if (root.getRootNode().activeElement !== field || !trace || state.draft !== null || state.text !== field.value) return;
    const before = state.text.indexOf(trace.source), at = field.selectionStart - before;
    const word = before < 0 ? null : trace.words("source").find(({ start, end }) => at >= start && at <= end);
    const isWhole = field.selectionStart === 0 && field.selectionEnd === field.value.length;
    hover(word && !isWhole ? { side: "source", piece: word.pieces[0] } : null);
  });
}

function listenToPointer({ state, root, hover }) {
  root.addEventListener("pointermove", (event) => {
    const { target, pointerType } = event, span = target.closest(".w"), row = target.closest("[data-row]");
    if (pointerType === "touch") return;
    if (span) hover({ side: span.dataset.side, piece: +span.dataset.piece });
    else if (row) hover(ofRow(state, cellAt(event, state) || { row: +row.dataset.row }));
    else if (!root.querySelector("[role=grid]:focus-visible, textarea:focus")) hover(null);
  });
  root.addEventListener("pointerleave", () => hover(null));
  root.addEventListener("focusin", ({ target }) => {
    if (target.matches(".w:focus-visible")) hover({ side: target.dataset.side, piece: +target.dataset.piece });
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (target.matches(".w,[role=grid]") && !relatedTarget?.matches?.(".w,[role=grid]")) hover(null);
  });
}

const ofRow = (state, at) => ({ ...at, piece: wordAt(state, at.row) });

// --- the keyboard

function listenToKeys(context) {
  const { state, root, set, actions } = context;
  root.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key === "Escape" && state.menu) {
      const { menu } = state;
      event.stopPropagation();
      set({ menu: null });
      return root.querySelector(menu === "word" ? ".tgt .w.sel" : `[data-menu="${menu}"]`)?.focus();
    }
    if (target.closest(".pop")) return walk(root.querySelector(".pop"), event);
    if (target.matches("input, textarea, select") && target.type !== "range") return;
    if (key === "Escape" && state.upload) return actions.upload();
    if (key === "Escape" && state.sharing) return actions.share();
    if (key === "Escape" && state.allHeads) return actions.heads();
    if (target.matches("[role=radio]")) radioKey(event);
    if (target.dataset.do === "seek") {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[key];
      if (by) { event.preventDefault(); actions.moment(by); }
    }
    if (target.matches(".w")) wordKey(context, event);
    if (target.matches("[role=grid]")) gridKey(context, event);
    if (target.matches(".th")) headKey(context, event);
  });
}

// The arrows choose in a radio group.
function radioKey(event) {
  const all = [...event.target.parentElement.querySelectorAll("[role=radio]")];
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key], { length } = all;
  if (!by) return;
  event.preventDefault();
  const next = all[(all.indexOf(event.target) + by + length) % length];
  next.focus();
  next.click();
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
  if (key === "Enter" || key === " ") { event.preventDefault(); return chooseWord(context, +piece); }
  if (step(context, event)) return;
  const onward = getComputedStyle(target).direction === "rtl" ? -1 : 1;
  const next = move(event.target.parentElement.closest(".tgt, .wrote"), event, `.w[data-side=${side}]`, { ArrowLeft: -onward, ArrowRight: onward }[key]);
  if (next) context.hover({ side, piece: +next.dataset.piece }, { speak: true });
}

function gridKey(context, event) {
  const { state, root, hover } = context, { key, ctrlKey } = event;
  const map = mapOf(state), onward = map.mirrored ? -1 : 1;
  if (step(context, event)) return;
  if (key === "Escape") { hover(null); return event.target.blur(); }
  const row = state.hover?.row ?? rowOf(state, map);
  const column = state.hover?.column ?? -1, [last, end] = [map.rows.length - 1, map.columns.length - 1];
  if (key === "Enter" || key === " ") { event.preventDefault(); return pickRow(context, Math.max(0, row)); }
  const to = { ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - onward], ArrowRight: [row, column + onward],
    Home: [ctrlKey ? 0 : row, 0], End: [ctrlKey ? last : row, end] }[key];
  if (!to) return;
  event.preventDefault();
  hover(ofRow(state, { row: Math.max(0, Math.min(last, to[0])), column: Math.max(0, Math.min(end, to[1])) }), { speak: true });
  root.querySelector("#s2s-cell")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function headKey(context, event) {
  const { target, key } = event, [, heads] = traceOf(context.state).sizes[headOf(target.dataset.head).kind];
  if (step(context, event)) return;
  move(target.closest(".groups"), event, ".th", { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[key]);
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
