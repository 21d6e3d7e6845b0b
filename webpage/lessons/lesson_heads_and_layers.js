// Lesson 12: every head: its map of the cat, its measured role, and what is lost without it.

import { map, picture, roomOf, text, toneOf } from "./lesson_parts.js";
import { HeadTitle, chanceWithout, chosenHead, headButtons, headTitle, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "../common/markup.js";
import { KINDS, headOf, nameOf } from "../common/trace.js";
import { chance, percent, roleName } from "../common/wording.js";

const ORDER = ["encoder", "decoder", "cross"], TONES = { encoder: "slate", decoder: "green", cross: "blue" };
const LEADS = 0.95;  // a chance below which a word is in doubt
const NAMED = 3;  // heads, at most, that a sentence lists
const BESIDE = 620;  // where the bars begin, beside the map

// The heads of the record, the costliest first: { name, kind, roles, cost }, in nats a token.
const costsOf = ({ result: { heads, costs, roles } }) => heads.map(([kind, layer, head], i) =>
  ({ name: nameOf({ kind, layer, head }), kind, roles: roles[i], cost: costs[i].value }))
  .sort((a, b) => b.cost - a.cost);
const headOfState = ({ head }, lesson) => chosenHead(head, headOf(costsOf(lesson)[0].name));

// The words of this translation that are in doubt without a head; and the heads without which one is.
const doubted = (trace, head) => trace.words("target")
  .map((one) => ({ label: one.label, without: chanceWithout(trace, head, one.pieces[0]) }))
  .filter((one) => one.without < LEADS);
const needed = (trace) => trace.heads.filter((head) => doubted(trace, head).length);

// A bar for each head of the record, costliest first: beside the map, on a phone a picture of its own.
function costBars(lesson, chosen) {
  const all = costsOf(lesson), most = Math.max(all[0].cost, 1e-9);
  const [x, y, thick] = isNarrow() ? [0, 26, 8] : [BESIDE, 72, 18], scale = (roomOf() - x) / most;
  const bar = ({ name, cost, kind }, i) => html`<rect x="${x}" y="${y + i * thick}" width="${
    Math.max(2, cost * scale).toFixed(1)}" height="${thick - 2}" rx="2" fill="${
    toneOf(name === nameOf(chosen) ? TONES[kind] : "edge")}"/>`;
  return { height: y + all.length * thick, drawn: html`${text(x, y - 10, "cost of each head", { how: "soft" })}${
    all.map(bar)}` };
}

export const headsAndLayers = {
  lead: html`Every block of attention has several heads. Some look at words of one kind so often that we can name what
    they do. Others spread their attention. Choose a head to see its map for the sentence about the cat, its measured
    role, and what is lost without it.`,
  start: { head: null },
  needs: () => [["look", { maps: KINDS, evidence: true }]],
  control: (state, [answer], lesson) => headButtons(traceIn(answer), ORDER, headOfState(state, lesson)),
  picture(state, [answer], lesson, theme) {
    const head = headOfState(state, lesson), { rows, columns, at } = traceIn(answer).map(head);
    const names = (all) => all.map((one) => one.label), written = (value) => Math.round(100 * value);
    const { height, drawn } = map(names(rows), names(columns), at, { theme, tone: TONES[head.kind], written });
    const costs = costBars(lesson, head), narrow = isNarrow();
    const [total, whole] = narrow ? [height, drawn] : [Math.max(height, costs.height), html`${drawn}${costs.drawn}`];
    return html`${picture(`The map of ${headTitle(head)}`, total, whole)}<div class="more">${
      narrow && picture("The cost of each head", costs.height, costs.drawn)}<p class="fine">Rows look at columns,
      and numbers are per cent. Each bar shows what the right word loses without one head, on unseen sentences. The
      costliest head comes first. The coloured bar is this head.</p></div>`;
  },
  says(state, [answer], lesson) {
    const trace = traceIn(answer), head = headOfState(state, lesson), all = costsOf(lesson);
    const falls = (one) => html`<i>${one.label}</i> falls to <b>${chance(one.without)}</b>`;
    const some = doubted(trace, head);
    const here = some.length ? listed(some, falls) : `every word keeps at least ${chance(LEADS)}`;
    const place = all.findIndex(({ name }) => name === nameOf(head)), { roles, cost } = all[place] ?? {};
    if (!roles) return html`${HeadTitle(head)}. This head of another model was not measured. Without it, ${here}.`;
    const role = roles.length ? listed(roles, (one) => roleName({ role: one })) : "none of those that were tried";
    return html`${HeadTitle(head)}. Role${roles.length > 1 ? "s" : ""}: ${role}. On unseen sentences, the right word
      keeps <b>${percent(Math.exp(-Math.max(0, cost)))}</b> of its chance without this head. By cost, this head is number
      <b>${place + 1}</b> of ${all.length}. In this sentence, ${here}.`;
  },
  predict: {
    question: html`Each head is switched off in turn, while the sentence about the cat is translated. Without how many
      of them does the chance of a French word fall below ${chance(LEADS)}?`,
    options: ["All", "About half", "A few", "None"],
    right([answer]) {
      const trace = traceIn(answer), part = needed(trace).length / trace.heads.length;
      return part > 0.8 ? 0 : part >= 0.3 ? 1 : part > 0 ? 2 : 3;
    },
    because([answer], { result: { having } }) {
      const trace = traceIn(answer), some = needed(trace);
      const named = some.length && some.length <= NAMED ? html`: ${listed(some, headTitle, "; ")}` : "";
      return html`<b>${some.length}</b> of ${trace.heads.length} heads${named}. With any other head off, every word keeps a
        chance of at least ${chance(LEADS)}. Yet ${having} heads have a role. So a head can have a role and still not be
        needed here.`;
    },
  },
  short: () => html`A map and a role describe where a head looks. The cost describes what the model loses without the head.
    A head with a clear role can still cost little.`,
};
