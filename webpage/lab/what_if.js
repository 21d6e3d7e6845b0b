// What if the sentence were different?  Another source text, prefix, search or model: both translations with
// the changes marked, the same head's two maps side by side, and the heads that carry the difference.

import { answered, inside, marked, noted, notedText, scrollable, shown } from "../common/tool_parts.js";
import { flipOf } from "../common/flips.js";
import { html, isNarrow, listed } from "../common/markup.js";
import { smallMaps } from "../common/small_map.js";
import { KINDS, Trace, nameOf } from "../common/trace.js";
import { inLanguage, language } from "../common/languages.js";
import { chance, headName, quoted } from "../common/wording.js";

export const whatIf = {
  question: "What if the sentence were different?", name: "Another sentence",
  about: "Change a word, the first words of the translation, the search or the model, and compare.",

  draw(context, trace) {
    const { state, settings } = context, flip = flipOf(settings, trace.source);
    const [source, target] = trace.languages, others = settings.models.filter((one) => one.name !== trace.record.model);
    const { text: other, prefix = "", num_beams = "", model = "" } = state.lab;
    const wish = { text: other || (flip ? flip.text : trace.source), prefix, num_beams, model };
    const beams = (on) => html`<input type="number" min="1" max="${settings.beams}" value="${wish.num_beams}"
      placeholder="unchanged" ${on}>`;
    const models = (on) => html`<select ${on}><option value="">unchanged</option>${others.map(({ name }) =>
      html`<option ${name === wish.model ? html`selected` : ""}>${name}</option>`)}</select>`;
    const asks = Boolean(wish.text !== trace.source || wish.prefix || wish.num_beams || wish.model);
    return html`<div class="asks">${notedText("text", `The ${language(source, "source")}`, wish.text)}${
      notedText("prefix", `Begin the ${language(target, "translation")} with`, wish.prefix)}${
      noted("num_beams", "Beams", beams)}${settings.models.length > 1 ? noted("model", "Model", models) : ""}</div>${
      asks ? compare(context, trace, wish) : html`<p class="soft">Change a field above.</p>`}`;
  },
};

function compare(context, trace, { text, prefix, num_beams: beams, model }) {
  const answer = answered(context, "look", { ...context.asTranslated(trace), alternative: context.state.alternative,
    text, maps: KINDS, ...(prefix ? { prefix } : {}), ...(model ? { model } : {}),
    ...(beams ? { num_beams: +beams, alternatives: undefined, alternative: 0 } : {}) });
  const heads = () => model || prefix || text === trace.source ? "" : carriers(context, trace, text);
  return shown(answer, () => html`${sides(context, trace, answer)}${heads()}`);
}

const ABOVE = 330;  // pixels of the window that are not for the maps, as in lab.css

function sides({ state, root }, trace, answer) {
  const [source, target] = trace.languages, width = root.querySelector(".bench").clientWidth - 40;
  const room = isNarrow() ? null : { width, height: innerHeight - ABOVE };
  const other = answer.made ||= new Trace(answer.traces[0], answer.measured);
  const [layers, heads] = other.sizes[state.head.kind], has = layers > state.head.layer && heads > state.head.head;
  const head = has ? state.head : { kind: "cross", layer: 0, head: 0 };
  const [before, after] = [trace, other].map((one) => one.map(head));
  const alike = before.rows.length === after.rows.length && before.columns.length === after.columns.length;
  const change = (value, r, c) => value === null ? null : after.at[r][c] - value;
  const difference = () => before.at.map((row, r) => row.map((value, c) => change(value, r, c)));
  const maps = [[headName(head, trace), before], ["With the change", after], ...alike
    ? [["Difference (blue: more, orange: less)", { ...before, at: difference() }]] : []];
  const side = (label, from, to) => html`<div class="res"><span class="second">${label}</span>
    <p ${inLanguage(source)}>${from}</p><p ${inLanguage(target)}>${to}</p></div>`;
  return html`<div class="sides">${side("Without the change", trace.source, trace.target)}
    ${side("With the change", marked(trace.source, other.source), marked(trace.target, other.target))}</div>
    ${scrollable("The head’s maps", smallMaps(maps, state.theme, room))}`;
}

// The heads that carry the difference: each patched alone from the other sentence.
function carriers(context, trace, other) {
  const piece = context.state.word, answer = inside(context, trace, { tool: "patch", other });
  const needed = "Patching needs two sentences with the same number of tokens.";
  if (answer?.error) return html`<p class="fine">${needed} ${answer.error}</p>`;
  const chip = (head) => html`<button class="chip" data-head="${nameOf(head)}">${headName(head, trace)}</button>`;
  const unit = trace.unitAt("target", piece), [, target] = trace.languages;
  const effectOf = (one) => ({ ...one, ...trace.after(one, piece) });
  const result = (one) => html`${chip(one)} ${chance(one.chance)}`;
  return shown(trace.evidence && answer, ({ heads }) => html`<p class="verdict">The chance of ${
    quoted(unit.label, target)} is ${chance(trace.chance(unit))}. With one head patched from the other sentence: ${
    listed(heads.map(effectOf).sort((a, b) => a.chance - b.chance).slice(0, 3), result, "; ")}.</p>`);
}
