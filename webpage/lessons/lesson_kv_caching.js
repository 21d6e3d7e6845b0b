// Lesson 8: the cat's French written word by word, with the keys and values of earlier words kept and without.

import { CAT, curves, legend, picture, roomOf, slider, strip, text, toneOf } from "./lesson_parts.js";
import { traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "../common/markup.js";
import { KINDS } from "../common/trace.js";
import { count } from "../common/wording.js";

const WORDS = [...CAT.translation.matchAll(/\p{L}+['’]?|[^\s\p{L}]/gu)];
const WATCHED = WORDS.findIndex(([word]) => word === "chat");  // the word whose key is compared
const START = WORDS.findIndex(([word]) => word === "il");
const SAME = 1e-4;  // a smaller difference is rounding
const TOP = 30, CURVES = 170, FOOT = 58;  // heights; FOOT is what `curves` leaves free above and below its lines

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

// A column for each step, a row for each token: computed in this step, in an earlier one, or kept; later
// steps are empty.
function triangle({ x, size, high, rows, steps, isCached }) {
  const tone = (row, step) => isCached && row < step ? "line" : step === steps - 1 ? "blue" : "edge";
  const look = (row, step) => step < steps ? `fill="${toneOf(tone(row, step))}"` : `class="axis" opacity=".5"`;
  const cell = (row, step) => html`<rect x="${(x + step * size).toFixed(1)}" y="${(TOP + row * high).toFixed(1)}"
    width="${(size - 1.5).toFixed(1)}" height="${(high - 1.5).toFixed(1)}" rx="2" ${html([look(row, step)])}/>`;
  const column = (_, step) => Array.from({ length: step + 1 }, (_, row) => cell(row, step));
  return html`${Array.from({ length: rows }, column)}`;
}

// Both triangles, with the words read; that of the cache once the question is answered.
function triangles(trace, steps, answered) {
  const narrow = isNarrow(), left = narrow ? 68 : 86, gap = narrow ? 16 : 46;
  const rows = trace.units("inputs", "tokens").length;
  const size = (roomOf() - left - gap) / 2 / rows, right = left + rows * size + gap;
  const high = narrow ? 14 : size, place = { size, high, rows, steps };  // cells as high as a name needs
  const name = (_, row) => text(left - 8, TOP + (row + .78) * high, trace.unitAt("inputs", row).label,
    { anchor: "end", how: row === steps - 1 ? "bold" : row < steps ? "" : "soft" });
  const title = (x, how, computed) => html`${text(x, 18, narrow ? how : `${how} the cache`, { how: "bold" })}${
    text(x + (narrow ? 52 : 150), 18, `${count(computed)} computed`, { how: "soft" })}`;
  return { height: TOP + rows * high, drawn: html`${title(left, "without", upTo(steps))}${
    Array.from({ length: rows }, name)}${triangle({ x: left, ...place })}${answered ? html`${
    title(right, "with", steps)}${triangle({ x: right, ...place, isCached: true })}` : ""}` };
}

// The key of the watched word, from then and, once the question is answered, from now.
function twoKeys({ word, answered }, early, late, y, theme) {
  const [then, now] = watched(early, late), narrow = isNarrow(), x = narrow ? 150 : 260, name = WORDS[WATCHED][0];
  const line = (numbers, y, caption) => html`${text(0, y + 12, caption, { how: "soft" })}${
    strip(numbers, { x, y, width: roomOf() - x, theme })}`;
  return html`${word > WATCHED ? line(then, y, narrow ? `key of ${name}, then` : `key of ${name}, when it was read`)
    : text(0, y + 12, `${name} is not read yet: it has no key`, { how: "soft" })}${
    answered && word > WATCHED + 1 && line(now, y + 24, narrow ? "and now" : `computed again for ${WORDS[word][0]}`)}`;
}

// Milliseconds for one more word, with the name of each curve above its end.
function measured({ lengths, ms: [kept, again] }) {
  const lines = [{ values: again, tone: "orange", name: "without the cache" },
    { values: kept, tone: "green", name: "with the cache" }], most = Math.max(...again, ...kept);
  const name = ({ values, tone, name: caption }) => html`<text x="${roomOf() - 54}" y="${(
    10 + (1 - values.at(-1) / most) * (CURVES - FOOT)).toFixed(1)}" text-anchor="end"
    fill="${toneOf(tone)}">${caption}</text>`;
  return html`${curves(lengths, lines, { height: CURVES, least: 0, most, bottom: "tokens already written" })}${
    lines.map(name)}`;
}

export const kvCaching = {
  lead: html`A decoder writes one word at a time. For each word, it needs the keys and values of every word so far.
    A <b>cache</b> keeps them from one word to the next. Without a cache, the decoder computes all of them again for
    every word. Are the kept keys and values still right?`,
  start: { word: START, answered: false },
  needs: ({ word }) => [["look", { maps: KINDS }], keysAfter(WATCHED + 1), keysAfter(Math.max(word, WATCHED + 1))],
  control: ({ word }) => slider("Word that is written", "word", { most: WORDS.length - 1, value: word,
    valueText: WORDS[word][0] }),
  picture(state, [answer, early, late], { result }, theme) {
    const { word, answered } = state, trace = traceIn(answer);
    const { height, drawn } = triangles(trace, readBefore(answer, word), answered), foot = height + 14;
    return html`${picture("Tokens computed at each step, without the cache and with it", foot + 60,
      html`${drawn}${twoKeys(state, early, late, foot, theme)}`)}<div class="more">${
      legend([["blue", "computed for this word"], ["edge", "computed for an earlier word"],
        ...answered ? [["line", "kept, not computed"]] : []])}
      <p class="fine">Each column is a step, and each row is a token. Later steps are empty. <i>start</i> and
      <i>to French</i> are marks that the model reads before its first word.</p>${answered ? html`
      <p class="key">Measured: milliseconds for one more word</p>${
      picture("Milliseconds for one more word, without the cache and with it", CURVES, measured(result))}
      <p class="fine">The encoder needs no cache. All its ${trace.units("source", "tokens").length} tokens are there
      before the first step, and it reads them once.</p>` : ""}</div>`;
  },
  says({ word, answered }, [answer, early, late]) {
    const tokens = readBefore(answer, word), all = upTo(tokens), takes = html`Writing <i>${WORDS[word][0]}</i> takes the
      keys and values of <b>${tokens}</b> tokens.`;
    if (!answered) return takes;
    const moved = differences(early, late), same = moved.filter((one) => one <= SAME).length;
    return html`${takes} With the cache,
      <b>1</b> is computed and ${tokens - 1} are kept. Without it, all ${tokens} are computed. Over all words so far,
      <b>${tokens}</b> are computed with the cache and <b>${count(all)}</b> without it. For keys and values alone, this
      takes ${products(answer, late, tokens)} million multiplications with the cache and ${
      products(answer, late, all)} million without it.${word > WATCHED + 1 ? html`
      In the key of <i>${WORDS[WATCHED][0]}</i>, <b>${same}</b> of ${moved.length} numbers are still the same.` : ""}`;
  },
  predict: {
    question: html`The key of <i>chat</i> is computed when <i>chat</i> is read. If it is computed again for later words,
      how many of its numbers change?`,
    options: ["All", "Some", "None"],
    right([, early, late]) {
      const all = differences(early, late), changed = all.filter((one) => one > SAME).length;
      return changed === all.length ? 0 : changed ? 1 : 2;
    },
    because([, early, late]) {
      const all = differences(early, late), same = all.filter((one) => one <= SAME).length;
      return html`We computed the key of <i>${WORDS[WATCHED][0]}</i> when this was the last word, and again to write
        <i>${WORDS[START][0]}</i>. <b>${same}</b> of its ${all.length} numbers are the same. The mask hides later words
        from earlier ones. So the earlier keys and values stay the same, and need not be computed again.`;
    },
    shows: { answered: true },
  },
  short({ word }, [answer]) {
    return html`So the model keeps ${readBefore(answer, word) - 1} keys and values, computes one more, and writes <i>${
      WORDS[word][0]}</i>.`;
  },
};
