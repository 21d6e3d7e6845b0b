// Lesson 2: one row of one head; its products are added one by one, and what was found hands on its value.

import { best, figure, mostOf, slider, strip, sum } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rowAt, rowPicture, sharesOf, sumOf, writtenAt } from "./lesson_row.js";
import { html } from "./markup.js";

const ROW = 11, FOUND = 3;  // where *qu'* asks, to write *il*; and where *chat* asks
const meanOf = (numbers) => sum(numbers) / numbers.length;

function seen({ count }, [look, row]) {
  const words = inputsOf(look), added = count ?? row.query.length, whole = sharesOf(row);
  return { words, asker: words[ROW], count: added, whole, found: best(whole), shares: sharesOf(row, { count: added }) };
}

export const attention = {
  lead: html`<p>The model has written <i>Le chat n'a pas traversé la rue parce qu'</i>. What comes next: <i>il</i>, for
    the cat, or <i>elle</i>, for the street? To decide, the last word has to look at another one: that is attention.</p>
    <p>For this, each word has three lists of 32 numbers. Its <b>query</b> says what it looks for, its <b>key</b> what
    it can be found by, its <b>value</b> what it hands on when it is found. Each is made from the word’s 128 numbers by
    a table of learnt weights, a <b>matrix</b>: so there are three matrices. The 128 become 32 because four attentions
    like this one, the heads, share the width. Where a query and a key have large numbers of the same sign in the same
    places, their products add up to a high score.</p>`,
  start: { count: null },
  needs: () => [WORDS, rowAt(ROW), rowAt(FOUND)],
  control(state, answers) {
    const { count } = seen(state, answers), most = answers[1].query.length;
    return slider("Products added", "count", { most, value: count, said: `${count} of ${most}` });
  },
  picture(state, answers, lesson, theme) {
    const [, row] = answers, { words, count, found, asker } = seen(state, answers);
    const most = mostOf(row.values.filter((_, i) => row.allowed[i])) * 0.7;
    const draw = (i, shares, place) => strip(row.values[i].map((one) => one * shares[i]), { ...place, most, theme });
    const mixed = (shares) => row.query.map((_, e) => sum(row.values.map((value, i) => shares[i] * value[e])));
    const foot = (shares, place) => strip(mixed(shares), { ...place, most, theme });
    return html`${rowPicture(`What ${asker} finds, number by
      number`, row, words, { asker, pair: found, step: [0, 1, 3, 4], count,
      head: "sum", last: { head: "share × value", draw, foot }, theme })}
      <p class="fine">Blue: above zero, orange: below, pale: not added yet. A product is blue where query and key have
      the same colour.</p>`;
  },
  says(state, answers) {
    const [look, row] = answers, { words, asker, count, found, shares } = seen(state, answers), size = row.query.length;
    const own = html`<i>${words[found]}</i>`, scored = html`<b>${figure(sumOf(row.query, row.keys[found], count))}</b>`;
    const gets = html`<b>${part(shares[found])}</b>`;
    if (count < size) return html`With <b>${count}</b> of the ${size} products added, ${own} has ${scored}. If that
      were all, it would get ${gets} of the attention.`;
    return html`All ${size} products of <i>${asker}</i> and ${own} add up to ${scored}. Divided by √${size},
      as the next step explains, this gives ${own} ${gets} of the attention: of what this head hands on to write
      <i>${writtenAt(look, ROW)}</i>, ${gets} is the value of ${own}.`;
  },
  predict: {
    question: html`Why three lists? Suppose each word had just one, to look with and to be found by. <i>qu'</i> looks
      and finds <i>chat</i>, with a high score. When <i>chat</i> looks, how high does it score <i>qu'</i>?`,
    options: ["Just as high", "Lower", "That depends on the words"],
    right: (answers, { result }) => result.mirrored < 1e-6 ? 0 : 2,
    because(answers, { result }) {
      const [, row, back] = answers, { words, found, asker } = seen(attention.start, answers);
      const most = (way) => part(Math.max(...result.right[way].map(meanOf)));
      return html`Just as high: a · b is b · a. Whoever finds would be found. With a query and a key of its own, a word
        can look for one thing and be found by another: here <i>${asker}</i> scores <i>${words[found]}</i>
        <b>${figure(sumOf(row.query, row.keys[found]))}</b>, and <i>${words[found]}</i> scores <i>${asker}</i>
        <b>${figure(back.products[ROW])}</b>. What it hands on is a third thing. Small models that had to look words up
        got at best <b>${most("one matrix")}</b> right with one list for everything, and
        <b>${most("three matrices")}</b> with three.`;
    },
  },
  short(state, answers) {
    const { words, found, whole, asker } = seen(attention.start, answers);
    return html`<i>${asker}</i> asked, <i>${words[found]}</i> answered best and got ${part(whole[found])} of the
      attention, so its value was handed on. It takes three lists: with one for all, <i>${words[found]}</i> would find
      <i>${asker}</i> just as <i>${asker}</i> finds <i>${words[found]}</i>, and hand on what it is found by. Before
      scores become shares, they are divided. What does that prevent?`;
  },
};
