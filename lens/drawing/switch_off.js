// What if this head were missing?  Any number of heads with their averages in their place, and the text translated again.

import { answered, failed, marked, waiting } from "./answers.js";
import { html, paint, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { KINDS, headOf, nameOf } from "./trace.js";
import { count, direction, effectLine, placeOf, roleCaption, roleTip } from "./wording.js";

export const switchOff = {
  question: "What if this head were missing?", name: "Switch heads off",
  about: "A head that is switched off hands on its average. What changes is what the head was needed for.",

  draw(body, context) {
    const { state } = context, trace = traceOf(state), off = state.lab.off ??= trace.telling(state.word).slice(0,
      1).map(nameOf);
    const without = off.map((name) => { const { kind, layer, head } = headOf(name); return [kind, layer, head]; });
    const { translation, ...question } = context.about(trace), answer = off.length
      ? answered(context, "look", { ...question, without }) : {};
    const name = off.length === 1 ? `${direction(headOf(off[0]).kind, trace.languages)}, ${placeOf(headOf(off[0]))}`
      : `${count(off.length)} heads`, [, code] = trace.languages;
    const text = answer?.traces?.[0].target_text, line = off.length === 1
      ? effectLine(trace, headOf(off[0]), state.word) : null;
    paint(body, html`<div class="offgrid"><div>${switches(trace, off)}<div class="chips"><button class="chip"
      data-do="off-all" data-value="">All on</button>${KINDS.map((kind) =>
      html`<button class="chip" data-do="off-all" data-value="${kind}">${direction(kind,
        trace.languages)}: all off</button>`)}</div></div>
      <div class="res" aria-live="polite"><span class="lbl">With every head</span><p
        lang="${code}">${trace.target}</p><span class="lbl">${off.length ? `Without ${name}`
        : "Choose a head to switch off"}</span>${
      !off.length ? "" : !answer ? waiting : answer.error ? failed(answer)
        : html`<p lang="${code}">${marked(trace.target, text)}</p><p class="verdict">${
      text === trace.target ? "The translation stays." : "The translation changes."} ${line
        ? html`For <b lang="${code}">${trace.unitAt("target", state.word).label}</b>: ${line}.`
        : ""}</p>`}</div></div>`);
  },

  actions: {
    off(button, { state, render }) { const { value } = button.dataset, { off } = state.lab;
      state.lab.off = off.includes(value) ? off.filter((one) => one !== value) : [...off, value]; render(); },
    "off-all"(button, { state, render }) { const { value } = button.dataset; state.lab.off = value
      ? traceOf(state).heads.filter((one) => one.kind === value).map(nameOf) : []; render(); },
  },
};

function switches(trace, off) {
  return html`<table class="sw"><tbody>${KINDS.map((kind) => { const [layers, heads] = trace.sizes[kind];
    return Array.from({ length: layers }, (_, layer) => html`<tr>${layer ? ""
    : html`<th rowspan="${layers}" scope="rowgroup">${
    direction(kind, trace.languages)}</th>`}<td class="soft">Layer ${layer
      + 1}</td>${Array.from({ length: heads }, (_, head) => {
    const one = { kind, layer, head }, role = trace.role(one), name = nameOf(one);
    return html`<td><button data-do="off" data-value="${name}" data-k="off-${name}"
      aria-pressed="${off.includes(name)}" aria-label="${direction(kind, trace.languages)}, ${placeOf(one)}" ${
      tipped(role ? roleTip(role) : "No clear role on the sentences measured.")}>${head + 1}${role && heads <= 4
        ? html` <small>${roleCaption(role)}</small>` : ""}</button></td>`;
  })}</tr>`); })}</tbody></table>`;
}
