// The explorer: its frame, its state, and how all of it is drawn.  `loading.js` asks the server, `events.js` listens to
// the reader, `actions.js` says what each control does.

import { actionsOf } from "./actions.js";
import { COLOURS } from "../data.js";
import { FRAME as LAB, bench, followInLab, viewFor } from "./bench.js";
import { overGradio, overHttp } from "./engine.js";
import { listen } from "./events.js";
import { header, shownModel } from "./header.js";
import { modelOf } from "../lessons/lesson.js";
import { lessons } from "../lessons/lessons.js";
import { loading } from "./loading.js";
import { html, paint } from "../common/markup.js";
import { showMenu } from "./menus.js";
import { START, firstTheme, keepPlace, keptPlace, pageOf, traceOf } from "../common/state.js";
import { FRAME as SEE, follow, see } from "../see/see.js";
import { drawBetweenTexts } from "../see/between_texts.js";
import { joins } from "../see/texts.js";
import { sayEnds } from "../common/wording.js";
import { story } from "../lessons/story.js";
import { shareCard, shareDialog } from "../see/share_card.js";
import { tips } from "../common/tips.js";
import { UPLOAD, drawUpload } from "./upload.js";

const OTHERS = { lessons, story };  // what draws the pages of Learn
const SOON = 200;  // milliseconds after which a change is kept: browsers limit how often

const frame = (settings) => html`<a class="skip" href="#s2s-map" data-do="skip">Skip to the map</a><header
  class="top-bar"></header><${settings.embedded ? "div" : "main"} class="pages">${SEE(settings)}${LAB}<div class="other"
  hidden></div><div class="pop" role="menu" hidden></div></${settings.embedded ? "div" : "main"}>
  <div class="tip" role="tooltip" id="s2s-tip" hidden></div><div
  class="tourbox" role="dialog" aria-label="Tour" hidden></div>${UPLOAD}<section class="sharing" role="dialog"
  aria-labelledby="s2s-share" hidden></section><div class="toast" role="status"></div><div class="on-paper" aria-hidden="true"></div>`;

// Where a page without an address begins: in the lab, if it is to show more than See does.
const placeOf = ({ view, rows }) =>
  view === START.view && rows === START.rows ? {} : { page: "lab", tool: "maps" };

