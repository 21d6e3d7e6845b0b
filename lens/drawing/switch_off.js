// What if this head were missing?  Any number of heads with their averages in their place, and the text translated again.

import { changed } from "./diff.js";
import { html, paint, tipped } from "./markup.js";
import { traceOf } from "./state.js";
import { KINDS, headOf, nameOf } from "./trace.js";
import { count, direction, placeOf, roleName, roleTip } from "./wording.js";

export const switchOff = {
  question: "What if this head were missing?", name: "Switch heads off",
  about: "A head that is switched off hands on its average. What changes is what the head was needed for.",

  async draw(body, context) {
    const { state } = context, trace = traceOf(state), off = state.lab.off ??= trace.telling(state.word).slice(0, 1).map(nameOf);
    const ask = `${trace.source} ${off.join()}`;
    paint(body, html`<div class="offgrid"><div>${switches(trace, off)}<div class="chips"><button class="chip" data-do="off-all" data-value="">All on</button>${KINDS.map((kind) =>
      html`<button class="chip" data-do="off-all" data-value="${kind}">${direction(kind, trace.languages)}: all off</button>`)}</div></div>
      <div class="res" aria-live="polite">${result(trace, state.lab.answer?.ask === ask ? state.lab.answer : null, off)}</div></div>`);
    if (!off.length || state.lab.answer?.ask === ask || state.lab.asking === ask) return;
    state.lab.asking = ask;
    const without = off.map((name) => { const { kind, layer, head } = headOf(name); return [kind, layer, head]; });
    const answer = await context.ask("look", { ...context.about(trace), translation: undefined, without }).then(({ traces: [one] }) => ({ ask, text: one.target_text }),
      (error) => ({ ask, error: error.message }));
    state.lab.asking = null;
    state.lab.answer = answer;
    context.render();
  },

  actions: {
    off(button, { state, render }) { const { value } = button.dataset, { off } = state.lab; state.lab.off = off.includes(value) ? off.filter((one) => one !== value) : [...off, value]; render(); },
    "off-all"(button, { state, render }) { const { value } = button.dataset; state.lab.off = value ? traceOf(state).heads.filter((one) => one.kind === value).map(nameOf) : []; render(); },
  },
};

function switches(trace, off) {
  return html`<div class="sw">${KINDS.map((kind) => {
    const [layers, heads] = trace.sizes[kind];
    return html`<span class="nm">${direction(kind, trace.languages)}</span>${Array.from({ length: layers }, (_, layer) => html`<span class="hdr">Layer ${layer + 1}</span><span class="buttons">${Array.from({ length: heads }, (_, head) => {
      const one = { kind, layer, head }, role = trace.role(one), name = nameOf(one);
      return html`<button data-do="off" data-value="${name}" data-k="off-${name}" aria-pressed="${off.includes(name)}" aria-label="${direction(kind, trace.languages)}, ${placeOf(one)}" ${
        tipped(role ? roleTip(role) : "No clear role on the sentences measured.")}>${head + 1}${role ? html`<small>${roleName(role)}</small>` : ""}</button>`;
    })}</span>`)}`;
  })}</div>`;
}

function result(trace, answer, off) {
  const name = off.length === 1 ? `${direction(headOf(off[0]).kind, trace.languages)}, ${placeOf(headOf(off[0]))}` : `${count(off.length)} heads`, [, code] = trace.languages;
  const marked = (text) => { const out = []; let at = 0; for (const [start, end] of changed(trace.target, text)) { out.push(text.slice(at, start), html`<mark>${text.slice(start, end)}</mark>`); at = end; } return html`${out}${text.slice(at)}`; };
  return html`<span class="lbl">With every head</span><p lang="${code}">${trace.target}</p><span class="lbl">${off.length ? `Without ${name}` : "Choose a head to switch off"}</span><p lang="${code}">${
    !off.length ? "" : !answer ? html`<span class="soft">Translating…</span>` : answer.error ? answer.error : marked(answer.text)}</p>${answer && !answer.error ? html`<p class="verdict">${
    answer.text === trace.target ? "The translation stays." : "The translation changes."}</p>` : ""}`;
}
