// What if the sentence were different?  Another source text, another beginning, another search, another model: both
// translations with what changed, the same head's two maps side by side, and the heads that carry the difference.

import { answered, failed, inside, marked, waiting } from "./answers.js";
import { html, paint } from "./markup.js";
import { smallMap } from "./small_map.js";
import { traceOf } from "./state.js";
import { flipOf } from "./texts.js";
import { KINDS, Trace, nameOf } from "./trace.js";
import { language } from "./languages.js";
import { direction, nats, placeOf, quoted } from "./wording.js";

export const whatIf = {
  question: "What if the sentence were different?", name: "What if",
  about: "Change a word, the first words of the translation, the search or the model, and compare.",

  draw(body, context) {
    const { state, settings } = context, trace = traceOf(state), flip = flipOf(settings, trace.source),
      [source, target] = trace.languages;
    const wish = state.lab.wish ??= { text: flip ? flip.text : trace.source, prefix: "", num_beams: "", model: "" };
    const field = (name, label, input) =>
      html`<label class="ask"><span>${label}</span>${input(html`data-do="wish" data-name="${name}" data-k="wish-${name}"`)}</label>`;
    const asks = Boolean(wish.text !== trace.source || wish.prefix || wish.num_beams || wish.model);
    paint(body, html`<div class="asks">${field("text", `The ${language(source, "source")}`, (on) =>
      html`<input type="text" value="${wish.text}" ${on}>`)}${
      field("prefix", `Begin the ${language(target, "translation")} with`, (on) =>
        html`<input type="text" value="${wish.prefix}" ${on}>`)}${
      field("num_beams", "Beams", (on) => html`<input type="number" min="1" max="${settings.beams}"
        value="${wish.num_beams}" placeholder="as it is" ${on}>`)}${
      settings.models.length > 1 ? field("model", "Model", (on) => html`<select ${on}><option
        value="">as it is</option>${settings.models.filter((one) => one.name !== trace.record.model).map((one) =>
        html`<option ${one.name === wish.model ? html`selected` : ""}>${one.name}</option>`)}</select>`)
          : ""}</div>${asks ? compared(context, trace, wish) : html`<p class="soft">Change something above.</p>`}`);
  },

  actions: { wish(input, { state, render }) { state.lab.wish = { ...state.lab.wish,
    [input.dataset.name]: input.value.trim() }; render(); } },
};

function compared(context, trace, wish) {
  const { state } = context, { translation, ...same } = context.about(trace), [source, target] = trace.languages;
  const question = { ...same, text: wish.text, maps: KINDS, ...(wish.prefix ? { prefix: wish.prefix } : {}),
    ...(wish.num_beams ? { num_beams: +wish.num_beams } : {}), ...(wish.model ? { model: wish.model } : {}) };
  const answer = answered(context, "look", question);
  if (!answer) return waiting;
  if (answer.error) return failed(answer);
  const other = answer.made ||= new Trace(answer.traces[0], answer.measured),
    head = other.sizes[state.head.kind][0] > state.head.layer && other.sizes[state.head.kind][1] > state.head.head
    ? state.head : { kind: "cross", layer: 0, head: 0 };
  const maps = [trace, other].map((one) => one.map(head)), [before, after] = maps,
    alike = before.rows.length === after.rows.length && before.columns.length === after.columns.length;
  const difference = alike && before.at.map((row, r) => row.map((value, c) => value === null ? null
    : after.at[r][c] - value)), title = `${direction(head.kind, trace.languages)}, ${placeOf(head)}`;
  return html`<div class="sides"><div class="res"><span class="lbl">As it is</span><p
    lang="${source}">${trace.source}</p><p lang="${target}">${trace.target}</p></div>
    <div class="res"><span class="lbl">With the change</span><p lang="${source}">${marked(trace.source,
      other.source)}</p><p lang="${target}">${marked(trace.target, other.target)}</p></div></div>
    <div class="scrollx"><div class="figures">${smallMap(title, before.rows, before.columns, before.at,
      state.theme)}${smallMap("With the change", after.rows, after.columns, after.at, state.theme)}${
    difference ? smallMap("The difference: more in blue, less in orange", after.rows, after.columns, difference,
      state.theme) : ""}</div></div>${wish.model || wish.prefix || wish.text === trace.source ? ""
      : carried(context, trace, wish)}`;
}

// Which heads carry the difference: put in from the other sentence, one at a time.
function carried(context, trace, wish) {
  const { state } = context, answer = inside(context, trace, { tool: "patch", other: wish.text, step: state.word });
  if (!answer) return waiting;
  if (answer.error) return html`<p
    class="fine">Heads of one sentence can be put into the other where both have as many tokens. ${answer.error}</p>`;
  const own = quoted(trace.unitAt("target", state.word).label, trace.languages[1]),
    moved = answer.heads.map(([kind, layer, head, margin]) => ({ kind, layer, head, margin,
    drop: answer.margin - margin }))
    .sort((a, b) => b.drop - a.drop).slice(0, 3);
  return html`<p class="verdict">Put into this sentence from the other, one head at a time, the margin of ${own} (${nats(answer.margin)}) becomes: ${moved.map((one, i) => html`${i ? "; " : ""}<button class="chip" data-head="${nameOf(one)}">${
    direction(one.kind, trace.languages)}, ${placeOf(one)}</button> <b>${nats(one.margin)}</b>${one.margin < 0
      ? " (it flips)" : ""}`)}.</p>`;
}
