// What opens below a button: Show, Export, Alternatives, languages, models.

import { html } from "./markup.js";
import { traceOf } from "./state.js";
import { VIEWS } from "./trace.js";
import { language } from "./languages.js";
import { VIEW_NAMES, chance, percent } from "./wording.js";

const seg = (state, name, options, label) => html`<label class="set"><span>${label}</span><span class="seg"
  role="group" aria-label="${label}">${options.map(([value, text]) =>
  html`<button data-set="${name}" data-value="${value}" data-k="${name}-${value}"
    aria-pressed="${state[name] === value}">${text}</button>`)}</span></label>`;
const item = (attributes, on, body) => html`<button role="${on === null ? "menuitem" : "menuitemradio"}"
  ${on === null ? "" : html`aria-checked="${on}"`} ${attributes}>${body}</button>`;
const two = (left, right) => html`<span class="two"><b>${left}</b><small>${right}</small></span>`;

export const MENUS = {
  show(state, settings) {
    const trace = traceOf(state), trust = trace.record.trust;
    return html`<div class="mh"><span>What a cell shows</span><span>${trust ? "Dictionary error, best map"
      : ""}</span></div>${VIEWS.filter((view) => trace.holds(view) || settings.engine).map((view) => {
      const [name, about] = VIEW_NAMES[view], best = trust?.best.find((one) => one.view === view);
      return item(html`data-set="view" data-value="${view}" data-k="view-${view}"`, state.view === view,
        html`${two(name, best?.aer ? percent(best.aer[0]) : "")}<small>${about}</small>`);
    })}${seg(state, "rows", [["predicts", "being written"], ["reads", "just read"]], "Rows stand for the word")}
    ${seg(state, "scale", [["full", state.view === "raw" ? "100%" : "the largest"],
      ["highest", "this map’s highest"]], "Colours run to")}
    <label class="set"><span>Fade end marks and punctuation</span><input type="checkbox" data-toggle="fade"
      data-k="fade" ${state.fade ? html`checked` : ""}></label>
    ${trace.record.calibrated ? html`<label class="set"><span>Raw chances, as the model gives them</span><input
      type="checkbox" data-toggle="raw" data-k="raw" ${state.raw ? html`checked` : ""}></label>` : ""}`;
  },
  alternatives(state, settings) {
    const found = state.reply?.translation, options = state.options, beams = options.num_beams
      || settings.usual?.num_beams || 4;
    const draws = options.temperature !== undefined, all = found?.hypotheses || [];
    return html`<div class="mh"><span>${draws ? "Drawn at random"
      : "The best translations the search found"}</span><span>The model’s own chance</span></div>${all.map((one, i) =>
      item(html`data-do="alternative" data-value="${i}" data-k="alternative-${i}"`, i === state.alternative,
        html`<span class="two"><span lang="${state.target}">${one.text}</span><small>${
        chance(Math.exp(one.log_prob))}</small></span>`))}
    <div class="set"><span>Search</span><span class="seg" role="group" aria-label="Search">${[["best", "best first"],
      ["draw", "draw at random"]].map(([value, label]) => html`<button data-do="search"
      data-value="${value}" data-k="search-${value}"
        aria-pressed="${draws === (value === "draw")}">${label}</button>`)}</span></div>
    ${draws ? html`<label class="set"><span>Temperature</span><input type="number" min="0.1" max="2" step="0.1"
      value="${options.temperature}" data-do="option" data-name="temperature" data-k="o-t"></label>
      <label class="set"><span>From the likeliest tokens (top-k)</span><input type="number" min="0" max="1000"
        value="${options.top_k ?? ""}" data-do="option" data-name="top_k" data-k="o-k"></label>
      <label class="set"><span>Up to this share of the chance (top-p)</span><input type="number" min="0.05" max="1"
        step="0.05" value="${options.top_p ?? ""}" data-do="option" data-name="top_p" data-k="o-p"></label>
      <label class="set"><span>Seed</span><input type="number" min="0" value="${options.seed ?? ""}" data-do="option"
        data-name="seed" data-k="o-s"></label>`
    : html`<div class="set"><span>Translations kept side by side (beams)</span><span class="seg" role="group"
      aria-label="Beams">${[1, 4, 8].filter((n) => n <= settings.beams).map((n) =>
      html`<button data-do="beams" data-value="${n}" data-k="beams-${n}"
        aria-pressed="${beams === n}">${n}</button>`)}</span></div>`}
    <label class="set"><span>Begin the translation with</span><input type="text" value="${state.prefix || ""}"
      maxlength="200" data-do="prefix" data-k="o-b"></label>`;
  },
  export(state, settings) {
    return [["png", "PNG", "picture for slides"], ["svg", "SVG", "picture for print"],
      ["csv", "CSV", "the numbers of this map"], ["json", "JSON", "every map of this sentence"],
      ["html", "HTML", "this page, to keep and send"], ["python", "Copy as Python",
        "the same in five lines"]].filter(([id]) => (id !== "python" || settings.engine)
        && (id !== "html" || settings.script))
      .map(([id, name, what]) => item(html`data-do="export" data-value="${id}" data-k="export-${id}"`, null,
        two(name, what)));
  },
  model(state, settings) {
    return settings.models.map((one) =>
      item(html`data-do="model" data-value="${one.name}" data-k="model-${one.name}"`,
      one.name === (traceOf(state)?.record.model || state.model),
      html`${two(one.name, one.weights ? `${(one.weights / 1e6).toPrecision(2)} million weights`
        : "")}<small>${one.pairs.map((pair) => pair.map((code) => language(code, code)).join(" to ")).join(", ")
        || "the languages of its checkpoint"}</small>`));
  },
  from(state, settings) {
    const codes = [...new Set(settings.models.flatMap((one) => one.pairs.map(([source]) => source)))];
    return [...codes.map((code) => item(html`data-do="from" data-value="${code}" data-k="from-${code}"`,
      state.source === code, language(code, code))),
      item(html`data-do="from" data-value="" data-k="from-auto"`, !state.source, "Find out by itself")];
  },
  to(state, settings) {
    const pairs = settings.models.flatMap((one) => one.pairs.map(([source, target]) =>
      ({ source, target, name: one.name }))).filter((one) => !state.source || one.source === state.source);
    return [...new Map(pairs.map((one) => [one.target, one])).values()].map(({ target }) =>
      item(html`data-do="to" data-value="${target}" data-k="to-${target}"`, state.target === target,
      html`${two(language(target, target),
      pairs.filter((one) => one.target === target).map((one) => one.name).join(", "))}`));
  },
};

// Puts the open menu below its button, inside the window.
export function place(menu, button) {
  const home = menu.offsetParent.getBoundingClientRect(), at = button.getBoundingClientRect(), width = menu.offsetWidth;
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 12)) - home.left, below = at.bottom + 6
    + menu.offsetHeight < innerHeight || at.top < menu.offsetHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${below ? at.bottom - home.top + 6 : at.top - home.top - menu.offsetHeight - 6}px`;
}

// Arrow keys and letters move among the items.
export function walk(menu, event) {
  const items = [...menu.querySelectorAll("[role^=menuitem], input, .seg button")],
    at = items.indexOf(menu.getRootNode().activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  const typing = event.target.matches("input[type=text], input[type=number]");
  if (to !== undefined && !(typing && event.key !== "ArrowDown" && event.key !== "ArrowUp")) { event.preventDefault();
    items[(to + items.length) % items.length]?.focus(); return; }
  if (event.key.length === 1 && /\p{L}/u.test(event.key) && !typing && !event.ctrlKey && !event.metaKey) {
    items.find((one, i) => i > at
      && one.textContent.trim().toLocaleLowerCase().startsWith(event.key.toLocaleLowerCase()))?.focus();
  }
}
