// Below the map: watch the model learn, and the lab, six questions.  Each is a tool in the drawer, with `question`,
// `name`, `about`, `draw(body, context)` and `actions`, by the name in a control's data-do.

import { alike } from "./alike.js";
import { arithmetic } from "./arithmetic.js";
import { layers } from "./layers.js";
import { learnActions, learnBar } from "./learn.js";
import { html, icon, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { switchOff } from "./switch_off.js";
import { tree } from "./tree.js";
import { whatIf } from "./what_if.js";

const TOOLS = { off: switchOff, what: whatIf, row: arithmetic, layers, tree, alike };

export function dock(state, settings) {
  if (!settings.engine || !traceOf(state)) return "";
  return html`${learnBar(state, settings)}<span class="vr"></span><div class="lab" role="toolbar"
    aria-label="Lab"><b>Lab</b>${Object.entries(TOOLS).map(([id, tool]) => html`<button data-do="lab" data-value="${id}"
    data-k="lab-${id}" aria-expanded="${state.drawer === id}"
    ${tipped(html`<b>${tool.name}.</b> ${tool.about}`)}>${tool.question}</button>`)}</div>`;
}

export function dockActions(context) {
  const acts = Object.values(TOOLS).flatMap((tool) => Object.entries(tool.actions || {}));
  return {
    lab: ({ dataset: { value } }) => {
      const { state, root, set } = context, opening = state.drawer !== value;
      set({ drawer: opening ? value : null });
      root.querySelector(opening ? ".drawer .x" : `[data-k="lab-${value}"]`)?.focus();
    },
    ...Object.fromEntries(acts.map(([name, act]) => [name, (control) => act(control, context)])),
    ...learnActions(context),
  };
}

export function drawer(element, context) {
  const { state } = context, tool = TOOLS[state.drawer];
  element.hidden = !tool || !traceOf(state) || state.moment !== null;
  if (element.hidden) { element.of = null; return; }
  if (element.of !== state.drawer) {
    element.of = state.drawer;
    element.innerHTML = String(html`<div class="hd"><h2>${tool.question}</h2><span
      class="soft">${tool.name}. ${tool.about}</span><button class="x" aria-label="Close" data-do="lab"
      data-value="${state.drawer}">${icon("close")}</button></div><div class="body"></div>`);
  }
  tool.draw(element.querySelector(".body"), context);
}
