// Lesson 2: one row of one head; its products are added one by one, and the word that is found passes on its value.

import { best, figure, mostOf, slider, strip, sum } from "./lesson_parts.js";
import { WORDS, inputsOf, part, rowAt, rowPicture, sharesOf, sumOf, writtenAt } from "./lesson_row.js";
import { html } from "../common/markup.js";

const ROW = 11, FOUND = 3;  // where *qu'* asks, to write *il*; and where *chat* asks
const meanOf = (numbers) => sum(numbers) / numbers.length;

function seen({ count }, [look, row]) {
  const words = inputsOf(look), added = count ?? row.query.length, whole = sharesOf(row);
  return { words, asker: words[ROW], count: added, whole, found: best(whole), shares: sharesOf(row, { count: added }) };
}

export const attention = {
  lead: html`<p>The model has written <i>Le chat n'a pas traversé la rue parce qu'</i>. The next
    word is <i>il</i> for the cat, or <i>elle</i> for the street. To decide, the last word has to look at another word.
    That is attention.</p>
    <p>For this, each word has three vectors of 32 numbers. The <b>query</b> describes what the word looks for. The
    <b>key</b> describes what other words can find it by. The <b>value</b> is what the word passes on when it is found.
    A table of learnt weights, a <b>matrix</b>, makes each vector from the word’s 128 numbers, so there are three
    matrices. The 128 become 32 because four attentions like this one, the heads, share the numbers. To get a
    <b>score</b>, multiply a query and a key number by number and add the products. The score is high if both have large
    numbers of the same sign.</p>`,
  start: { count: null },
  needs: () => [WORDS, rowAt(ROW), rowAt(FOUND)],
  control(state, answers) {
    const { count } = seen(state, answers), most = answers[1].query.length;
    return slider("Products added", "count", { most, value: count, valueText: `${count} of ${most}` });
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
      <p class="fine">Blue is above zero, orange below, pale not added yet. A product is blue if query and key have the
      same colour.</p>`;
  },
  says(state, answers) {
    const [look, row] = answers, { words, asker, count, found, shares } = seen(state, answers), size = row.query.length;
    const own = html`<i>${words[found]}</i>`, scored = html`<b>${figure(sumOf(row.query, row.keys[found], count))}</b>`;
    const gets = html`<b>${part(shares[found])}</b>`;
    if (count < size) return html`With <b>${count}</b> of the ${size} products added, ${own} has a score of
      ${scored}. If only these products counted, it would get ${gets} of the attention.`;
    return html`All ${size} products of <i>${asker}</i> and ${own} add up to a score of ${scored}. This score is divided
      by √${size}, as the next step explains. It gives ${own} ${gets} of the attention. To write
      <i>${writtenAt(look, ROW)}</i>, this head passes on a mix of values, and ${gets} of it is the value of ${own}.`;
  },
  predict: {
    question: html`Why three vectors? Suppose each word had only one, used as query and as key. <i>qu'</i> looks at
      <i>chat</i> and gives it a high score. When <i>chat</i> looks, which score does it give <i>qu'</i>?`,
    options: ["The same score", "A lower score", "That depends on the words"],
    right: (answers, { result }) => result.mirrored < 1e-6 ? 0 : 2,
    because(answers, { result }) {
      const [, row, back] = answers, { words, found, asker } = seen(attention.start, answers);
      const most = (way) => part(Math.max(...result.right[way].map(meanOf)));
      return html`The same score: a · b is b · a. Looking would always work both ways. With a query and a key of its own, a
        word can look for one thing and be found by another. Here <i>${asker}</i> gives <i>${words[found]}</i> a score of
        <b>${figure(sumOf(row.query, row.keys[found]))}</b>, and <i>${words[found]}</i> gives <i>${asker}</i> a score of
        <b>${figure(back.products[ROW])}</b>. The value is a third vector, for what is passed on. We trained small models
        to look words up. At their best size, models with one vector for everything got
        <b>${most("one matrix")}</b> right, and models with three got <b>${most("three matrices")}</b>.`;
    },
  },
  short(state, answers) {
    const { words, found, whole, asker } = seen(attention.start, answers);
    return html`<i>${asker}</i> asked, and <i>${words[found]}</i> answered best. It got ${part(whole[found])} of the
      attention, so its value was passed on. This takes three vectors. With only one, <i>${words[found]}</i> would find
      <i>${asker}</i> just as <i>${asker}</i> finds <i>${words[found]}</i>. Before scores become shares, they are
      divided. What does that prevent?`;
  },
};
