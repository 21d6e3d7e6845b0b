// What if this head were missing?  Replaces any number of heads with their averages and translates the text again.

import { answered, marked, shown } from "../common/tool_parts.js";
import { inLanguage } from "../common/languages.js";
import { html, tipped } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { KINDS, headOf, nameOf } from "../common/trace.js";
import { NO_ROLE, becomes, count, direction, headName, roleCaption, roleTip } from "../common/wording.js";

export const switchOff = {
  question: "What if this head were missing?", name: "Head off",
  about: "A head that is switched off gives its average output. What then changes shows what the head was needed for.",

  draw(context, trace) {
    const { state, settings } = context, [, code] = trace.languages;
    const weights = settings.answer ? "weights in this page" : "float32 weights";
    const chosen = state.lab.off ??= trace.mattering(state.word).slice(0, 1).map(nameOf);
    const all = trace.heads.map(nameOf), off = chosen.filter((name) => all.includes(name));  // another model has others
    const heads = off.map(headOf), without = heads.map(({ kind, layer, head }) => [kind, layer, head]);
    const answer = off.length ? answered(context, "look", { ...context.asTranslated(trace), without }) : null;
    const whole = answer?.with_every_head?.text, isShown = whole === trace.target;
    const one = off.length === 1 ? heads[0] : null, effect = one && trace.effect(one, state.word);
    const line = effect && isShown && html`With the rest kept, ${becomes(trace, state.word, effect)}.`;
    const name = one ? headName(one, trace) : `${count(off.length)} heads`;
    const result = ({ translation: { text } }) => html`<p ${inLanguage(code)}>${marked(whole, text)}</p><p
      class="verdict">The translation ${text === whole ? "stays the same" : "changes"}. ${line}</p><p class="fine">
      Both translations use the ${weights}${isShown ? "" : ", which translate the text differently from above"}.</p>`;
    const chip = (kind, label) => html`<button class="chip" data-do="off-all" data-value="${kind}">${label}</button>`;
    return html`<div class="offgrid"><div>${switches(trace, off)}<div class="chips">${chip("", "All on")}${
      KINDS.map((kind) => chip(kind, `${direction(kind, trace.languages)}: all off`))}</div></div>
      <div class="res" aria-live="polite"><span class="second">With every head</span><p ${
        inLanguage(code)}>${whole ?? trace.target}</p>
      <span class="second">${off.length ? `Without ${name}` : "Choose a head to switch off"}</span>${
      off.length ? shown(answer, result) : ""}</div></div>`;
  },
};

export const switchActions = ({ state, note }) => ({
  off({ dataset: { value } }) {
    const { off } = state.lab;
    note("off", off.includes(value) ? off.filter((one) => one !== value) : [...off, value]);
  },
  "off-all": ({ dataset: { value } }) => note("off", value ? traceOf(state).layers(value).flat().map(nameOf) : []),
});

function switches(trace, off) {
  const button = (one, few) => {
    const role = trace.role(one), name = nameOf(one), tip = role ? roleTip(role) : NO_ROLE;
    return html`<td><button data-do="off" data-value="${name}" data-k="off-${name}"
      aria-label="${headName(one, trace)}" aria-pressed="${off.includes(name)}"
      ${tipped(tip)}>${one.head + 1}${role && few ? html` <small>${roleCaption(role)}</small>` : ""}</button></td>`;
  };
  const rows = (kind) => {
    const layers = trace.layers(kind);
    const title = html`<th rowspan="${layers.length}" scope="rowgroup">${direction(kind, trace.languages)}</th>`;
    return layers.map((heads, i) => html`<tr>${i ? "" : title}<td class="soft">Layer ${i + 1}</td>${
      heads.map((one) => button(one, heads.length <= 4))}</tr>`);
  };
  return html`<table class="sw"><tbody>${KINDS.map(rows)}</tbody></table>`;
}
