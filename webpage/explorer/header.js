// The header: name, pages, model, tour, light or dark.

import { pairNames } from "../common/languages.js";
import { html, icon, opener, tipped } from "../common/markup.js";
import { count } from "../common/wording.js";

const cell = (i) => html`<rect x="${[11.6, 15.4, 19.2][i % 3]}" y="${[6.6, 10.4, 14.2][Math.floor(i / 3)]}" width="3.2"
  height="3.2" rx=".7" ${i % 4 ? html`opacity=".28"` : ""}/>`;
const EYE = html`<svg class="eye" viewBox="0 0 34 24" aria-hidden="true"><path
  d="M1.5 12C6 4.5 11 1.5 17 1.5S28 4.5 32.5 12C28 19.5 23 22.5 17 22.5S6 19.5 1.5 12Z"/>${
  Array.from({ length: 9 }, (_, i) => cell(i))}</svg>`;

const PAGES = [["see", "See"], ["learn", "Learn"], ["lab", "Lab"]];
const OF = { lessons: "learn", story: "learn" };

export function header(state, settings) {
  const name = shownModel(state, settings), served = settings.models.find((one) => one.name === name);
  const many = settings.models.length > 1, other = state.theme === "dark" ? "Light mode" : "Dark mode";
  const isHere = (page) => (OF[state.page] ?? state.page) === page, pages = settings.embedded || !settings.engine
    ? PAGES.filter(([page]) => page !== "learn") : PAGES;
  const link = ([page, label]) => html`<a href="#${page}" data-page="${page}" data-k="page-${page}"
    ${isHere(page) ? html`aria-current="page"` : ""}>${label}</a>`;
  return html`<div class="brand">${EYE}<h1>Seq2See</h1><span>The translation model you can see through</span></div>
    <nav aria-label="Pages">${pages.map(link)}</nav><span class="push"></span>
    ${name && !isHere("learn") && opener(state, "model", html`<span class="vh">Model: </span><b>${name}</b>${many && icon("down")}`,
      html`class="tool model" ${tipped(modelTip(served, many))}`)}
    <button class="tool theme" data-do="theme" data-k="theme" aria-label="${other}">${icon("moon")}</button>`;
}

// The model of the translation shown.
export const shownModel = (state, settings) =>
  (state.held || state.traces[0])?.record.model || state.model || settings.models?.[0]?.name || "";

function modelTip(model, many) {
  if (!model?.weights) return "The model that wrote this translation";
  const size = count(+(model.weights / 1e6).toPrecision(3)), choose = many ? " Choose another model here." : "";
  return `${size} million weights. Translates ${pairNames(model)}.${choose}`;
}