export function explorer(element, given) {
  const root = element.appendChild(document.createElement("div")), find = (name) => root.querySelector(name);
  const engine = given.answer ?? (given.api ? overHttp(given.api) : given.gradio ? overGradio(given.gradio) : null);
  const settings = { pairs: [], ...given, engine: Boolean(engine) };
  root.className = settings.embedded ? "s2s embedded" : "s2s";
  root.innerHTML = String(frame(settings));
  const state = { ...START, theme: firstTheme(), ...settings.start };
  const hasAddress = engine && !settings.embedded;
  const context = { state, engine, root, set, render, note, hover, settings, go,
    announce: (text) => { paint(find(".toast"), html``); paint(find(".toast"), html`<span>${text}</span>`); } };
  Object.assign(context, loading(context));
  context.actions = actionsOf(context);
  const place = settings.embedded ? {} : keptPlace();
  if (hasAddress) addressed();
  else Object.assign(state, settings.comparison ? { page: "lab", tool: "two" } : placeOf(state));
  listen(context);
  tips(root);
  redrawWhenResized();
  printed();
  let hasBegun = false;
  begin();
  return context;

  // The lessons have a sentence of their own: what See shows is asked for when it is needed, so that they need not wait
  // for it.
  function begin() {
    if (hasBegun || OTHERS[state.page]) return render();
    hasBegun = true;
    if (state.text) render(); else context.begin(place);
  }

  function set(changes, how) { Object.assign(state, changes); render(how); context.keep?.(); }
  function note(name, value) { state.lab[name] = value; render(); }

  function render(how) {
    Object.assign(root.dataset, { theme: state.theme, busy: state.busy ?? "" });
    document.body.style.background = COLOURS[state.theme].page;
    const { models = [] } = settings, shown = OTHERS[state.page] ? modelOf({ models }) : shownModel(state, settings);
    sayEnds(models.find(({ name }) => name === shown)?.ends);
    paint(find(".top-bar"), header(state, settings));
    for (const [name, page] of [[".see", "see"], [".lab", "lab"]]) find(name).hidden = state.page !== page;
    find(".other").hidden = !OTHERS[state.page];
    if (state.page === "see") see(find(".see"), context, how);
    else if (state.page === "lab") bench(find(".lab"), context);
    else other();
    showMenu(root, state, settings);
    drawUpload(root, state, settings);
    const isSharing = state.sharing && state.page === "see" && Boolean(traceOf(state));
    find(".sharing").hidden = !isSharing;
    for (const name of [".top-bar", ".pages"]) find(name).inert = isSharing;
    if (isSharing) paint(find(".sharing"), shareDialog(card(state)));
  }

  // The card of what is shown; its address is one that others can open, or none.
  function card(shown) {
    const { record: { model } } = traceOf(shown), isPublic = /^https?:$/.test(location.protocol)
      && !/^(localhost|127\.|\[::1\]|192\.168\.|10\.)/.test(location.hostname);
    const served = settings.models.find((one) => one.name === model), size = served?.weights
      ? `, ${(served.weights / 1e6).toPrecision(3)} million weights` : "";
    return shareCard(shown, settings, `${model || "a model"}${size}`, isPublic ? `${location.host}${location.pathname}` : "");
  }

  // On paper See is its card, in light.
  function printed() {
    addEventListener("beforeprint", () => {
      root.dataset.theme = "light";
      const isCard = state.page === "see" && traceOf(state);
      root.classList.toggle("prints-card", Boolean(isCard));
      if (isCard) paint(find(".on-paper"), html`${card({ ...state, theme: "light", hover: null })}<p>${
        location.protocol === "file:" ? "" : `${location.href.split("#")[0]} · `}${new Date().toLocaleDateString("en-GB")}</p>`);
    });
    addEventListener("afterprint", () => { root.classList.remove("prints-card"); render(); });
  }

  // A page of its own; each starts from an empty element.
  function other() {
    const element = find(".other");
    if (element.shows !== state.page) element.replaceChildren();
    if (element.shows !== state.page) Object.assign(element, { shows: state.page, painted: null, asked: null });
    OTHERS[state.page](element, context);
  }

  function hover(value, how) {
    if (JSON.stringify(value) === JSON.stringify(state.hover) && !how?.speak) return;
    state.hover = value;
    if (!traceOf(state)) return;
    if (state.page === "lab") return state.as === "lines" ? render() : followInLab(find(".lab"), context, how);
    follow(find(".see"), context, how);
    drawBetweenTexts(find(".texts"), state, joins(state));
  }

  // Another page, or another tool of the lab.
  function go(page) {
    if (hasAddress) location.hash = page; else enter({ hash: `#${page}` });
  }
  function enter(address) {
    Object.assign(state, { menu: null, allHeads: false, hover: null }, pageOf(address));
    context.actions.entered();
    begin();
    context.keep?.();  // of this entry of the history too
  }

  // The page has an address, and its state outlives a reload.
  function addressed() {
    let soon = null;
    const shown = pageOf(location), { view, against } = place;
    Object.assign(state, shown);
    if (shown.page === "see" && against) Object.assign(state, { page: "lab", tool: "two" });
    else if (shown.page === "see" && view) {
      Object.assign(state, { page: "lab", tool: viewFor("maps", view) === view ? "maps" : "attributions" });
    }
    addEventListener("hashchange", () => enter(location));
    context.keep = () => { clearTimeout(soon); if (hasBegun) soon = setTimeout(keepPlace, SOON, state); };
  }

  function redrawWhenResized() {
    let width = 0;
    const again = () => { find(".texts").fitted = null; render(); };
    new ResizeObserver(() => {
      if (Math.abs(root.clientWidth - width) <= 1) return;
      width = root.clientWidth;
      again();
    }).observe(root);
    addEventListener("resize", again);
    document.fonts?.ready.then(again);
  }
}
