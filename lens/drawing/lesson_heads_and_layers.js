// Lesson 12: every head: its map of the cat, its measured role, and what is lost without it.

import { map, picture, roomOf, text } from "./lesson_parts.js";
import { chosenHead, headButtons, headTitle, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "./markup.js";
import { KINDS, headOf, nameOf } from "./trace.js";
import { chance, percent, roleName } from "./wording.js";

const ORDER = ["encoder", "decoder", "cross"], BESIDE = 620;
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

// A bar for each head of the record, costliest first: beside the map, on a phone below it.
function costBars(lesson, head, below) {
  const all = costsOf(lesson), most = Math.max(all[0].cost, 1e-9), narrow = isNarrow();
  const [x, y, thick] = narrow ? [0, below + 26, 8] : [BESIDE, 72, 18], room = roomOf() - x;
  return { height: y + all.length * thick, drawn: html`${text(x, y - 10, "cost of each head", { how: "soft" })}${
    all.map(({ name, cost, kind }, i) => html`<rect x="${x}" y="${y + i * thick}" width="${
      Math.max(2, cost / most * room).toFixed(1)}" height="${thick - 2}" rx="2" fill="var(--${
      name === nameOf(head) ? TONES[kind] : "edge"})"/>`)}` };
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
    const { height, drawn } = map(names(found.rows), names(found.columns), found.at,
      { theme, tone: TONES[head.kind], written: (value) => Math.round(100 * value) });
    const costs = costBars(lesson, head, height);
    return html`${picture(`The map of ${headTitle(head)}`, Math.max(height, costs.height), html`${drawn}${costs.drawn}`)}
      <p class="fine">Rows look at columns; numbers are per cent. Bars: what the right word
      loses without each head on unseen sentences, the costliest first; coloured: this head.</p>`;
  },
  says(state, [answer], lesson) {
    const trace = traceIn(answer), head = headOfState(state, lesson), own = measuredOf(head, lesson), all = costsOf(lesson);
    const name = headTitle(head), said = doubted(trace, head);
    const roles = own.roles.length ? html`its role${own.roles.length > 1 ? "s" : ""}: ${listed(own.roles, (role) => roleName({ role }))}`
      : "none of the roles that were tried";
    const here = said.length ? html`here ${listed(said, (one) => html`<i>${one.label}</i> falls to <b>${chance(one.without)}</b>`)}`
      : "here no word is in doubt";
    return html`${name[0].toUpperCase()}${name.slice(1)}: ${roles}. Without it the right word keeps <b>${percent(keeps(own))}</b> of
      its chance on unseen sentences (number <b>${all.findIndex(({ name: one }) => one === own.name) + 1}</b> of ${all.length} by cost); ${here}.`;
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
