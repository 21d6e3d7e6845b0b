// The menus: examples, languages, models, more, other possible words; the views of the lab, and what to save.

import { VIEWS } from "../data.js";
import { html, paint, putAt } from "../common/markup.js";
import { recentLanguages, traceOf } from "../common/state.js";
import { OFFERED, isAttribution } from "../common/trace.js";
import { choices } from "../lab/candidates.js";
import { examplesOf, flipOf } from "../common/flips.js";
import { TOOLS } from "./bench.js";
import { inLanguage, isMany, language, pairNames, sourcesOf, targetsOf } from "../common/languages.js";
import { chance, elided, oneIn, percent } from "../common/wording.js";

const item = (attributes, on, body) => html`<button role="${on === null ? "menuitem" : "menuitemradio"}"
  ${on === null ? "" : html`aria-checked="${on}"`} ${attributes}>${body}</button>`;
const choice = (name, value, on, body) =>
  item(html`data-do="${name}" data-value="${value}" data-k="${name}-${value === "" ? "auto" : value}"`, on, body);
const two = (left, right) => html`<span class="two"><b>${left}</b><small>${right}</small></span>`;

// The items of a menu of languages; with many of them a field to search in, those chosen lately, and then by name.
function languages(name, codes, chosen, about) {
  const entry = (code) => choice(name, code, chosen === code, two(language(code), about(code)));
  if (!isMany(codes)) return codes.map(entry);
  const recent = recentLanguages().filter((code) => codes.includes(code));
  const rest = codes.filter((code) => !recent.includes(code)).sort((a, b) => language(a).localeCompare(language(b)));
  return [html`<input type="search" data-find data-k="find" aria-label="Find a language"
    placeholder="Find a language">`, ...[...recent, ...rest].map(entry)];
}

const MENUS = {
  examples: (state, settings) => examplesOf(state, settings).map(({ before, options, after }) => item(
    html`data-example="pair" data-value="${before + options[0] + after}" data-k="example-${options[0]}"`,
    flipOf({ pairs: [{ before, options, after }] }, state.text) !== null, html`<span>${before}<b>${options.join(" | ")}</b>${after}</span>`)),
  more: (state, { files, models }) => html`${traceOf(state) && choice("others", "", null, two("Other translations",
    "beams, sampling, words"))}${files && choice("upload", "", null, "Translate a file")}${traceOf(state) && item(
    html`data-menu="export" data-k="save"`, null, "Save the map")}${choice("print", "", null, "Print")}${
    choice("tour", "", null, "A short tour")}${models.length > 1 && item(
    html`data-menu="model" data-k="phone-model" class="phone"`, null, "Choose the model")}`,
  word(state) {  // what else the model could have written here
    const trace = traceOf(state), unit = trace.unitAt("target", state.word), [, code] = trace.languages;
    const entry = ({ text, p, chosen, whole }) => item(html`${chosen ? html`data-menu="word"` : html`data-force="${
      text}"`} data-k="force-${text}"${!chosen && html` title="Write it instead and translate the rest again${oneIn(p)}"`}`,
    Boolean(chosen), two(html`<span ${inLanguage(code)}>${elided(text, 14)}${whole ? "" : "…"}</span>`, chance(p)));
    return html`${choices(trace, unit, 1, false).slice(0, 4).map(entry)}${choice("others", "", null,
      html`<small>More, and temperature</small>`)}`;
  },
  show(state, settings) {
    const trace = traceOf(state), { trust } = trace.record, { fits } = TOOLS[state.tool];
    const can = (id) => settings.engine && !(settings.answer && isAttribution(id));  // the page has no gradients
    const view = (id) => {
      const { title, summary } = VIEWS[id], best = trust?.best.find((one) => one.view === id);
      return item(html`data-set="view" data-value="${id}" data-k="view-${id}"`, state.view === id,
        html`${two(title, best?.aer ? percent(best.aer[0]) : "")}<small>${summary}</small>`);
    };
    return html`${trust?.random.aer && html`<div class="mh" role="presentation"><span>What a cell shows</span><span>Alignment
      error, best map</span></div>`}${OFFERED.filter((id) => fits(id) && (trace.holds(id) || can(id))).map(view)}`;
  },
  export(state, settings) {
    const forms = [["png", "PNG", "picture for slides"], ["svg", "SVG", "picture for print"],
      ["csv", "CSV", "the numbers of this map"], ["json", "JSON", "every map of this sentence"],
      ...settings.script ? [["html", "HTML", "this page as one file"]] : [],
      ...settings.engine ? [["python", "Copy as Python", "this map in five lines"]] : []];
    return forms.map(([id, name, what]) => choice("export", id, null, two(name, what)));
  },
  model(state, settings) {
    const current = traceOf(state)?.record.model || state.model;
    const sizeOf = ({ weights }) => weights ? `${(weights / 1e6).toPrecision(2)} million weights` : "";
    return settings.models.map((one) => choice("model", one.name, one.name === current,
      html`${two(one.name, sizeOf(one))}<small>${pairNames(one) || "the languages of its checkpoint"}</small>`));
  },
  from(state, settings) {
    const detect = settings.answer ? [] : [choice("source", "", !state.source, "Detect language")];
    return [...languages("source", sourcesOf(settings.models), state.source, () => ""), ...detect];
  },
  to(state, settings) {
    const models = (code) => settings.models.filter((one) => targetsOf([one], state.source).includes(code));
    return languages("target", targetsOf(settings.models, state.source), state.target,
      (code) => models(code).map(({ name }) => name).join(", "));
  },
};

