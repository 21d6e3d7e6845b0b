// What can be kept of a translation: the numbers, every map, the page.

import { choice } from "./map.js";
import { traceOf } from "./state.js";
import { direction, placeOf } from "./wording.js";

export function exported(form, context) {
  const { state } = context, trace = traceOf(state);
  const name = "seq2see", makers = { csv: () => save(`${name}.csv`, csv(state, trace), "text/csv"), json: () => save(`${name}.json`, JSON.stringify(trace.record), "application/json") };
  makers[form]?.();
}

function csv(state, trace) {
  const map = trace.map(state.head, choice(state)), cell = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const title = `${direction(state.head.kind, trace.languages)}, ${placeOf(state.head)}, ${state.view}`;
  return [[title, ...map.columns.map((one) => one.label)].map(cell), ...map.at.map((row, i) => [cell(map.rows[i].label), ...row.map((value) => value === null ? "" : value.toPrecision(4))])].map((row) => row.join(",")).join("\r\n");
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
