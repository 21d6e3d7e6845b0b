// The map shown: of this sentence; on See, after a swap, also of the other sentence of the pair, or the difference.

import { shared } from "../common/markup.js";
import { isOld, lookOf, looking, traceOf } from "../common/state.js";
import { nameOf } from "../common/trace.js";

const SHORT = 11;  // letters of two words that stand side by side in a row's label

// The trace of the sentence before the swap, or null.
export const beforeOf = ({ page, swapped, twin, moment }) =>
  page === "see" && swapped && moment === null ? twin : null;
export const modeOf = (state) => beforeOf(state) ? state.mode : "after";

export function mapOf(state) {
  const trace = traceOf(state), { head } = state, map = trace.map(head, lookOf(state)), mode = modeOf(state);
  if (mode === "after") return map;
  const before = beforeOf(state).map(head);
  return mode === "before" ? before
    : trace.once(`difference ${nameOf(head)} ${beforeOf(state).source}`, () => difference(map, before));
}

// For each of the words `own`, which of `other` stands in its place; null for none.
function partners(own, other) {
  if (own.length === other.length) return own.map((_, i) => i);
  const labels = (all) => all.map(({ label }) => label), found = new Map(shared(labels(own), labels(other)));
  return own.map((_, i) => found.get(i) ?? null);
}
// The word in the other trace that stands in the place of this one, or undefined.
export const partnerOf = (trace, other, unit) => other.written[partners(trace.written, other.written)[
  trace.written.findIndex((one) => one.pieces[0] === unit.pieces[0])]];

function difference(after, before) {
  const [rows, columns] = [partners(after.rows, before.rows), partners(after.columns, before.columns)];
  const there = (i, j) => rows[i] === null || columns[j] === null ? null : before.at[rows[i]][columns[j]];
  const at = after.at.map((row, i) => row.map((value, j) =>
    value === null || there(i, j) === null ? null : value - there(i, j)));
  const isOther = (one, other) => Boolean(other) && other.label !== one.label;
  const both = (one, other) => isOther(one, other) && (one.label + other.label).length < SHORT
    ? `${other.label}→${one.label}` : one.label;
  const marked = (all, places, others) => all.map((one, i) => ({ ...one, isOther: isOther(one, others[places[i]]) }));
  return { ...after, at, most: 1, highest: 1, isDifference: true, columns: marked(after.columns, columns, before.columns),
    rows: after.rows.map((one, i) => ({ ...one, label: both(one, before.rows[rows[i]]) })) };
}

// The row of the looking word in the map shown; -1 if it has none.
export function rowOf(state, map) {
  const own = traceOf(state).map(state.head, lookOf(state)).rows, piece = looking(state);
  const at = own.findIndex((one) => one.pieces.includes(piece));
  return modeOf(state) === "before" && at >= 0 ? partners(own, map.rows)[at] ?? -1 : at;
}
// The looking word of a row of the map shown.
export function wordAt(state, i) {
  const own = traceOf(state).map(state.head, lookOf(state)).rows;
  return own[modeOf(state) === "before" ? partners(own, mapOf(state).rows).indexOf(i) : i]?.pieces[0];
}

export const isStale = (state) => isOld(state) && state.waited;
