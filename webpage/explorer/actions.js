// What each control does: `actions` by the name in its data-do, `clicks` by its other data attributes.

import { forgetErrors } from "../common/tool_parts.js";
import { dockActions } from "../lab/lab.js";
import { copy, exported } from "./export.js";
import { translates } from "../common/languages.js";
import { machineActions } from "../machine/machine.js";
import { insideActions } from "../machine/machine_inside.js";
import { isNarrow } from "../common/markup.js";
import { keepLanguage, keepTheme, sideOf, toAddress, traceOf } from "../common/state.js";
import { tour } from "./tour.js";
import { hasHeads, headOf } from "../common/trace.js";
import { uploadActions } from "./upload.js";

const BEAMS = 4;  // of a search without options
const WARM = 0.7;  // the temperature that sampling begins with: at 1, small models write many words that do not exist

export function actionsOf(context) {
  const { state, settings, root, set, open, again } = context;
  const { models } = settings, modelOf = (name) => models.find((one) => one.name === name);
  const begun = () => ({ prefix: state.prefix, forced: state.forced });  // an alternative is one of another list
  const search = (options) => { set({ options }); open(state.text, begun()); };
  // The model chosen before stays if it translates between the languages; what the translation began with does not.
  const translateBetween = ({ dataset }) => {
    const { source, target } = { source: state.source, target: state.target, [dataset.do]: dataset.value || null };
    if (dataset.value) keepLanguage(dataset.value);
    const fits = (one) => one && translates(one, source, target);
    set({ source, target: models.some(fits) ? target : null, model: fits(modelOf(state.model)) ? state.model : null,
      menu: null });
    open(state.text);
  };
  const translateBy = ({ dataset: { value } }) => {
    const { source, target } = state, one = modelOf(value), fits = translates(one, source, target);
    set({ model: value, source: translates(one, source) ? source : null, target: fits ? target : null, menu: null });
    open(state.text, fits ? begun() : {});
  };
  return {
    edit: () => set({ editing: true, draft: state.text, menu: null }),
    copy: (button) => copied(root, button, state.reply?.translation?.text || traceOf(state)?.target || ""),
    share: (button) => copied(root, button, `${location.href.split(/[?#]/)[0]}?${toAddress(state)}`),
    theme() {
      set({ theme: state.theme === "dark" ? "light" : "dark" });
      keepTheme(state.theme);
    },
    tour: tour(root, state, settings),
    skip: () => root.querySelector("[role=grid]")?.focus(),
    list: (button) => set({ list: button.dataset.value === "words" }),
    temperature: (input) => set({ temperature: traceOf(state).record.temperatures[+input.value] }),
    alternative: (button) => open(state.text, { alternative: +button.dataset.value, menu: null }),
    search({ dataset: { value } }) {
      const { num_beams, ...rest } = state.options, { alternatives } = settings;
      search(value === "draw" ? { ...rest, temperature: WARM, seed: 1, alternatives } : {});
    },
    alternatives() {  // asked for when they are wanted: without options there is only the best translation
      const most = Math.min(BEAMS, settings.alternatives);
      if (state.busy === "translating" || !traceOf(state) || Object.keys(state.options).length || !(most > 1)) return;
      set({ options: { alternatives: most } });
      open(state.text, { ...begun(), word: state.word });
    },
    beams: ({ dataset: { value } }) =>
      search({ num_beams: +value, alternatives: Math.min(+value, settings.alternatives) }),
    option({ dataset: { name }, value }) {
      const { [name]: _, ...rest } = state.options;
      search(value === "" ? rest : { ...rest, [name]: +value });
    },
    prefix: (input) => open(state.text, { prefix: input.value.trim() || null, menu: null }),
    unforce: () => open(state.text),
    source: translateBetween, target: translateBetween, model: translateBy,
    against({ dataset: { value } }) {
      forgetErrors(state.lab);
      set({ against: value || null, menu: null, model: value ? traceOf(state).record.model : state.model });
      root.querySelector(value ? "[data-k=compare-close]" : "[data-k=compare]")?.focus();
    },
    inside({ dataset: { value } }) {
      const { comparison } = settings;
      set({ model: value, against: null });
      if (!comparison) return again();
      context.arrived(comparison.looks[comparison.models.lastIndexOf(value)]);
      set({ busy: null });
    },
    export(button) { set({ menu: null }); exported(button.dataset.value, context); },
    again,
    cancel: context.cancel, weigh: context.weighAll,
    ...dockActions(context), ...machineActions(context), ...insideActions(context),
    ...uploadActions(context),
  };
}

async function copied(root, button, text) {
  await copy(root, text);
  const label = button.querySelector("span"), was = label.innerHTML;
  label.textContent = "Copied";
  setTimeout(() => { label.innerHTML = was; }, 1400);
}

export function clicksOf(context) {
  const { state, settings, set, open, choose, note } = context;
  return {
    menu(menu) {
      set({ menu: state.menu === menu ? null : menu });
      if (state.menu === "alternatives") context.actions.alternatives();
    },
    note: (name, { dataset: { value } }) => note(name, value),
    set: (name, { dataset: { value } }) => choose({ [name]: value, menu: name === "view" ? null : state.menu }),
    do: (action, control) => context.actions[action]?.(control),
    head: (name) => pickHead(context, headOf(name)),
    word: (piece) => pickWord(context, "target", +piece),
    part: (part) => context.showPart(+part),
    example(_, { dataset: { value } }) {
      const [source, target] = settings.pairLanguages ?? [state.source, state.target];
      open(value, { source, target, pinned: false, editing: false });
    },
    force(text) {  // replaces the chosen word with this one and translates the rest again
      const trace = traceOf(state), unit = trace.unitAt("target", state.word);
      open(trace.source, { prefix: trace.target.slice(0, unit.start) + text, forced: text, word: state.word });
    },
    page(page) { location.hash = page; },
  };
}

export function pickHead({ state, root, set }, head) {
  set({ head, pinned: true, hover: null, view: hasHeads(state.view) ? state.view : "raw" });
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  if (isNarrow()) root.querySelector(".work").scrollIntoView({ behavior });
}

// The map stays, unless it has no row for the word, or no head matters for the word and the reader has picked none.
export function pickWord({ state, set }, side, piece, { inMap = false } = {}) {
  if (side === "source") return set({ hover: null, touched: true, read: piece });
  const trace = traceOf(state), read = trace.counterpart(piece)?.pieces[0] ?? state.read, best = trace.best(piece);
  const isIdle = best && !inMap && !state.pinned && hasHeads(state.view) && !trace.mattering(piece).length;
  const head = state.head.kind === "encoder" ? best ?? { kind: "cross", layer: 0, head: 0 }
    : isIdle ? best : state.head;
  set({ hover: null, touched: true, word: piece, read, head });
}

export function pickRow(context, i) {
  const { state } = context, row = traceOf(state).rows(state.head.kind, state.unit, state.rows)[i];
  pickWord(context, sideOf(state), row.pieces[0], { inMap: true });
}
