// Which translations were considered?  Those of a search or sampling, the words possible in one place, the beam tree.

import { inLanguage } from "../common/languages.js";
import { about, html, segment } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { wholeChance } from "../common/whole_chance.js";
import { tree } from "./beam_tree.js";
import { candidates, chanceTip } from "./candidates.js";
import { chance, quoted, times } from "../common/wording.js";

const number = (options, name, label, range) => html`<label class="ask second"><span>${label}</span><input type="number"
  ${range} value="${options[name] ?? ""}" data-do="option" data-name="${name}" data-k="o-${name}"></label>`;

export const translations = {
  question: "Which translations were considered?", name: "Translations considered",
  about: "The translations of a beam search or of sampling, the words possible in one place, and the tree of the search.",

  draw(context, trace) {
    const { state, settings } = context, unit = trace.unitAt("target", state.word);
    return html`<div class="offgrid"><div>${hypotheses(state, settings)}</div><div><h3>Other possible words for ${
      quoted(unit.label, trace.languages[1])} ${about(chanceTip(trace))}</h3>${
      candidates(state, trace, unit, settings)}${trace.record.calibrated && html`<label class="second"><input
      type="checkbox" data-toggle="raw" data-k="raw" ${state.raw && html`checked`}> The model’s own chances, from which
      sampling draws. Everywhere else, chances are calibrated.</label>`}</div></div><h3>The tree of the search</h3>${tree.draw(context, trace)}`;
  },
};

function hypotheses(state, settings) {
  const { options, reply } = state, drawn = options.temperature !== undefined, beams = options.num_beams || 4;
  const found = reply?.translation?.hypotheses || [], own = state.raw || drawn;
  const whole = wholeChance(found, traceOf(state)), known = whole !== null;
  const heading = own ? `The model’s own chance${state.prefix ? " after the given beginning" : ""}`
    : known ? "Chance that a reference translation is identical" : "";
  const likely = (one, i) => own ? chance(Math.exp(one.log_prob)) : i ? times(found[0].log_prob - one.log_prob)
    : known ? chance(whole) : "best";
  const entry = (one, i) => html`<li><button data-do="alternative" data-value="${i}" data-k="alternative-${i}"
    aria-pressed="${i === state.alternative}"><span ${inLanguage(state.target)}>${one.text}</span><small>${
    likely(one, i)}</small></button></li>`;
  const byChance = [...found.keys()].sort((i, j) => !i || !j ? i - j : found[j].log_prob - found[i].log_prob);
  const sampling = () => html`${number(options, "temperature", "Temperature", html`min="0.1" max="2" step="0.1"`)}
    ${number(options, "top_k", "Number of likeliest tokens (top-k)", html`min="0" max="1000"`)}
    ${number(options, "top_p", "Total chance of likeliest tokens (top-p)", html`min="0.05" max="1" step="0.05"`)}
    ${number(options, "seed", "Seed", html`min="0"`)}`;
  const widths = [1, 4, 8].filter((n) => n <= settings.beams);
  return html`<div class="mh"><h3>${drawn ? "Sampled translations" : "Best translations found"}</h3><span>${
    heading}</span></div><ol class="found">${byChance.map((i) => entry(found[i], i))}</ol>
    <div class="asks"><div class="ask second"><span>Search</span>${segment("Search", "do", "search",
      [["best", "beam search"], ["draw", "sampling"]], drawn ? "draw" : "best")}</div>${drawn ? sampling()
      : html`<div class="ask second"><span>Translations tried in parallel (beams)</span>${
        segment("Beams", "do", "beams", widths, beams)}</div>`}<label class="ask second"><span>Begin the translation
      with</span><input type="text" value="${state.prefix || ""}" maxlength="200" data-do="prefix" data-k="o-b"></label></div>`;
}
