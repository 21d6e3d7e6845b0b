// What each control does: `actions` by the name in its data-do, `clicks` by its other data attributes.

import { forgetErrors } from "../common/tool_parts.js";
import { viewFor } from "./bench.js";
import { learnActions } from "../lab/replay.js";
import { switchActions } from "../lab/switch_off.js";
import { flipOf } from "../common/flips.js";
import { copy, exported, saveCard } from "./export.js";
import { translates } from "../common/languages.js";
import { machineActions } from "../machine/machine.js";
import { insideActions } from "../machine/machine_inside.js";
import { isNarrow, isStill } from "../common/markup.js";
import { keepLanguage, keepTheme, sideOf, toAddress, traceOf } from "../common/state.js";
import { tour } from "./tour.js";
import { hasHeads, headOf } from "../common/trace.js";
import { wordAt } from "../maps/difference.js";
import { uploadActions } from "./upload.js";

const BEAMS = 4;  // of a search without options
const WARM = 0.7;  // the temperature that sampling begins with: at 1, small models write many words that do not exist

export function actionsOf(context) {
  const { state, settings, root, set, open, again } = context;
  const startTour = tour(root, state, settings), field = () => root.querySelector(".texts textarea");
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
  const actions = {
    edit() { field().focus(); field().select(); },
    clear() { open(""); field().focus(); },
    pin: () => set({ pinned: !state.pinned }),
    heads() {
      set({ allHeads: !state.allHeads });
      root.querySelector(state.allHeads ? ".all [aria-pressed=true]" : "[data-k=heads]")?.focus();
    },
    print: () => { set({ menu: null }); print(); },
    others: () => context.go("lab-translations"),
    copy: (button) => copied(root, button, state.reply?.translation?.text || traceOf(state)?.target || ""),
    share() {
      set({ sharing: !state.sharing, menu: null });
      root.querySelector(state.sharing ? "[data-k=card-png]" : "[data-k=share]")?.focus();
    },
    link: (button) => copied(root, button, `${location.href.split(/[?#]/)[0]}?${toAddress(state)}`),
    card: ({ dataset: { value } }) => saveCard(value, root.querySelector(".sharing svg").outerHTML),
    theme() {
      set({ theme: state.theme === "dark" ? "light" : "dark" });
      keepTheme(state.theme);
    },
    tour() {
      set({ menu: null });
      root.querySelector("[data-menu=more]").focus();
      startTour();
    },
    skip: () => root.querySelector(state.page === "lab" ? ".lab [role=grid]" : ".see [role=grid]")?.focus(),
    list: (button) => set({ list: button.dataset.value === "words" }),
    temperature: (input) => set({ temperature: traceOf(state).record.temperatures[+input.value] }),
    alternative: (button) => open(state.text, { alternative: +button.dataset.value, menu: null }),
    search({ dataset: { value } }) {
      const { num_beams, ...rest } = state.options, { alternatives } = settings;
      search(value === "draw" ? { ...rest, temperature: WARM, seed: 1, alternatives } : {});
    },
    // What a tool needs is asked for when it is opened: without options there is only the best translation, and most views
    // are computed on demand.
    entered() {
      const { page, tool } = state, most = Math.min(BEAMS, settings.alternatives), trace = traceOf(state);
      if (page !== "lab" || tool !== "learn") actions.endReplay();
      if (page !== "lab" || !trace) return;
      forgetErrors(state.lab);
      const view = viewFor(tool, state.view);
      if (view !== state.view) context.choose({ view });
      if (tool !== "translations" || state.busy === "translating" || Object.keys(state.options).length || !(most > 1)) return;
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
      set({ against: value, model: traceOf(state).record.model });
    },
    inside({ dataset: { value } }) {
      const { comparison } = settings;
      set({ model: value });
      context.go("see");
      if (!comparison) return again();
      context.arrived(comparison.looks[comparison.models.lastIndexOf(value)]);
      set({ busy: null });
    },
    export(button) { set({ menu: null }); exported(button.dataset.value, context); },
    again,
    cancel: context.cancel, weigh: context.weighAll,
    ...switchActions(context), ...learnActions(context), ...machineActions(context), ...insideActions(context),
    ...uploadActions(context),
  };
  return actions;
}

async function copied(root, button, text) {
  await copy(root, text);
  const label = button.querySelector("span"), was = label.innerHTML;
  label.textContent = "Copied";
  setTimeout(() => { label.innerHTML = was; }, 1400);
}

export function clicksOf(context) {
  const { state, settings, root, set, open, choose, note } = context;
  return {
    menu: (menu) => set({ menu: state.menu === menu ? null : menu }),
    note: (name, { dataset: { value } }) => note(name, value),
    set: (name, { dataset: { value } }) => choose({ [name]: value, menu: name === "view" ? null : state.menu }),
    do: (action, control) => context.actions[action]?.(control),
    head: (name) => pickHead(context, headOf(name)),
    word: (piece) => pickWord(context, "target", +piece),
    part: (part) => context.showPart(+part),
    example(_, { dataset: { value } }) {
      const [source, target] = flipOf(settings, value).pair.languages;
      open(value, { source, target, menu: null, chosen: false });
    },
    // The other word of the example: the head and the place of the word stay.
    swap(word) {
      const trace = traceOf(state), flip = flipOf(settings, state.text);
      if (word === flip.own) return;
      const stay = trace.written.findIndex((one) => one.pieces.includes(state.word)), [source, target] = trace.languages;
      open(flip.text, { source, target }, { twin: trace, swapped: true, mode: "after", stay });
      root.querySelector(".swap [aria-checked=true]")?.focus({ preventScroll: true });
    },
    mode: (mode) => set({ mode }),
    force(text) {  // replaces the chosen word with this one and translates the rest again
      const trace = traceOf(state), unit = trace.unitAt("target", state.word);
      open(trace.source, { prefix: trace.target.slice(0, unit.start) + text, forced: text, word: state.word, menu: null });
    },
    page: (page) => context.go(page),
  };
}

export function pickHead({ state, root, set }, head) {
  set({ head, pinned: true, chosen: true, hover: null, allHeads: false, view: hasHeads(state.view) ? state.view : "raw" },
    { slide: true });
  if (isNarrow()) root.querySelector(".work").scrollIntoView({ behavior: isStill() ? "auto" : "smooth" });
}

// The head stays; unpinned, another word of the translation shows the head that matters most for it.
export function pickWord({ state, set }, side, piece) {
  if (side === "source") return set({ hover: null, read: piece });
  const trace = traceOf(state), read = trace.counterpart(piece)?.pieces[0] ?? state.read;
  const best = !state.pinned && hasHeads(state.view) && trace.mattering(piece)[0];
  set({ hover: null, word: piece, read, head: best || state.head }, { slide: true });
}

export function pickRow(context, i) {
  const piece = wordAt(context.state, i);
  if (piece !== undefined) pickWord(context, sideOf(context.state), piece);
}
