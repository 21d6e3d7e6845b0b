// Lesson 8: the cat's French written word by word, with the keys and values of earlier words kept and without.

import { CAT, curves, legend, picture, roomOf, slider, strip, text, toneOf } from "./lesson_parts.js";
import { traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS } from "./trace.js";
import { count } from "./wording.js";

const WORDS = [...CAT.translation.matchAll(/\p{L}+['’]?|[^\s\p{L}]/gu)];
const WATCHED = WORDS.findIndex(([word]) => word === "chat");  // the word whose key is compared
const START = WORDS.findIndex(([word]) => word === "il");
const SAME = 1e-4;  // a smaller difference is rounding
const TOP = 30, CURVES = 170;

// The keys of one head when so many words are written.
const keysAfter = (words) => ["inside", { tool: "arithmetic", kind: "decoder", layer: 1, head: 0, row: 0,
  translation: CAT.translation.slice(0, WORDS[words - 1].index + WORDS[words - 1][0].length) }];
// The watched word is the last of the early keys.
const watched = ({ keys: early }, { keys: late }) => [early.at(-1), late[early.length - 1]];
function differences(early, late) {
  const [then, now] = watched(early, late);
  return then.map((value, i) => Math.abs(value - now[i]));
}

// The tokens that have been read when a word is written, the start and the tag among them.
const readBefore = (answer, word) => traceIn(answer).words("target")[word].pieces[0] + 1;
const upTo = (tokens) => tokens * (tokens + 1) / 2;  // 1 + 2 + ... + tokens
// In millions: the multiplications that the keys and values of so many tokens take, in every layer.
const products = (answer, { output }, tokens) =>
  (2 * output.length ** 2 * traceIn(answer).sizes.decoder[0] * tokens / 1e6).toFixed(1);

// A column for each step, a row for each token: computed in this step, in an earlier one, or kept.
function triangle({ x, size, steps, isCached }) {
  const tone = (row, step) => isCached && row < step ? "line" : step === steps - 1 ? "blue" : "edge";
  const cell = (row, step) => html`<rect x="${(x + step * size).toFixed(1)}" y="${(TOP + row * size).toFixed(1)}"
    width="${(size - 1.5).toFixed(1)}" height="${(size - 1.5).toFixed(1)}" rx="2" fill="${toneOf(tone(row, step))}"/>`;
  const column = (_, step) => Array.from({ length: step + 1 }, (_, row) => cell(row, step));
  return html`${Array.from({ length: steps }, column)}`;
}

// Both triangles, with the words read.
function triangles(trace, steps) {
  const narrow = isNarrow(), left = narrow ? 68 : 86, gap = narrow ? 16 : 46;
  const rows = trace.units("inputs", "tokens").length;
  const size = (roomOf() - left - gap) / 2 / rows, right = left + rows * size + gap;
  const isNamed = (row) => !narrow || row === 0 || row === steps - 1;  // a phone has no room for all
  const name = (_, row) => isNamed(row) && text(left - 8, TOP + (row + .72) * size, trace.unitAt("inputs", row).label,
    { anchor: "end", how: row === steps - 1 ? "bold" : "" });
  const title = (x, how, computed) => html`${text(x, 18, narrow ? how : `${how} the cache`, { how: "bold" })}${
    text(x + (narrow ? 52 : 150), 18, `${count(computed)} computed`, { how: "soft" })}`;
  return { height: TOP + rows * size, drawn: html`${title(left, "without", upTo(steps))}${title(right, "with", steps)}${
    Array.from({ length: steps }, name)}${triangle({ x: left, size, steps })}${
    triangle({ x: right, size, steps, isCached: true })}` };
}

// The key of the watched word, from then and from now.
function twoKeys(word, early, late, y, theme) {
  const [then, now] = watched(early, late), narrow = isNarrow(), x = narrow ? 150 : 260, name = WORDS[WATCHED][0];
  const line = (numbers, y, said) => html`${text(0, y + 12, said, { how: "soft" })}${
    strip(numbers, { x, y, width: roomOf() - x, theme })}`;
  return html`${word > WATCHED && line(then, y, narrow ? `key of ${name}, then` : `key of ${name}, when it was read`)}${
    word > WATCHED + 1 && line(now, y + 24, narrow ? "and now" : `computed again for ${WORDS[word][0]}`)}`;
}

export const kvCaching = {
  lead: html`A decoder writes one word at a time, and for each it needs the keys and values of every word so far.
    The mask hides later words from earlier ones, so these keys and values never change. A <b>cache</b> keeps them;
    without one, all are computed again for every word.`,
  start: { word: START },
  needs: ({ word }) => [["look", { maps: KINDS }], keysAfter(WATCHED + 1), keysAfter(Math.max(word, WATCHED + 1))],
  control: ({ word }) => slider("Word that is written", "word", { most: WORDS.length - 1, value: word,
    said: WORDS[word][0] }),
  picture({ word }, [answer, early, late], { result }, theme) {
    const trace = traceIn(answer), { height, drawn } = triangles(trace, readBefore(answer, word)), foot = height + 14;
    const [kept, again] = result.ms, lines = [{ values: again, tone: "blue" }, { values: kept, tone: "green" }];
    const measured = curves(result.lengths, lines, { height: CURVES, least: 0,
      bottom: "tokens already written", side: "measured: milliseconds for one more" });
    return html`${picture("Tokens computed at each step, without the cache and with it", foot + 60,
      html`${drawn}${twoKeys(word, early, late, foot, theme)}`)}<div class="more">${
      legend([["blue", "computed for this word"], ["edge", "computed for an earlier one"],
        ["line", "kept, not computed"]])}${
      picture("Milliseconds for one more token, without the cache and with it", CURVES, measured)}
      <p class="fine">Each column is a step, each row a token read so far. Curves:
      blue without the cache, green with it. The encoder needs no cache: its ${
      trace.units("source", "tokens").length} tokens are all there before the first step, and are read once.</p></div>`;
  },
  says({ word }, [answer, , late]) {
    const tokens = readBefore(answer, word), all = upTo(tokens);
    return html`Writing <i>${WORDS[word][0]}</i> takes the keys and values of <b>${tokens}</b> tokens. With the cache,
      <b>1</b> is computed and ${tokens - 1} are kept; without it, all ${tokens} are computed. So far that makes
      <b>${tokens}</b> against <b>${count(all)}</b>, or ${products(answer, late, tokens)} million against ${
      products(answer, late, all)} million multiplications.`;
  },
  predict: {
    question: html`When later words are read, how many of the numbers in the key of <i>chat</i> change?`,
    options: ["All", "Some", "None"],
    right([, early, late]) {
      const all = differences(early, late), changed = all.filter((one) => one > SAME).length;
      return changed === all.length ? 0 : changed ? 1 : 2;
    },
    because([, early, late]) {
      const all = differences(early, late), same = all.filter((one) => one <= SAME).length;
      return html`The key of <i>${WORDS[WATCHED][0]}</i> was computed when it was the last word, and again to write
        <i>${WORDS[START][0]}</i>: <b>${same}</b> of its ${all.length} numbers are the same. What stays the same
        need not be computed again.`;
    },
  },
  short({ word }, [answer]) {
    return html`So the model keeps ${readBefore(answer, word) - 1} keys and values, computes one more, and writes <i>${
      WORDS[word][0]}</i>. That was every part; now all of them at once.`;
  },
};
