// Above the map in the lab: which head, how far its map can be trusted, what the map says, and its tools.

import { gradient } from "../common/colour.js";
import { VIEWS } from "../data.js";
import { html, icon, opener, segment, tipped } from "../common/markup.js";
import { looking, traceOf } from "../common/state.js";
import { hasHeads, nameOf, same } from "../common/trace.js";
import { CAVEAT, inColour, overlaid, scaleOf, toneOf } from "../maps/map.js";
import { SUPERVISED, TECHNICAL, amount, averageOf, capital, columnSentence, count, direction, outcome, percent,
  placeOf, reading, roleName, roleTip, rowSentence } from "../common/wording.js";

export function mapTools(state) {
  const choice = (label, name, options, tip) => segment(label, "set", name, options, state[name], tip);
  const tick = (name, label) => html`<label class="second"><input type="checkbox" data-toggle="${name}" data-k="${name}" ${
    state[name] && html`checked`}> ${label}</label>`;
  const menu = (name, label) => opener(state, name, html`${label}${icon("down")}`, html`class="tool second box"`);
  const view = VIEWS[state.view].title.toLowerCase().replace("(alti+)", "(ALTI+)");
  return html`${menu("show", html`<span>Show: <b>${view}</b></span>`)}
    ${choice("Display", "as", [["map", "Map"], ["lines", "Lines"]])}
    ${state.as === "lines" && hasHeads(state.view) && choice("Heads drawn", "overlay", [["one", "This head"],
      ["all", "All heads"]], tipped("All heads of this layer overlaid, as BertViz draws them."))}
    ${choice("Unit", "unit", [["words", "Words"], ["tokens", "Tokens"]],
      tipped("The model reads tokens, which may be parts of words. “Words” combines the tokens of each word."))}
    ${menu("export", "Save ")}
    ${legend(state)}
    <span class="set second"><span>Each row is the word</span>${choice("Each row is the word", "rows",
      [["predicts", "being written"], ["reads", "just read"]])}</span>
    ${state.view === "raw" && html`<span class="set second"><span>Full colour at</span>${choice("Full colour at", "scale",
      [["full", "100%"], ["highest", "this map’s maximum"]])}</span>`}
    ${tick("fade", "Fade end marks and punctuation")}`;
}

function legend(state) {
  const trace = traceOf(state), heads = overlaid(state);
  if (!trace) return "";
  if (heads) {
    return html`<span class="legend">Head ${heads.map((one) => html`<button class="line-key" data-head="${nameOf(one)}"
      data-k="key-${one.head}" aria-pressed="${same(one, state.head)}"><svg viewBox="0 0 18 4" aria-hidden="true"><path
      d="M0 2H18" ${inColour(one, state)}/></svg>${one.head + 1}</button>`)}</span>`;
  }
  const top = scaleOf(trace.map(state.head, state), state);
  return html`<span class="legend"><span>${amount(state.view, 0)}</span><span class="ramp"
    style="background:${gradient(toneOf(state), state.theme)}"></span><span>${amount(state.view, top)}</span></span>`;
}

// Which head, and its role.
export function eyebrow(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view), many = state.traces.length;
  const role = merged ? null : trace.role(head), tone = toneOf(state);
  const step = (by, key, label, name) => html`<button class="icon" data-part="${(state.part + by + many) % many}"
    data-k="part-${key}" aria-label="${label}">${icon(name)}</button>`;
  const parts = html`<span class="parts">${step(-1, "back", "Previous part", "left")}
    Part <b>${state.part + 1}</b> of ${many}${step(1, "on", "Next part", "right")}</span>`;
  const onCommandLine = tipped(html`${capital(TECHNICAL[head.kind])}. On the command line: --layer ${head.layer}
    --head ${head.head}`);
  const which = html`<span ${onCommandLine} tabindex="0">${placeOf(head)}</span>`;
  return html`${many > 1 ? parts : ""}
    <span><b>${direction(head.kind, trace.languages)}</b> · ${merged ? "all layers and heads together" : which}</span>
    ${role && tone !== "slate" ? html`<span class="badge tone-${tone}" tabindex="0"
      ${tipped(roleTip(role))}>${roleName(role)}</span>` : ""}<span class="trust">${
    state.moment === null ? badge(state) : ""}</span>`;
}

