// Lesson 9: where a head looks, what it takes from there, and whether the word that is written depends on it.

import { bars, figure, labelRoom, picture, roomOf, share, text, toneOf } from "./lesson_parts.js";
import { chanceAt, chanceWithout, chosenHead, headButtons } from "./lesson_trace.js";
import { headTitle, largest, rowAt, stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "../common/markup.js";
import { KINDS } from "../common/trace.js";
import { chance } from "../common/wording.js";

const CHOICE = ["cross", "decoder"], WORD = "il";
const LEADS = 0.95;  // a chance from which nothing competes
const SEEN = 0.0005;  // a share below it says nothing of the length of its value
const TOP = 34, CHANCES = 106;  // heights
const lineHeight = () => isNarrow() ? 16 : 25;

// One row of a head: for each word its share, what it adds, and the length of its value, which is adds / share.
function rowOf(trace, head) {
  const step = stepOf(trace, WORD), added = rowAt(trace, head, step, "norm");
  return rowAt(trace, head, step).map(({ label, special, value }, i) => ({ label, special, share: value,
    adds: added[i].value,
    length: value < SEEN ? null : added[i].value / value }));
}
// The head of a kind that looks most at one word.
function sharpest(trace, kind) {
  const all = trace.layers(kind).flat().map((head) => ({ head, most: largest(rowOf(trace, head), "share").share }));
  return largest(all, "most").head;
}
const headOfState = ({ head }, trace) => chosenHead(head, sharpest(trace, CHOICE[0]));
// A word of a head's row, never to be taken for a word of the sentence it stands in.
const LANGUAGE = { cross: "English", decoder: "French" };
const named = ({ kind }, { label, special }) => html`${special ? "" : `${LANGUAGE[kind]} `}<i>${label}</i>`;

// Columns: the share, the length of the value, the length of what is added.
function columns(row, top) {
  const narrow = isNarrow(), left = labelRoom(row), peak = largest(row, "share"), longest = largest(row, "adds");
  const [lengths, adds] = narrow ? [208, 224] : [410, 470], [wide, reach] = narrow ? [54, 80] : [170, 220];
  const bar = (x, y, tone, width, valueText, how) => html`<rect x="${x}" y="${y - 11}" width="${
    Math.max(1, width).toFixed(1)}" height="12" rx="2" fill="${toneOf(tone)}"/>${
    text(x + width + 6, y, valueText, { how })}`;
  const right = (y, valueText, how) => text(lengths, y, valueText, { how: `figure ${how}`, anchor: "end" });
  const line = (cell, i) => {
    const y = top + TOP + i * lineHeight() + 17, how = (isBold) => isBold ? "bold" : "soft";
    const name = { anchor: "end", how: cell === peak || cell === longest ? "bold" : "" };
    return html`${text(left - 8, y, cell.label, name)}${
      bar(left, y, "blue", cell.share * wide, share(cell.share), how(cell === peak))}${
      right(y, cell.length === null ? "" : figure(cell.length), "soft")}${
      bar(adds, y, "green", cell.adds / longest.adds * reach, figure(cell.adds), how(cell === longest))}`;
  };
  return html`${text(left, top + 18, narrow ? "share" : "share of attention", { how: "bold" })}${
    right(top + 18, narrow ? "× length" : "× length of its value", "bold")}${
    text(adds, top + 18, narrow ? "= it adds" : "= length of what it adds", { how: "bold" })}${row.map(line)}`;
}

// The sharpest head of each kind: where it looks, and the chance of the word without it.
const both = (trace) => CHOICE.map((kind) => {
  const head = sharpest(trace, kind), without = chanceWithout(trace, head, stepOf(trace, WORD));
  return { head, peak: largest(rowOf(trace, head), "share"), without };
});

export const values = {
  lead: html`A map shows shares of attention. A word adds its share times its <b>value</b>. Even if it adds much, the
    translation need not depend on it. Other heads may add the same, and later blocks decide what is used. No map shows
    this. To find out, switch the head off and see what changes.`,
  start: { head: null, answered: false },
  needs: () => [["look", { maps: KINDS, views: ["raw", "norm"], evidence: true }]],
  control: (state, [answer]) => headButtons(traceIn(answer), CHOICE, headOfState(state, traceIn(answer))),
  picture(state, [answer]) {
    const trace = traceIn(answer), head = headOfState(state, trace), row = rowOf(trace, head);
    const step = stepOf(trace, WORD), height = CHANCES + TOP + row.length * lineHeight();
    const all = chanceAt(trace, step), without = chanceWithout(trace, head, step);
    const lines = [{ label: "all heads", value: all, valueText: chance(all), tone: "ink" },
      ...state.answered ? [{ label: "this head off", value: without, valueText: chance(without),
        tone: without < LEADS ? "orange" : "ink", how: "bold" }] : []];
    return html`${picture(`${headTitle(head)}, while ${WORD} is written`, height, html`${
      text(0, 18, `The chance of ${WORD}`, { how: "bold" })}${bars(lines, { y: 28, most: 1, left: 112, height: 26 })}
      <path class="axis" d="M0,${CHANCES - 10}H${roomOf()}"/>${columns(row, CHANCES)}`)}<p class="more fine">A word
      adds a vector: its share times its value, passed through the head’s output. The length of this vector shows how
      much it changes, not what it means. If a share is almost 0, the length of the value is not shown.</p>`;
  },
  says(state, [answer]) {
    const trace = traceIn(answer), head = headOfState(state, trace), row = rowOf(trace, head);
    const peak = largest(row, "share"), longest = largest(row, "adds");
    const off = html` With this head off, the chance of <i>${WORD}</i> is <b>${
      chance(chanceWithout(trace, head, stepOf(trace, WORD)))}</b>.`;
    const more = peak === longest ? html`This word also adds most (<b>${figure(peak.adds)}</b>)`
      : html`This word adds ${figure(peak.adds)}. But ${named(head, longest)}, with ${share(longest.share)}, adds more:
        <b>${figure(longest.adds)}</b>`;
    return html`While <i>${WORD}</i> is written, ${headTitle(head)} gives <b>${share(peak.share)}</b> of its attention
      to ${named(head, peak)}. ${more}.${state.answered ? off : ""}`;
  },
  predict: {
    question: html`While <i>il</i> is written, one head looks almost only at English <i>it</i>. Another looks almost only at
      French <i>chat</i>. Each is switched off in turn. When does the chance of <i>il</i> fall below ${chance(LEADS)}?`,
    options: ["Without either of them", html`Only without the head that looks at <i>it</i>`,
      html`Only without the head that looks at <i>chat</i>`, "Never"],
    right([answer]) {
      const [it, chat] = both(traceIn(answer)).map((one) => one.without < LEADS);
      return it && chat ? 0 : it ? 1 : chat ? 2 : 3;
    },
    because([answer]) {
      const trace = traceIn(answer);
      const aboutHead = ({ head, peak, without }) => html`Without ${headTitle(head)}, it is <b>${chance(without)}</b>. This
        head gives ${share(peak.share)} of its attention to ${named(head, peak)}.`;
      return html`With all heads on, the chance of <i>${WORD}</i> is ${chance(chanceAt(trace, stepOf(trace, WORD)))}. ${
        listed(both(trace), aboutHead, " ")} The two maps look alike. Only switching the heads off shows how much the
        translation depends on them.`;
    },
    shows: { answered: true },
  },
  short(state, [answer]) {
    const trace = traceIn(answer), [one, other] = both(trace);
    const aboutHead = ({ head, peak, without }) => html`gives ${share(peak.share)} of its attention to ${
      named(head, peak)}. Without this head, the chance of <i>${WORD}</i> is ${chance(without)}`;
    return html`One head ${aboutHead(one)}. Another head ${aboutHead(other)}. No map shows this difference.`;
  },
};
