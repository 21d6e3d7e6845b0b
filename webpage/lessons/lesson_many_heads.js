// Lesson 5: the heads of one layer side by side, for one word; and each of them switched off.

import { CAT, best, buttons, picture, roomOf, text } from "./lesson_parts.js";
import { atLeast, part, briefly } from "./lesson_row.js";
import { chanceAt, chanceWithout, traceIn } from "./lesson_trace.js";
import { html, isNarrow, listed } from "../common/markup.js";
import { KINDS } from "../common/trace.js";
import { chance } from "../common/wording.js";

const KIND = "decoder", LAYER = 1, STEP = 11;  // decoder self-attention, layer 2, at the step that writes *il*
const SHOWN = 0.05;  // a share that is written beside its bar
const FALLEN = 0.05;  // a chance that is less by more than this

// Each head: the words that it may look at and their shares, and the chance of the word without it.
function seen(look) {
  const trace = traceIn(look);
  const heads = trace.layers(KIND)[LAYER].map((head) => {
    const { rows, columns, at } = trace.map(head), row = at[rows.findIndex((one) => one.pieces.includes(STEP))];
    const shares = row.filter((one) => one !== null), words = shares.map((_, i) => columns[i].label);
    return { words, shares, most: best(shares), without: chanceWithout(trace, head, STEP),
      instead: trace.effect(head, STEP).instead };
  });
  const { text: word } = trace.unitAt("target", STEP), costly = best(heads.map((one) => -one.without));
  return { heads, word, whole: chanceAt(trace, STEP), costly };
}
const writtenIn = ({ translation }) => translation.hypotheses[0].text;
const lookOf = ({ words, shares, most }) => html`<i>${words[most]}</i> (${part(shares[most])})`;

export const manyHeads = {
  lead: html`<p>A <b>head</b> is one attention. It has queries, keys and values of its own, 32 numbers each, so it looks
    in its own way. Why several? One head divides its attention once; several can look at different words for different
    reasons at the same time. This layer, the second, has four heads that look back at the French. They look at the same time, and
    what they pass on is added up.</p>
    <p>We are back where <i>il</i> is being written. You can switch off a head. It then passes on the same vector
    whatever it sees: its average over some example sentences. We do not use zeros, because a head never passes on
    zeros.</p>`,
  start: { off: null },
  needs: ({ off }) => [["look", { maps: KINDS, evidence: true }],
    ["look", { text: CAT.text, maps: [], without: off === null ? [] : [[KIND, LAYER, off]] }]],
  control({ off }, [look]) {
    const heads = seen(look).heads.map((_, i) => [i, `head ${i + 1}`]);
    return buttons("Switch off", "off", [[null, "no head"], ...heads], off);
  },
  picture({ off }, [look, then]) {
    const { heads, word } = seen(look), [{ words }] = heads, left = isNarrow() ? 62 : 84, row = isNarrow() ? 18 : 25;
    const wide = (roomOf() - left) / heads.length, names = words.map((one, i) =>
      text(left - 8, 30 + (i + 0.66) * row, one, { anchor: "end", how: i < 2 ? "slanted" : "" }));
    const panels = heads.map((one, h) => panel(one, h, { x: left + h * wide, wide, row, word, isOff: h === off }));
    return html`${picture(`Where the heads look while ${word} is being written`, 78 + words.length * row,
      [names, panels])}
      <p class="fine">Written with ${off === null ? "every head" : `head ${off + 1} off`}:
        <i>${writtenIn(then)}</i></p>`;
  },
  says({ off }, [look, then]) {
    const { heads, word, whole } = seen(look), own = html`<i>${word}</i>`, isSame = writtenIn(then) === CAT.translation;
    if (off === null) return html`With every head on, the chance of ${own} is <b>${chance(whole)}</b>. In order,
      the heads look most at ${listed(heads, lookOf)}.`;
    return html`Head ${off + 1} looks most at ${lookOf(heads[off])}. Without this head, the chance of ${own}
      is <b>${chance(heads[off].without)}</b>. With every head, it is <b>${chance(whole)}</b>.
      ${isSame ? "The translation stays the same." : "The translation changes."}`;
  },
  predict: {
    question: html`While <i>il</i> is being written, head 1 looks almost only at <i>chat</i>, the word that <i>il</i>
      stands for. If head 1 is switched off, what happens to <i>il</i>?`,
    options: ["Nothing: its chance stays the same", "Its chance falls, but il is still written",
      "Another word is written"],
    right([look]) {
      const { heads: [{ without, instead }], whole } = seen(look);
      return instead ? 2 : whole - without > FALLEN ? 1 : 0;
    },
    because([look], { result: { exact: [four, one] } }) {
      const { heads: [first, ...others], word, whole } = seen(look), least = Math.min(...others.map((o) => o.without));
      return html`With every head, the chance of <i>${word}</i> is <b>${chance(whole)}</b>. Without head 1, it is
        <b>${chance(first.without)}</b>, and ${
        first.instead ? html`<i>${first.instead}</i> is` : html`<i>${word}</i> is still`} written. Without
        any one of the other heads, it is <b>${atLeast(least)}</b>. Is one large head as good as four? For
        this lesson, we trained small models with four heads and with one head as large as the four. With four heads,
        they translate <b>${part(four.value)}</b> of new sentences exactly. With one head, they translate
        <b>${part(one.value)}</b>.`;
    },
  },
  short(state, [look]) {
    const { heads, word, costly } = seen(look);
    return html`The layer has ${heads.length} heads, and each looks in its own way. Without head ${costly + 1}, the
      chance of <i>${word}</i> falls most. All of them look back at the French. Where does the English come in?`;
  },
};

// One head: its shares as bars, and under them, where it is off, the chance of the word without it.
function panel({ shares, most, without }, h, { x, wide, row, word, isOff }) {
  const room = wide - (isNarrow() ? 46 : 82), under = 30 + shares.length * row;
  const bar = (share, i) => {
    const long = Math.max(1, share * room), y = 30 + i * row, how = i === most ? "bold" : "soft";
    return html`<rect x="${x}" y="${y + 4}" width="${long.toFixed(1)}" height="${row - 9}" rx="2"
      fill="var(--${i === most ? "green" : "slate"})"/>${share < SHOWN ? "" : text(x + long + 4, y + row * 0.66,
      briefly(share), { how })}`;
  };
  return html`<g opacity="${isOff ? 0.3 : 1}">${text(x, 16, `head ${h + 1}`, { how: "bold" })}${shares.map(bar)}</g>${
    isOff ? [text(x, under + 18, isNarrow() ? "off" : "switched off", { how: "soft" }),
      text(x, under + 37, isNarrow() ? `${word}: ${chance(without).replace("over ", ">")}`
      : `chance of ${word}: ${chance(without)}`, { how: "bold" })] : ""}`;
}
