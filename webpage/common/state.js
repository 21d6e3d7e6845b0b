// The state of the page in one object, and its address.

import { KINDS, OFFERED } from "./trace.js";

export const START = {
  page: "see", tool: "maps", theme: "light",
  text: "", source: null, target: null, model: null, against: null, options: {}, alternative: 0, prefix: null, forced: null,
  reply: null, traces: [], part: 0,
  word: 0, read: 0, head: { kind: "cross", layer: 0, head: 0 },
  pinned: true, chosen: false, isFree: false,  // pinned: another word keeps the head; chosen: so does another text;
                                               // isFree: the page chooses when it is known which heads matter
  view: "raw", as: "map", overlay: "one", unit: "words", rows: "predicts", scale: "full", fade: false,
  temperature: 1, raw: false,
  hover: null,                     // { side, piece } of a text, or { row, column, piece } of the map
  swapped: false, mode: "after",   // swapped: the reader has changed the one word; mode: which of the two maps is shown
  busy: null, error: null, draft: null, changed: {},
  moment: null, playing: false, replay: null,
  twin: null, held: null, lab: {}, menu: null, allHeads: false,
  sharing: false, upload: false, sent: null,       // sent: of the file to translate its name and target, and share,
  glossary: null,                                  // error, or href and report; glossary: the file for it
  machine: { step: null, mode: "for", open: null, stop: null },  // step: of the token followed, null of the word
};

export const traceOf = (state) => state.traces[state.part] || null;

// Whether what is asked for is still on its way, and the maps are those of before.
export const isOld = ({ busy }) => busy === "translating" || busy === "looking";

// What the page waits for: `reads`, of a page with its model, says that the model is read before the first translation.
export const waitingFor = (state, { reads }) => reads && !traceOf(state) ? "Reading the model…" : "Translating…";

// The side of the words that look, and which of them is chosen.
export const sideOf = ({ head }) => head.kind === "encoder" ? "source" : "target";
export const chosenOf = (state) => sideOf(state) === "source" ? state.read : state.word;
// The looking word: the one under the pointer, else the chosen one.
export function looking(state) {
  const { hover } = state, isOwn = hover?.piece !== undefined && (hover.side ?? sideOf(state)) === sideOf(state);
  return isOwn ? hover.piece : chosenOf(state);
}

// The theme: kept from an earlier visit, else the system's.
export function firstTheme() {
  let kept = null;
  try { kept = localStorage.getItem("s2s-theme"); } catch { /* a sandboxed frame keeps nothing */ }
  return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
export function keepTheme(theme) {
  try { localStorage.setItem("s2s-theme", theme); } catch { /* as above */ }
}

// The languages chosen lately, latest first: kept likewise.
const RECENT = 5;
export function recentLanguages() {
  try { return JSON.parse(localStorage.getItem("s2s-languages")) || []; } catch { return []; }
}
export function keepLanguage(code) {
  const recent = [...new Set([code, ...recentLanguages()])].slice(0, RECENT);
  try { localStorage.setItem("s2s-languages", JSON.stringify(recent)); } catch { /* as above */ }
}

// The page of an address, and the tool of the lab: of its part after #, as browsers do not send it.
export function pageOf({ hash }) {
  if (/^#(learn|lessons|lesson-\d+)$/.test(hash)) return { page: "lessons" };
  if (hash === "#story") return { page: "story" };
  const [isLab, tool] = /^#(?:lab(?:-(\w+))?|machine)$/.exec(hash) ?? [];
  return isLab ? { page: "lab", tool: hash === "#machine" ? "machine" : tool ?? "maps" } : { page: "see" };
}

// See shows one thing: the weights of one head between words.  The lab has the other views.
const PLAIN = { view: "raw", unit: "words", rows: "predicts", as: "map", overlay: "one", scale: "full", fade: false };
export const lookOf = (state) => state.page === "see" && state.moment === null ? { ...state, ...PLAIN } : state;

const ALLOWED = { view: OFFERED, unit: ["words", "tokens"], as: ["map", "lines"], overlay: ["one", "all"],
  rows: ["predicts", "reads"], theme: ["light", "dark"], mode: ["before", "after", "difference"] };

// The part of an address that opens the same sentence, word and head.
export function toAddress(state) {
  const { text, source: from, target: to, word, head: { kind, layer, head } } = state;
  const given = { text, from, to, look: [kind, layer, head].join(), word };
  for (const name of ["model", "against", ...Object.keys(ALLOWED)]) if (state[name] !== START[name]) given[name] = state[name];
  for (const [name, value] of Object.entries(state.options)) given[name] = value;
  if (state.alternative) given.shown = state.alternative;
  if (state.part) given.part = state.part;
  if (state.swapped) given.swapped = 1;
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== null && value !== "")).toString();
}

// The state that an address asks for; invalid parts are ignored.
function fromAddress(query) {
  const params = new URLSearchParams(query), found = {}, options = found.options = {};
  if ((params.get("text") || "").trim()) found.text = params.get("text");
  for (const [name, key] of [["from", "source"], ["to", "target"], ["model", "model"], ["against", "against"]]) {
    if (params.get(name)) found[key] = params.get(name);
  }
  const [kind, layer, head] = (params.get("look") || "").split(",");
  if (KINDS.includes(kind) && /^\d{1,3}$/.test(layer) && /^\d{1,3}$/.test(head)) {
    Object.assign(found, { head: { kind, layer: +layer, head: +head }, chosen: true });
  }
  for (const [name, values] of Object.entries(ALLOWED)) {
    if (values.includes(params.get(name))) found[name] = params.get(name);
  }
  const take = (name, into, key = name) => { if (/^\d{1,4}$/.test(params.get(name))) into[key] = +params.get(name); };
  take("word", found);
  take("part", found);
  if (params.get("swapped")) found.swapped = true;
  take("shown", found, "alternative");
  for (const name of ["num_beams", "alternatives", "top_k", "seed"]) take(name, options);
  for (const name of ["temperature", "top_p"])
    if (Number(params.get(name)) > 0) options[name] = Number(params.get(name));
  return found;
}

// What a reload or Back finds again: kept in this entry of the tab's history, not in the address, for a browser lists
// addresses.  The address of a link goes when the page no longer shows its text.
export function keepPlace(state) {
  const { prefix, forced, pinned, chosen } = state, s2s = { address: toAddress(state), prefix, forced, pinned, chosen };
  if (JSON.stringify(history.state?.s2s) === JSON.stringify(s2s)) return;
  const linked = new URLSearchParams(location.search).get("text");
  const address = linked && linked !== state.text ? location.pathname + location.hash : location.href;
  try { history.replaceState({ ...history.state, s2s }, "", address); } catch { /* a sandboxed frame has no history */ }
}
export function keptPlace() {
  const kept = history.state?.s2s;
  if (!kept) return fromAddress(location.search);
  const { address, ...rest } = kept;
  return { ...fromAddress(address), ...rest };
}
