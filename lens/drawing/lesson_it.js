// Lesson 10: what *it* stands for: one word changed, one head switched off, one head's output from the other sentence.

import { CAT, bars, buttons, labelRoom, picture, roomOf, share, text } from "./lesson_parts.js";
import { headTitle, stepOf, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "./markup.js";
import { KINDS } from "./trace.js";
import { chance } from "./wording.js";

const other = (text) => text.replace("tired", "wide");
const TIRED = CAT.translation, WIDE = "Le chat n'a pas traversé la rue parce qu'elle était trop large.";
const swapped = (translation) => translation.includes("'elle") ? translation.replace("'elle", "'il") : translation.replace("'il", "'elle");
const look = (text, translation, evidence = false) => ["look", { text, translation, maps: KINDS, evidence }];
const patch = (translation) => ["inside", { tool: "patch", other: other(CAT.text), translation }];
const tired = (evidence) => [look(CAT.text, TIRED, evidence), look(CAT.text, swapped(TIRED), evidence)];
const wide = [look(other(CAT.text), WIDE), look(other(CAT.text), swapped(WIDE))];
const patched = [patch(TIRED), patch(swapped(TIRED))];

// What a reader may do: a name, what the picture says of it, the questions besides those of the plain sentence.
const DOINGS = {
  plain: { name: "as it is", needs: [] },
  wide: { name: "tired → wide", needs: wide },
  off: { name: "the head off", needs: tired(true) },
  patch: { name: "the head as with wide", needs: [...wide, ...patched] },
};
const PRONOUNS = ["il", "elle"], EVEN = 0.5;
const chanceOf = (odds) => 1 / (1 + Math.exp(-odds));
const unitOf = (trace) => trace.units("target", "words").findIndex((one) => PRONOUNS.includes(one.text));
const isHead = (one, { kind, layer, head }) => one.kind === kind && one.layer === layer && one.head === head;

// { il, elle }, from answers about both translations, in either order.
const pair = (answers, chanceIn) => Object.fromEntries(answers.map((answer) => {
  const trace = traceIn(answer), word = trace.units("target", "words")[unitOf(trace)];
  return [word.text, chanceIn(answer, trace, word)];
}));
const plainChances = (answers) => pair(answers, (_, trace, word) => trace.chance(word));

function chancesIn(doing, answers, lesson) {
  const own = answers.slice(0, 2), more = answers.slice(2), { look: head } = lesson;
  if (doing === "wide") return plainChances(more);
  if (doing === "off") return pair(more, (_, trace, word) => trace.effect(head, word.pieces[0]).chance);
  if (doing !== "patch") return plainChances(own);
  const patches = more.slice(2), place = unitOf(traceIn(own[0]));
  const at = (i) => chanceOf(patches[i].heads.find((one) => isHead(one, head)).log_odds[place]);
  return pair(own, (answer) => at(own.indexOf(answer)));
}

// Where the head looks while the pronoun is written: [{ label, share }, ...].
function rowOf(answer, head) {
  const trace = traceIn(answer), step = trace.units("target", "words")[unitOf(trace)].pieces[0], map = trace.map(head);
  const at = map.rows.findIndex((one) => one.pieces.includes(step));
  return map.columns.map(({ label, special }, i) => ({ label, special, share: map.at[at][i] })).filter((one) => one.share !== null && !one.special);
}
const mostSeen = (answer, head) => rowOf(answer, head).reduce((best, one) => one.share > best.share ? one : best);
const first = ({ il, elle }) => Math.max(il, elle) < EVEN ? null : il > elle ? "il" : "elle";

// The French so far, each word tinted by the share it gets.
function looking(row, y) {
  const narrow = isNarrow(), room = roomOf(), letter = narrow ? 7 : 8.4, lines = [];
  let x = 0, down = y;
  for (const { label, share: value } of row) {
    const width = label.length * letter + 8;
    if (x + width > room) { x = 0; down += 28; }
    lines.push(html`<rect x="${x.toFixed(1)}" y="${down - 17}" width="${width.toFixed(1)}" height="24" rx="5" fill="var(--green)"
      fill-opacity="${(0.75 * value).toFixed(2)}"/>${text(x + width / 2, down, label, { anchor: "middle", how: value > EVEN ? "bold" : "" })}`);
    x += width + 3;
  }
  return { drawn: html`${lines}`, end: down };
}

const group = (title, note, row, chances) => ({ title, note, row, chances });
function groups({ doing }, answers, lesson) {
  const { look: head } = lesson, [own] = answers, said = DOINGS[doing].name, now = chancesIn(doing, answers, lesson);
  const plain = group("… because it was too tired.", "the head looks back at", rowOf(own, head), plainChances(answers.slice(0, 2)));
  const shown = {
    wide: () => group("… because it was too wide.", "the same head looks back at", rowOf(answers[2], head), now),
    off: () => group("… too tired, with this head off", "", [], now),
    patch: () => group("… too tired, with what this head handed on for wide", "there it looked back at", rowOf(answers[2], head), now),
  }[doing];
  return shown ? [plain, { ...shown(), said }] : [plain];
}

export const it = {
  lead: html`English <i>it</i> may be the cat or the street, and French must decide: <i>il</i> for <i>le chat</i>,
    <i>elle</i> for <i>la rue</i>. Only the last word tells. One head of the decoder looks back at the noun; change the
    word, switch the head off, or give it what it had in the other sentence.`,
  start: { doing: "plain" },
  needs: ({ doing }) => [...tired(false), ...DOINGS[doing].needs],
  control: ({ doing }) => buttons("Change one thing", "doing", Object.entries(DOINGS).map(([name, one]) => [name, one.name]), doing),
  picture(state, answers, lesson) {
    let y = 24;
    const drawn = groups(state, answers, lesson).map(({ title, note, row, chances }, i) => {
      const top = y, words = looking(row, top + 52), down = row.length ? words.end + 22 : top + 18;
      const lines = PRONOUNS.map((word) => ({ label: word, value: chances[word], said: chance(chances[word]),
        tone: chances[word] > EVEN ? "blue" : "edge", how: chances[word] > EVEN ? "bold" : "" }));
      y = down + 2 * 28 + 40;
      return html`${i > 0 && html`<path class="axis" d="M0,${top - 26}H${roomOf()}"/>`}${text(0, top, title, { how: "bold" })}${
        text(0, top + 24, note, { how: "soft" })}${words.drawn}${bars(lines.map((line) => ({ ...line, tone: line.tone === "edge"
        ? "var(--edge)" : line.tone })), { y: down, most: 1, height: 28, left: labelRoom(lines) })}`;
    });
    return picture("What the head looks at, and the chances of il and elle", y - 30, html`${drawn}`);
  },
  says({ doing }, answers, lesson) {
    const { look: head } = lesson, now = chancesIn(doing, answers, lesson), seen = mostSeen(answers[0], head);
    const both = html`<i>il</i> has <b>${chance(now.il)}</b> and <i>elle</i> <b>${chance(now.elle)}</b>`;
    if (doing === "wide") {
      const there = mostSeen(answers[2], head);
      return html`With <i>wide</i>, ${both}. The same head now gives <i>${there.label}</i> <b>${share(there.share)}</b>.`;
    }
    if (doing === "off") return html`Without what this head hands on, ${both}: ${first(now)
      ? html`<i>${first(now)}</i> still leads, so other parts carry the noun too` : "neither leads"}.`;
    if (doing === "patch") return html`The English still says <i>tired</i>. With what this one head handed on in the sentence
      with <i>wide</i>, ${both}.`;
    return html`With <i>tired</i>, ${both}. ${headTitle(head)[0].toUpperCase()}${headTitle(head).slice(1)}, gives <i>${
      seen.label}</i> <b>${share(seen.share)}</b> of its attention.`;
  },
  predict: {
    question: html`The English keeps <i>tired</i>. One head of the decoder hands on what it handed on in the sentence with
      <i>wide</i>; all else stays. Which pronoun leads?`,
    options: ["Still il", "Now elle", "Neither"],
    needs: [...tired(false), ...DOINGS.patch.needs],
    right: (answers, lesson) => ["il", "elle", null].indexOf(first(chancesIn("patch", answers, lesson))),
    because(answers, lesson) {
      const before = chancesIn("plain", answers, lesson), now = chancesIn("patch", answers, lesson);
      return html`<i>il</i> goes from <b>${chance(before.il)}</b> to <b>${chance(now.il)}</b>, <i>elle</i> from ${
        chance(before.elle)} to <b>${chance(now.elle)}</b>, by ${headTitle(lesson.look)} alone.`;
    },
    shows: { doing: "patch" },
  },
};
