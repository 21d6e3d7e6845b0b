// The header: name, pages, model, tour, light or dark.

import { pairNames } from "../common/languages.js";
import { html, icon, opener, tipped } from "../common/markup.js";
import { compareControl } from "./two_models.js";
import { count } from "../common/wording.js";

const cell = (i) => html`<rect x="${[11.6, 15.4, 19.2][i % 3]}" y="${[6.6, 10.4, 14.2][Math.floor(i / 3)]}" width="3.2"
  height="3.2" rx=".7" ${i % 4 ? html`opacity=".28"` : ""}/>`;
const EYE = html`<svg class="eye" viewBox="0 0 34 24" aria-hidden="true"><path
  d="M1.5 12C6 4.5 11 1.5 17 1.5S28 4.5 32.5 12C28 19.5 23 22.5 17 22.5S6 19.5 1.5 12Z"/>${
  Array.from({ length: 9 }, (_, i) => cell(i))}</svg>`;

const PAGES = [["explore", "Explore"], ["machine", "Machine"], ["lessons", "Lessons"], ["story", "Story"]];

export function header(state, settings) {
  const name = modelOf(state, settings), served = settings.models.find((one) => one.name === name);
  const many = settings.models.length > 1, other = state.theme === "dark" ? "Light mode" : "Dark mode";
  const [exploring, hasModel] = [state.page === "explore", ["explore", "machine"].includes(state.page)];
  const link = (page, label) => html`<a href="#${page}" data-page="${page}" data-k="page-${page}"
    ${state.page === page ? html`aria-current="page"` : ""}>${label}</a>`;
  return html`<div class="brand">${EYE}<h1>Seq2See</h1><span>The translation model you can see through</span></div>
    ${settings.engine && !settings.embedded && html`<nav aria-label="Pages">${
      PAGES.map(([page, label]) => link(page, label))}</nav>`}
    <span class="push"></span>
    ${name && hasModel && opener(state, "model", html`Model: <b>${name}</b> ${many ? icon("down") : ""}`,
      html`class="tool second model" ${tipped(modelTip(served, many))}`)}
    ${exploring && html`${compareControl(state, settings)}<button class="tool second tour" data-do="tour" data-k="tour"
      ${tipped("A short tour of this page")}>${icon("help")}Tour</button>`}
    <button class="tool second theme" data-do="theme" data-k="theme" ${tipped("Light or dark")}
      aria-label="${other}">${icon("moon")}</button>`;
}

// The model of the translation shown.
const modelOf = (state, settings) =>
  (state.held || state.traces[0])?.record.model || state.model || settings.models[0]?.name || "";

function modelTip(model, many) {
  if (!model?.weights) return "The model that wrote this translation";
  const size = count(+(model.weights / 1e6).toPrecision(3)), choose = many ? " Choose another model here." : "";
  return `${size} million weights. Translates ${pairNames(model)}.${choose}`;
}