// How far the map can be trusted, or what the model loses without the head.
function badge(state) {
  const trace = traceOf(state), { head, view } = state, merged = !hasHeads(view), leftOut = view === "left_out";
  const pill = (kind, tip, text) =>
    html`<span class="badge plain" data-says="${kind}" tabindex="0" ${tipped(tip)}>${text} ${icon("info")}</span>`;
  if (head.kind === "cross" || leftOut) {
    const { shape } = trace.maps.cross[view];
    const place = !merged ? [head.layer, head.head] : shape.length === 2 ? [] : [shape[0] - 1];
    const all = trace.record.trust, found = all?.maps.find((one) => one.view === view && one.rows === state.rows
      && String(one.map) === String(place));
    if (found?.aer) {
      return pill("dictionary", trustTip(found, all), html`Alignment error ${percent(found.aer[0])}
        (random map ${percent(all.random.aer[0])})`);
    }
    return found?.tau ? pill("agreement", trustTip(found, all), html`Agreement with erasure ${two(found.tau[0])}
      (random map ${two(all.random.tau[0])})`)
      : pill("not-measured", "The faithfulness of this map was not measured for this model.", "Not measured");
  }
  const effect = merged ? null : trace.effect(head, state.word), { apart } = trace.measured;
  const average = apart?.heads[nameOf(head)];
  const isMeasured = average !== undefined && trace.languages[1] === "fr" && trace.isPronoun(state.word);
  if (!effect || (!isMeasured && trace.mattering(state.word).some((one) => same(one, head)))) return "";
  return pill(isMeasured ? "auc" : "head-off", neededTip(trace, head, isMeasured), html`Head off: ${isMeasured
    ? html`ROC AUC ${average.toFixed(2)}` : outcome(trace, effect)}`);
}

function neededTip(trace, head, isMeasured) {
  const { apart } = trace.measured, average = apart?.heads[nameOf(head)];
  const measured = !isMeasured ? "" : html` The test used ${apart.pronouns} held-out pronouns
    and gave the head’s average over other held-out sentences instead of its output. The model then ranks ${
    percent(average)} of pairs of one <i>il</i> and one <i>elle</i> correctly. With the head it ranks ${
    percent(apart.whole)} correctly, and guessing gives 50%. This is the area under the ROC curve (AUC), not the share
    of correct pronouns.`;
  return html`<b>Does the model need this head?</b>${measured || html` Here it gives ${averageOf(trace)} instead of
    its output.`}`;
}

const two = (value) => value.toFixed(2).replace("-0.00", "0.00");

// Without gold links there is no error, only the agreement.
function trustTip(found, all) {
  const range = ([, low, high], write) => `${write(low)} to ${write(high)}`;
  const agreement = !found.tau ? ""
    : ` Agreement with erasure: ${two(found.tau[0])} (Kendall’s tau; ${range(found.tau, two)}).`;
  const measured = ` Measured on ${all.sentences} sentences of ${all.measured_on}.`;
  if (!found.aer) {
    return html`<b>Does this map show the words that matter?</b> The map is compared with erasure, which removes one
      source word at a time. Agreement is 1 if both rank the source words in the same order, and 0 if they are
      unrelated.${agreement}${measured}`;
  }
  return html`<b>Does this map align the words correctly?</b> Each word is linked to the source word that it looks at
    most. The alignment error rate (AER) counts the wrong and the missing links: ${percent(found.aer[0])} (${
    range(found.aer, percent)}). A random map has ${percent(all.random.aer[0])} (${
    range(all.random.aer, percent)}).${agreement}${found.supervised ? SUPERVISED : ""}${measured}`;
}

// The sentence for the position of the pointer or the keyboard.
export function headline(state) {
  const trace = traceOf(state), { hover, head } = state;
  if (hover?.column !== undefined) return rowSentence(trace, state, { piece: looking(state), column: hover.column });
  if (hover?.side === "source" && head.kind === "cross" && state.view === "raw") {
    return columnSentence(trace, state, hover.piece);
  }
  const said = rowSentence(trace, state, { piece: looking(state) });
  return state.moment === null ? said
    : html`After <b>${count(state.replay.moments[state.moment].step)}</b> training steps: ${said}`;
}
export const how = (state) => html`<span class="caveat">${CAVEAT}</span> ${
  state.moment !== null ? "This map shows the translation that the model wrote at that step."
    : reading(state.head.kind, state.view, traceOf(state).languages, state.theme === "dark")}`;
