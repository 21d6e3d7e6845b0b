// Lesson 2: one row of one head; its products are added one by one, and what the words found hand on.

import { best, figure, mostOf, slider, strip, text } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rowAt, rowPicture, sharesOf, sumOf, writtenAt } from "./lesson_row.js";
import { html } from "./markup.js";

const ROW = 11, FOUND = 3;  // where *qu'* asks, to write *il*; and where *chat* asks
const meanOf = (numbers) => numbers.reduce((total, one) => total + one, 0) / numbers.length;

function seen(state, [look, row]) {
  const words = inputsOf(look), count = state.count ?? row.query.length, whole = sharesOf(row), found = best(whole);
  return { words, count, found, asker: words[ROW], whole, shares: sharesOf(row, { count }) };
}

export const attention = {
  lead: html`<p>The model has written <i>Le chat n’a pas traversé la rue parce qu’</i>. Should it go on with <i>il</i>, for the
    cat, or with <i>elle</i>, for the street? The last word, <i>qu’</i>, has to find another one: that is attention.</p>
    <p>Each word has three lists of 32 numbers for it. Its <b>query</b> says what it looks for, its <b>key</b> what it can be
    found by, its <b>value</b> what it hands on to the one who finds it. Where a query and a key have large numbers of the same
    sign in the same places, their products add up to a high score.</p>`,
  start: { count: null },
  needs: () => [WORDS, rowAt(ROW), rowAt(FOUND)],
  control(state, answers) {
    const { count } = seen(state, answers), size = answers[1].query.length;
    return slider("Products added", "count", { most: size, value: count, said: `${count} of ${size}` });
  },
  picture(state, answers, lesson, theme) {
    const [, row] = answers, { words, count, found, asker } = seen(state, answers), most = mostOf(row.values.filter((_, i) => row.allowed[i])) * .7;
    const mixed = (shares) => row.query.map((_, e) => row.values.reduce((total, value, i) => total + shares[i] * value[e], 0));
    const at = ([x, end], y, height) => ({ x, y, width: end - x, height, most, theme });
    return rowPicture(`What ${asker} finds, number by number`, row, words, { asker, steps: [0, 3, 4], count, pair: found,
      scored: { head: "sum", divided: false }, theme, last: { head: "share × value",
        draw: (i, place, y, height, shares) => strip(row.values[i].map((one) => one * shares[i]), at(place, y, height)),
        foot: (place, y, shares) => html`${text(place.last[0] - 10, y + place.row * .7, "added up, this is handed on:", { anchor: "end", how: "bold" })}${
          strip(mixed(shares), at(place.last, y + place.row * .14, place.row * .7))}` } });
  },
  says(state, answers) {
    const [look, row] = answers, { words, count, found, shares, asker } = seen(state, answers), size = row.query.length;
    const own = html`<i>${words[found]}</i>`, scored = figure(sumOf(row.query, row.keys[found], count));
    if (count < size) return html`With <b>${count}</b> of the ${size} products added, ${own} has <b>${scored}</b>. If that were
      all, it would get <b>${part(shares[found])}</b> of the attention.`;
    return html`All ${size} products of <i>${asker}</i> and ${own} add up to <b>${scored}</b>. So ${own} gets
      <b>${part(shares[found])}</b> of the attention, and that much of what is handed on, to write <i>${writtenAt(look, ROW)}</i>,
      is the value of ${own}.`;
  },
  predict: {
    question: html`Why three lists? Suppose each word had just one, to look with and to be found by. <i>qu’</i> finds
      <i>chat</i>. How would <i>chat</i>, when it looks, score <i>qu’</i>?`,
    options: ["Just as high", "Lower", "That depends on the words"],
    right: (answers, { result }) => result.mirrored < 1e-6 ? 0 : 2,
    because(answers, { result }) {
      const [, row, back] = answers, { words, found, asker } = seen(attention.start, answers);
      const top = (way) => Math.max(...result.right[way].map(meanOf));
      return html`Just as high: a · b is b · a. But who looks is not who is found. With a query and a key of their own,
        <i>${asker}</i> scores <i>${words[found]}</i> <b>${figure(sumOf(row.query, row.keys[found]))}</b>, and <i>${words[found]}</i>
        scores <i>${asker}</i> <b>${figure(back.products[ROW])}</b>. What a word hands on is a third thing. Small models that
        had to look words up got at best <b>${part(top("one matrix"))}</b> right with one list for all three, and
        <b>${part(top("three matrices"))}</b> with three.`;
    },
  },
  short(state, answers) {
    const { words, found, whole, asker } = seen(attention.start, answers);
    return html`<i>${asker}</i> asked, <i>${words[found]}</i> answered and got ${part(whole[found])} of the attention: its value
      is handed on. The scores of this head are large sums; the next lesson shows why they are divided.`;
  },
};
