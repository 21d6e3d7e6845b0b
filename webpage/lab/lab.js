// Below the map: watch the model learn, and the lab, six questions.  Each is a tool in the drawer, with `question`,
// `name`, `about` and `draw(context, trace)`; a control with data-note keeps its value in `state.lab` by name.

import { alike } from "./similar_words.js";
import { forgetErrors } from "../common/tool_parts.js";
import { arithmetic } from "./arithmetic.js";
import { layers } from "./layers.js";
import { learnActions, learnBar } from "./replay.js";
import { html, icon, paint, tipped } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { switchActions, switchOff } from "./switch_off.js";
import { tree } from "./beam_tree.js";
import { whatIf } from "./what_if.js";

const OWN = `Shows “Other possible words” and the alternatives with the model’s own chances, from which sampling draws.
  Everywhere else, chances are calibrated.`;
const TOOLS = { off: switchOff, what: whatIf, row: arithmetic, layers, tree, alike };

export function dock(state, settings) {
  if (!settings.engine || !traceOf(state)) return "";
  return html`${learnBar(state, settings)}<span class="vr"></span><div class="lab" role="toolbar"
    aria-label="Lab"><b>Lab</b>${Object.entries(TOOLS).map(([id, tool]) => html`<button data-do="lab" data-value="${id}"
    data-k="lab-${id}" aria-expanded="${state.drawer === id}"
    ${tipped(html`<b>${tool.name}.</b> ${tool.about}`)}>${tool.question}</button>`)}${
    traceOf(state).record.calibrated && html`<label class="second" ${tipped(OWN)}><input type="checkbox"
    data-toggle="raw" data-k="raw" ${state.raw ? html`checked` : ""}> The model’s own chances</label>`}</div>`;
}

export function dockActions(context) {
  const { state, root, set } = context;
  return {
    lab({ dataset: { value } }) {
      const opening = state.drawer !== value;
      forgetErrors(state.lab);
      set({ drawer: opening ? value : null });
      root.querySelector(opening ? ".drawer .x" : `[data-k="lab-${value}"]`)?.focus();
    },
    ...switchActions(context),
    ...learnActions(context),
  };
}

export function drawer(element, context) {
  const { state } = context, tool = TOOLS[state.drawer];
  element.hidden = !tool || !traceOf(state) || state.moment !== null;
  if (element.hidden) return;
  element.dataset.tool = state.drawer;
  paint(element, html`<div class="hd"><h2>${tool.question}</h2><span class="soft">${tool.name}. ${
    tool.about}</span><button class="icon x" aria-label="Close" data-do="lab" data-value="${state.drawer}"
    data-k="close">${icon("close")}</button></div>${tool.draw(context, traceOf(state))}`);
}
