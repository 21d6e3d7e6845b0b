// Lesson 9: where a head looks, what it takes from there, and whether the word that is written depends on it.

import { bars, labelRoom, picture, roomOf, share, text, toneOf } from "./lesson_parts.js";
import { chanceAt, chanceWithout, chosenHead, headButtons, headTitle, one, stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "./markup.js";
import { KINDS } from "./trace.js";
import { chance } from "./wording.js";

const CHOICE = ["cross", "decoder"], WORD = "il";
const LEADS = 0.95;  // a chance from which nothing competes
const SEEN = 0.0005;  // a share below it says nothing of the length of its value
const TOP = 34, CHANCES = 106;  // heights
const lineHeight = () => isNarrow() ? 19 : 25;

// One row of a head: for each word looked at the share, what it adds, and the length of its value, adds / share.
function rowOf(trace, head) {
  const step = stepOf(trace, WORD), shares = trace.map(head), added = trace.map(head, { view: "norm" });
  const at = shares.rows.findIndex((row) => row.pieces.includes(step));
  return shares.columns.map(({ label }, i) => ({ label, share: shares.at[at][i], adds: added.at[at][i] }))
    .filter((cell) => cell.share !== null)
    .map((cell) => ({ ...cell, length: cell.share < SEEN ? null : cell.adds / cell.share }));
}
const largest = (row, name) => row.reduce((best, cell) => cell[name] > best[name] ? cell : best);
// The head of a kind that looks most at one word.
const sharpest = (trace, kind) => trace.layers(kind).flat().reduce((best, head) =>
  largest(rowOf(trace, head), "share").share > largest(rowOf(trace, best), "share").share ? head : best);
const headOfState = ({ head }, trace) => chosenHead(head, sharpest(trace, "cross"));

function columns(row, top) {
  const narrow = isNarrow(), left = labelRoom(row), most = largest(row, "adds").adds, looked = largest(row, "share");
  const [shares, length, adds] = narrow ? [left, 208, 224] : [left, 410, 470];
  const wide = narrow ? 62 : 170, reach = narrow ? 80 : 220, longest = largest(row, "adds");
  const bar = (x, y, value, tone, width) => html`<rect x="${x}" y="${y - 11}" width="${Math.max(1, value * width).toFixed(1)}"
    height="12" rx="2" fill="${toneOf(tone)}"/>`;
  const figure = (x, y, words, how = "") => text(x, y, words, { how: `figure ${how}`, anchor: "end" });
  const line = (cell, i) => {
    const y = top + TOP + i * lineHeight() + 17, isLooked = cell === looked, isLongest = cell === longest;
    return html`${text(left - 8, y, cell.label, { anchor: "end", how: isLooked || isLongest ? "bold" : "" })}${
      bar(shares, y, cell.share, "blue", wide)}${text(shares + wide * cell.share + 6, y, share(cell.share), { how: isLooked ? "bold" : "soft" })}${
      figure(length, y, cell.length === null ? "–" : one(cell.length), "soft")}${
      bar(adds, y, cell.adds / most, "green", reach)}${
      text(adds + reach * cell.adds / most + 6, y, one(cell.adds), { how: isLongest ? "bold" : "soft" })}`;
  };
  return html`${text(shares, top + 18, narrow ? "share" : "share of attention", { how: "bold" })}${
    figure(length, top + 18, narrow ? "× length" : "× length of its value", "bold")}${
    text(adds, top + 18, narrow ? "= it adds" : "= length of what it adds", { how: "bold" })}${row.map(line)}`;
}

export const values = {
  lead: html`A map shows shares, and a share is half of the story. What a word gives is its share times its <b>value</b>: a
    long look at a short value brings little. And whether the translation needs what was brought, no map can show: other
    heads may bring the same, and later blocks decide what is used. To know, take the head away and see.`,
  start: { head: null },
  needs: () => [["look", { maps: KINDS, views: ["raw", "norm"], evidence: true }]],
  control: (state, [answer]) => headButtons(traceIn(answer), CHOICE, headOfState(state, traceIn(answer))),
  picture(state, [answer]) {
    const trace = traceIn(answer), head = headOfState(state, trace), row = rowOf(trace, head), step = stepOf(trace, WORD);
    const all = chanceAt(trace, step), without = chanceWithout(trace, head, step);
    const lines = [{ label: "all heads", value: all, said: chance(all), tone: "ink" },
      { label: "this head off", value: without, said: chance(without), tone: without < LEADS ? "orange" : "ink", how: "bold" }];
    return html`${picture(`${headTitle(head)}, while ${WORD} is written`, CHANCES + TOP + row.length * lineHeight(), html`${
      text(0, 18, `The chance of ${WORD}`, { how: "bold" })}${bars(lines, { y: 28, most: 1, left: 112, height: 26 })}
      <path class="axis" d="M0,${CHANCES - 10}H${roomOf()}"/>${columns(row, CHANCES)}`)}<p class="fine">What a word adds is a vector: its share times its
      value, sent through the head’s output. Its length says how much it moves, not what it means.</p>`;
  },
  says(state, [answer]) {
    const trace = traceIn(answer), head = headOfState(state, trace), row = rowOf(trace, head), step = stepOf(trace, WORD);
    const looked = largest(row, "share"), longest = largest(row, "adds");
    const more = looked === longest ? html`and that adds most (<b>${one(looked.adds)}</b>)`
      : html`which adds ${one(looked.adds)}; <i>${longest.label}</i>, with ${share(longest.share)}, adds more: <b>${
        one(longest.adds)}</b>`;
    return html`While <i>${WORD}</i> is written, ${headTitle(head)} gives <b>${share(looked.share)}</b> of its attention to
      <i>${looked.label}</i>, ${more}. With this head off, <i>${WORD}</i> has <b>${
      chance(chanceWithout(trace, head, step))}</b>.`;
  },
  predict: {
    question: html`While <i>il</i> is written, one head looks almost only at English <i>it</i>, another almost only at
      French <i>chat</i>. Each is switched off in turn. When is <i>il</i> in doubt?`,
    options: ["Without either of them", "Only without the one that looks at it", "Only without the one that looks at chat",
      "Never"],
    right([answer]) {
      const [it, chat] = both(traceIn(answer)).map((one) => one.without < LEADS);
      return it && chat ? 0 : it ? 1 : chat ? 2 : 3;
    },
    because([answer]) {
      const trace = traceIn(answer), pair = both(trace);
      const said = ({ head, looked, without }) => html`without ${headTitle(head)}, which gives <i>${looked.label}</i> ${
        share(looked.share)}, <i>${WORD}</i> has <b>${chance(without)}</b>`;
      return html`All heads: ${chance(chanceAt(trace, stepOf(trace, WORD)))}; ${listed(pair, said, "; ")}. The two maps look
        alike. What depends on them only shows when they are removed.`;
    },
  },
};

// The sharpest head of each kind: where it looks, and the chance of the word without it.
const both = (trace) => CHOICE.map((kind) => {
  const head = sharpest(trace, kind);
  return { head, looked: largest(rowOf(trace, head), "share"), without: chanceWithout(trace, head, stepOf(trace, WORD)) };
});
