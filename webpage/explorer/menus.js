// The menus: Show, Export, Alternatives, languages, models.

import { VIEWS } from "../data.js";
import { html, paint, putAt, segment } from "../common/markup.js";
import { recentLanguages, traceOf } from "../common/state.js";
import { OFFERED, isAttribution } from "../common/trace.js";
import { wholeChance } from "../common/whole_chance.js";
import { rivals } from "./two_models.js";
import { inLanguage, isMany, language, pairNames, sourcesOf, targetsOf } from "../common/languages.js";
import { chance, percent, times } from "../common/wording.js";

// One setting: its label, then the control; a `div` for several controls.
const setting = (label, control, tag = "label") =>
  html`<${tag} class="set second"><span>${label}</span>${control}</${tag}>`;
const seg = (label, ...choice) => setting(label, segment(label, ...choice), "div");
const item = (attributes, on, body) => html`<button role="${on === null ? "menuitem" : "menuitemradio"}"
  ${on === null ? "" : html`aria-checked="${on}"`} ${attributes}>${body}</button>`;
const choice = (name, value, on, body) =>
  item(html`data-do="${name}" data-value="${value}" data-k="${name}-${value === "" ? "auto" : value}"`, on, body);
const tick = (state, name, label) => setting(label, html`<input type="checkbox" data-toggle="${name}"
  data-k="${name}" ${state[name] ? html`checked` : ""}>`);
const number = (options, name, label, range) => setting(label, html`<input type="number" ${range}
  value="${options[name] ?? ""}" data-do="option" data-name="${name}" data-k="o-${name}">`);
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
  show(state, settings) {
    const trace = traceOf(state), { trust } = trace.record;
    const can = (id) => settings.engine && !(settings.answer && isAttribution(id));  // the page has no gradients
    const view = (id) => {
      const { title, summary } = VIEWS[id], best = trust?.best.find((one) => one.view === id);
      return item(html`data-set="view" data-value="${id}" data-k="view-${id}"`, state.view === id,
        html`${two(title, best?.aer ? percent(best.aer[0]) : "")}<small>${summary}</small>`);
    };
    return html`<div class="mh"><span>What a cell shows</span><span>${trust?.random.aer ? "Alignment error, best map"
      : ""}</span></div>${OFFERED.filter((id) => trace.holds(id) || can(id)).map(view)}
    ${seg("Each row is the word", "set", "rows", [["predicts", "being written"], ["reads", "just read"]],
      state.rows)}
    ${state.view === "raw" && seg("Full colour at", "set", "scale", [["full", "100%"],
      ["highest", "this map’s maximum"]], state.scale)}
    ${tick(state, "fade", "Fade end marks and punctuation")}`;
  },
  alternatives(state, settings) {
    const { options, reply } = state, drawn = options.temperature !== undefined;
    const beams = options.num_beams || 4, found = reply?.translation?.hypotheses || [];
    const own = state.raw || drawn, whole = wholeChance(found, traceOf(state)), known = whole !== null;
    const heading = own ? `The model’s own chance${state.prefix ? " after the given beginning" : ""}`
      : known ? "Chance that a reference translation is identical" : "";
    const beside = (one) => times(found[0].log_prob - one.log_prob);
    const likely = (one, i) => own ? chance(Math.exp(one.log_prob)) : i ? beside(one)
      : known ? chance(whole) : "best";
    const hypothesis = (one, i) => choice("alternative", i, i === state.alternative, html`<span class="two"><span
      ${inLanguage(state.target)}>${one.text}</span><small>${likely(one, i)}</small></span>`);
    const byChance = [...found.keys()].sort((i, j) => !i || !j ? i - j : found[j].log_prob - found[i].log_prob);
    const sampling = () => html`${number(options, "temperature", "Temperature", html`min="0.1" max="2" step="0.1"`)}
      ${number(options, "top_k", "Number of likeliest tokens (top-k)", html`min="0" max="1000"`)}
      ${number(options, "top_p", "Total chance of likeliest tokens (top-p)", html`min="0.05" max="1" step="0.05"`)}
      ${number(options, "seed", "Seed", html`min="0"`)}`;
    const widths = [1, 4, 8].filter((n) => n <= settings.beams);
    return html`<div class="mh"><span>${drawn ? "Sampled translations" : "Best translations found"}
      </span><span>${heading}</span></div>${
        byChance.map((i) => hypothesis(found[i], i))}
    ${seg("Search", "do", "search", [["best", "beam search"], ["draw", "sampling"]], drawn ? "draw" : "best")}
    ${drawn ? sampling()
      : setting("Translations tried in parallel (beams)", segment("Beams", "do", "beams", widths, beams), "div")}
    ${setting("Begin the translation with", html`<input type="text" value="${state.prefix || ""}" maxlength="200"
      data-do="prefix" data-k="o-b">`)}`;
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
  against: (state, settings) => rivals(state, settings).map((name) =>
    choice("against", name, name === state.against, name)),
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

// Draws the open menu below its button, inside the window; a menu just opened takes the focus.
export function showMenu(root, state, settings) {
  const pop = root.querySelector(".pop"), button = state.menu && root.querySelector(`[data-menu="${state.menu}"]`);
  const was = pop.dataset.of;
  pop.hidden = !button;
  pop.dataset.of = state.menu || "";
  if (!button) { pop.painted = null; return; }
  paint(pop, html`${MENUS[state.menu](state, settings)}`);
  pop.setAttribute("aria-label", button.textContent.trim());
  const at = button.getBoundingClientRect();
  pop.style.maxHeight = `${Math.max(LEAST, innerHeight - at.bottom - 18, at.top - 18)}px`;
  const height = pop.offsetHeight;
  putAt(pop, at.left, at.bottom + 6 + height < innerHeight || at.top < height ? at.bottom + 6 : at.top - height - 6);
  if (was === state.menu) return;
  (pop.querySelector("[data-find]") || pop.querySelector("[aria-checked=true]") || pop.querySelector("[role^=menuitem], input, button"))?.focus();
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
  const items = [...menu.querySelectorAll("[role^=menuitem]:not([hidden]), input, .seg button")];
  if (key === "Enter" && target.matches("[data-find]")) {
    return menu.querySelector("[role^=menuitem]:not([hidden])")?.click();
  }
  const at = items.indexOf(menu.getRootNode().activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key];
  const typing = target.matches("input:is([type=text], [type=number], [type=search])") && (key === "Home" || key === "End");
  if (to === undefined || typing) return;
  event.preventDefault();
  items[(to + items.length) % items.length].focus();
}
