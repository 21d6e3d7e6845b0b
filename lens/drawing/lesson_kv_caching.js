// Lesson 8: the cat's French written word by word, with the keys and values of earlier words kept and without.

import { CAT, curves, legend, picture, roomOf, slider, strip, text } from "./lesson_parts.js";
import { traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS } from "./trace.js";
import { count } from "./wording.js";

const WORDS = [...CAT.translation.matchAll(/\p{L}+['’]?|[^\s\p{L}]/gu)];
const WATCHED = 1, START = WORDS.findIndex(([word]) => word === "il");  // *chat*, whose key is compared
const SAME = 1e-4;
// Its translation up to so many words.
const until = (words) => CAT.translation.slice(0, WORDS[words - 1].index + WORDS[words - 1][0].length);
const keysOf = (words) => ["inside", { tool: "arithmetic", kind: "decoder", layer: 1, head: 0, row: 0,
  translation: until(words) }];

// The tokens that have been read when a word is written, the start and the tag among them.
const readBefore = (answer, word) => traceIn(answer).words("target")[word].pieces[0] + 1;
const layersOf = (answer) => traceIn(answer).sizes.decoder[0];
// Products for the keys and values of one token in every layer.
const productsOf = (answer, row) => 2 * row.output.length ** 2 * layersOf(answer);
// The watched word is the last of the early keys.
const watched = ({ keys: early }, { keys: late }) => [early.at(-1), late[early.length - 1]];
const apart = (early, late) => watched(early, late)[0].map((value, i) => Math.abs(value - watched(early, late)[1][i]));
const millions = (value) => `${(value / 1e6).toFixed(1)} million`;

// For each step a column: which rows are computed in it, and which are kept.
function triangle({ x, y, size, labels, steps, cached }) {
  const cell = (row, step) => html`<rect x="${(x + step * size).toFixed(1)}" y="${(y + row * size).toFixed(1)}"
    width="${(size - 1.5).toFixed(1)}" height="${(size - 1.5).toFixed(1)}" rx="2"
    fill="var(--${cached && row < step ? "line" : step === steps - 1 ? "blue" : "edge"})"/>`;
  return html`${Array.from({ length: steps }, (_, step) => labels.slice(0, step + 1).map((_, row) => cell(row, step)))}`;
}

export const kvCaching = {
  lead: html`A decoder writes one word at a time, and for each it needs the keys and values of every word so far. The mask
    hides later words from earlier ones, so these keys and values never change. A <b>cache</b> keeps them; without one, all
    are computed again for every word.`,
  start: { word: START },
  needs: ({ word }) => [["look", { maps: KINDS }], keysOf(WATCHED + 1), keysOf(Math.max(word, WATCHED + 1))],
  control: ({ word }) => slider("Word that is written", "word", { most: WORDS.length - 1, value: word,
    said: WORDS[word][0] }),
  picture({ word }, [answer, early, late], lesson, theme) {
    const trace = traceIn(answer), steps = readBefore(answer, word), narrow = isNarrow();
    const labels = trace.units("inputs", "tokens").map((_, i) => trace.unitAt("inputs", i).label), left = narrow ? 68 : 86, gap = narrow ? 16 : 46;
    const size = (roomOf() - left - gap) / 2 / labels.length, y = 30, foot = y + labels.length * size + 14;
    const step = { y, size, labels, steps }, right = left + labels.length * size + gap, { result } = lesson;
    const title = (x, how, computed) => html`${text(x, 18, narrow ? how : `${how} the cache`, { how: "bold" })}${
      text(x + (narrow ? 52 : 150), 18, `${count(computed)} computed`, { how: "soft" })}`;
    const isNamed = (row) => row < steps && (!narrow || row === 0 || row === steps - 1);  // a phone has no room for all
    const name = (label, row) => isNamed(row) && text(left - 8, y + row * size + size * .72, label, { anchor: "end",
      how: row === steps - 1 ? "bold" : "" });
    const key = (numbers, at, said) => html`${text(0, at + 12, said, { how: "soft" })}${strip(numbers, { x: narrow ? 150 : 260, y: at,
      width: roomOf() - (narrow ? 150 : 260), theme })}`;
    const [then, now] = watched(early, late);
    return html`${picture("Tokens computed at each step, without the cache and with it", foot + 66 + 170, html`${
      title(left, "without", steps * (steps + 1) / 2)}${title(right, "with", steps)}${
      labels.map(name)}${triangle({ ...step, x: left })}${triangle({ ...step, x: right, cached: true })}${
      word > WATCHED && key(then, foot, narrow ? "key of chat, then" : "key of chat, when it was read")}${
      word > WATCHED + 1 && key(now, foot + 24, narrow ? "and now" : `computed again for ${WORDS[word][0]}`)}${
      curves(result.lengths, [{ label: "without", values: result.ms[1], tone: "blue" },
        { label: "with", values: result.ms[0], tone: "green" }], { y: foot + 62, height: 170, least: 0,
        bottom: "tokens already written", side: "measured: milliseconds for one more", written: (value) => value.toFixed(0) })}`)}${
      legend([["blue", "computed for this word"], ["var(--edge)", "computed for an earlier one"], ["line", "kept, not computed"]])}
      <p class="fine">Each column is a step, each row a token read so far. Curves: blue without the cache, green with it. The
      encoder needs no cache: its ${trace.units("source", "tokens").length} tokens are all there before the first step, and
      are read once.</p>`;
  },
  says({ word }, [answer, , late]) {
    const tokens = readBefore(answer, word), each = productsOf(answer, late), all = tokens * (tokens + 1) / 2;
    return html`Writing <i>${WORDS[word][0]}</i> takes the keys and values of <b>${tokens}</b> tokens. With the cache,
      <b>1</b> is computed and ${tokens - 1} are kept; without it, all ${tokens} are computed. So far that makes
      <b>${tokens}</b> against <b>${count(all)}</b>, or ${millions(tokens * each)} against ${millions(all * each)} multiplications.`;
  },
  predict: {
    question: html`When later words are read, how many of the numbers in the key of <i>chat</i> change?`,
    options: ["All", "Some", "None"],
    right([, early, late]) {
      const all = apart(early, late), changed = all.filter((one) => one > SAME).length;
      return changed === all.length ? 0 : changed ? 1 : 2;
    },
    because([, early, late]) {
      const all = apart(early, late), same = all.filter((one) => one <= SAME).length;
      return html`The key of <i>chat</i> was computed when it was the last word, and again to write <i>${WORDS[START][0]}</i>:
        <b>${same}</b> of its ${all.length} numbers are the same. What stays the same need not be computed again.`;
    },
  },
  short({ word }, [answer]) {
    const tokens = readBefore(answer, word);
    return html`So the model keeps ${tokens - 1} keys and values, computes one more, and writes <i>${
      WORDS[word][0]}</i>. That was every part; here is the whole machine at once.`;
  },
};