const LEAST = 240;  // pixels of height that a menu may take, where the window has no room

// The button of a menu; one opened from another stands where that one stood.
function buttonOf(root, menu) {
  const at = { word: ".see .tgt .w.sel", export: ".bench [data-menu=export], .see [data-menu=more]",
    model: ".top-bar .model, .see [data-menu=more]" }[menu] ?? `[data-menu="${menu}"]`;
  return [...root.querySelectorAll(at)].find((one) => one.offsetParent && !one.closest(".pop"));
}

// Draws the open menu below its button, inside the window; a menu just opened takes the focus.
export function showMenu(root, state, settings) {
  const pop = root.querySelector(".pop"), button = state.menu && buttonOf(root, state.menu);
  const was = pop.dataset.of;
  pop.hidden = !button;
  pop.dataset.of = state.menu || "";
  if (!button) { pop.painted = null; return; }
  paint(pop, html`${MENUS[state.menu](state, settings)}`);
  pop.setAttribute("aria-label", state.menu === "word" ? "Other possible words" : button.textContent.trim());
  const at = button.getBoundingClientRect();
  pop.style.maxHeight = `${Math.max(LEAST, innerHeight - at.bottom - 18, at.top - 18)}px`;
  const height = pop.offsetHeight;
  putAt(pop, at.left, at.bottom + 6 + height < innerHeight || at.top < height ? at.bottom + 6 : at.top - height - 6);
  if (was === state.menu) return;
  (pop.querySelector("[data-find]") || pop.querySelector("[aria-checked=true]") || pop.querySelector("[role^=menuitem]"))?.focus();
}

// Shows only the languages whose name or code has what is searched for.
export function sift(menu, { value }) {
  const wanted = value.trim().toLowerCase();
  for (const one of menu.querySelectorAll("[role^=menuitem]")) {
    one.hidden = !`${one.textContent} ${one.dataset.value}`.toLowerCase().includes(wanted);
  }
}

// Arrow keys move among the items; Enter takes the first that a search has left.
export function walk(menu, event) {
  const { target, key } = event;
  const items = [...menu.querySelectorAll("[role^=menuitem]:not([hidden]), [data-find]")];
  if (key === "Enter" && target.matches("[data-find]")) {
    return menu.querySelector("[role^=menuitem]:not([hidden])")?.click();
  }
  const at = items.indexOf(menu.getRootNode().activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key];
  const typing = target.matches("[data-find]") && (key === "Home" || key === "End");
  if (to === undefined || typing) return;
  event.preventDefault();
  items[(to + items.length) % items.length].focus();
}
