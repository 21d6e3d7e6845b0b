// Lesson 12: every head: its map of the cat, its measured role, and what is lost without it.

import { map, picture, roomOf, text } from "./lesson_parts.js";
import { chosenHead, headButtons, headTitle, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "./markup.js";
import { KINDS, headOf, nameOf } from "./trace.js";
import { chance, percent, roleName } from "./wording.js";

const ORDER = ["encoder", "decoder", "cross"], COSTS = 120;
const DOUBT = 0.95;  // a chance below which a word is in doubt
const TONES = { encoder: "slate", decoder: "green", cross: "blue" };

// The heads of the record, what a token loses without each: the costliest first.
const costsOf = ({ result: { heads, costs, roles } }) => heads.map(([kind, layer, head], i) =>
  ({ name: nameOf({ kind, layer, head }), kind, cost: costs[i].value, roles: roles[i] })).sort((a, b) => b.cost - a.cost);
const headOfState = ({ head }, lesson) => chosenHead(head, headOf(costsOf(lesson)[0].name));
const measuredOf = (head, lesson) => costsOf(lesson).find(({ name }) => name === nameOf(head));
const keeps = ({ cost }) => Math.exp(-Math.max(0, cost));

// The words of this translation that are in doubt without a head.
const doubted = (trace, head) => trace.words("target").map((one) => ({ ...one, without: trace.effect(head, one.pieces[0]).chance }))
  .filter((one) => one.without < DOUBT);

function costBars(lesson, head, y) {
  const all = costsOf(lesson), most = Math.max(all[0].cost, 1e-9), wide = roomOf() / all.length;
  return html`${text(0, y, "What the right word loses without each head, on unseen sentences", { how: "soft" })}${
    all.map(({ name, cost, kind }, i) => {
      const height = Math.max(2, cost / most * (COSTS - 40)), own = name === nameOf(head);
      return html`<rect x="${(i * wide).toFixed(1)}" y="${(y + COSTS - 20 - height).toFixed(1)}" width="${(wide - 3).toFixed(1)}"
        height="${height.toFixed(1)}" rx="2" fill="var(--${own ? TONES[kind] : "edge"})"/>`;
    })}`;
}

export const headsAndLayers = {
  lead: html`This model has six blocks of attention with four heads each. Some heads look at words of a kind so steadily that
    one can name what they do; others spread out. Choose a head: see its map of the cat, the role that was measured for it,
    and what is lost without it.`,
  start: { head: null },
  needs: () => [["look", { maps: KINDS, evidence: true }]],
  control: (state, [answer], lesson) => headButtons(traceIn(answer), ORDER, headOfState(state, lesson)),
  picture(state, [answer], lesson, theme) {
    const trace = traceIn(answer), head = headOfState(state, lesson), found = trace.map(head);
    const names = (all) => all.map((one) => one.label);
    const { height, drawn } = map(names(found.rows), names(found.columns), found.at, { theme, tone: TONES[head.kind] });
    return html`${picture(`The map of ${headTitle(head)}`, height + COSTS, html`${drawn}${costBars(lesson, head, height + 24)}`)}
      <p class="fine">Rows look at columns. Bars: from the head that costs most to the one that costs least.</p>`;
  },
  says(state, [answer], lesson) {
    const trace = traceIn(answer), head = headOfState(state, lesson), own = measuredOf(head, lesson), all = costsOf(lesson);
    const name = headTitle(head), said = doubted(trace, head);
    const roles = own.roles.length ? html`its role${own.roles.length > 1 ? "s" : ""}: ${listed(own.roles, (role) => roleName({ role }))}`
      : "none of the roles that were tried";
    const here = said.length ? html`here ${listed(said, (one) => html`<i>${one.label}</i> falls to <b>${chance(one.without)}</b>`)}`
      : "here no word is in doubt";
    return html`${name[0].toUpperCase()}${name.slice(1)}: ${roles}. Without it the right word keeps <b>${percent(keeps(own))}</b> of
      its chance on unseen sentences (number <b>${all.indexOf(own) + 1}</b> of ${all.length}); ${here}.`;
  },
  predict: {
    question: "Each of the 24 heads is switched off in turn. For how many of them is a word of the cat’s translation in doubt?",
    options: ["All", "About half", "A few", "None"],
    right([answer]) {
      const trace = traceIn(answer), some = needed(trace).length / trace.heads.length;
      return some > 0.8 ? 0 : some >= 0.3 ? 1 : some > 0 ? 2 : 3;
    },
    because([answer], { result: { having } }) {
      const trace = traceIn(answer), some = needed(trace);
      return html`<b>${some.length}</b> of ${trace.heads.length}${some.length ? html`: ${listed(some, headTitle, "; ")}` : ""}. With
        any other head off, every word keeps at least ${chance(DOUBT)}. Yet ${having} heads have a role: a role is not a need.`;
    },
  },
};
const needed = (trace) => trace.heads.filter((head) => doubted(trace, head).length);
