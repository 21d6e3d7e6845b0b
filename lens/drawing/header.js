// The head of the page: name, pages, model, tour, light or dark.

import { html, icon, tipped } from "./markup.js";
import { count } from "./wording.js";

const CELLS = [[11.6, 6.6, 1], [15.4, 6.6, 0], [19.2, 6.6, 0], [11.6, 10.4, 0], [15.4, 10.4, 1], [19.2, 10.4, 0],
  [11.6, 14.2, 0], [15.4, 14.2, 0], [19.2, 14.2, 1]];
const EYE = html`<svg class="eye" viewBox="0 0 34 24" aria-hidden="true"><path
  d="M1.5 12C6 4.5 11 1.5 17 1.5S28 4.5 32.5 12C28 19.5 23 22.5 17 22.5S6 19.5 1.5 12Z"/>${CELLS.map(([x, y, on]) =>
  html`<rect x="${x}" y="${y}" width="3.2" height="3.2" rx=".7" ${on ? "" : html`opacity=".28"`}/>`)}</svg>`;

export function header(state, settings) {
  const served = settings.models.find((one) => one.name === modelOf(state, settings)), name = modelOf(state, settings);
  return html`<div class="brand">${EYE}<h1>Seq2See</h1><span>The translation model you can see through</span></div>
    <nav aria-label="Pages">${[["explore", "Explore"], ...settings.engine ? [["lessons", "Lessons"]]
      : []].map(([page, label]) => html`<a
      href="#${page}" data-page="${page}" data-k="page-${page}" ${state.page === page ? html`aria-current="page"`
        : ""}>${label}</a>`)}</nav>
    <span class="push"></span>
    ${name ? html`<button class="tool model" data-menu="model" data-k="model" aria-haspopup="menu"
      aria-expanded="${state.menu === "model"}"
        ${tipped(modelTip(served))}>Model: <b>${name}</b> ${settings.models.length > 1 ? icon("down") : ""}</button>`
        : ""}
    <button class="tool tour" data-do="tour" data-k="tour"
      ${tipped("A tour of this page in four steps")}>${icon("help")}Tour</button>
    <button class="tool theme" data-do="theme" data-k="theme" ${tipped("Light or dark")}
      aria-label="${state.theme === "dark" ? "Light mode" : "Dark mode"}">${icon("moon")}</button>`;
}

// Which model translated what is shown.
export const modelOf = (state, settings) =>
  (state.held || state.traces[0])?.record.model || state.model || settings.models[0]?.name || "";

function modelTip(model) {
  if (!model?.weights) return "The model that wrote this translation";
  const pairs = model.pairs.map((pair) => pair.join(" to ")).join(", ");
  return `${count(+(model.weights / 1e6).toPrecision(3))} million weights; translates ${pairs}. Choose another model here.`;
}
