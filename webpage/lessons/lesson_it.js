// Lesson 10: what *it* stands for: one word changed, one head switched off, one head's output from the other sentence.

import { CAT, bars, buttons, labelRoom, picture, roomOf, share, text, toneOf } from "./lesson_parts.js";
import { HeadTitle, chanceAt, chanceWithout, headTitle, largest, rowAt, traceIn } from "./lesson_trace.js";
import { html, isNarrow } from "../common/markup.js";
import { KINDS, nameOf } from "../common/trace.js";
import { chance } from "../common/wording.js";

const PRONOUNS = ["il", "elle"], EVEN = 0.5;
const OTHER = CAT.text.replace("tired", "wide");
// The translation of each text with either pronoun; what follows the pronoun is not seen when it is written.
const both = (make) => PRONOUNS.map((pronoun) => make(CAT.translation.replace("'il", `'${pronoun}`)));
const looks = (text, evidence = false) => both((translation) => ["look", { text, translation, maps: KINDS, evidence }]);
const patches = both((translation) => ["inside", { tool: "patch", other: OTHER, translation }]);

// What a reader may do, and the questions for it besides those about the plain sentence.
const DOINGS = {
  plain: { name: "unchanged", needs: [] },
  wide: { name: "tired → wide", needs: looks(OTHER) },
  off: { name: "head off", needs: looks(CAT.text, true) },
  patch: { name: "head output from “wide”", needs: [...looks(OTHER), ...patches] },
};

const unitIn = (trace) => trace.units("target", "words").findIndex((one) => PRONOUNS.includes(one.text));
const stepIn = (trace) => trace.units("target", "words")[unitIn(trace)].pieces[0];
const named = ([il, elle]) => ({ il, elle });
const plainly = (answers) => named(answers.map(traceIn).map((trace) => chanceAt(trace, stepIn(trace))));

// The chances of both pronouns: { il, elle }.
function chancesIn(doing, [one, other, ...more], { look: head }) {
  if (doing === "plain") return plainly([one, other]);
  if (doing === "wide") return plainly(more);
  if (doing === "off") return named(more.map(traceIn).map((trace) => chanceWithout(trace, head, stepIn(trace))));
  const unit = unitIn(traceIn(one)), isHers = (patch) => nameOf(patch) === nameOf(head);
  const odds = ({ heads }) => heads.find(isHers).log_odds[unit];
  return named(more.slice(2).map((answer) => 1 / (1 + Math.exp(-odds(answer)))));
}
const leader = ({ il, elle }) => Math.max(il, elle) < EVEN ? null : il > elle ? "il" : "elle";

// Where the head looks while the pronoun is written.
function seenIn(answer, head) {
  const trace = traceIn(answer);
  return rowAt(trace, head, stepIn(trace)).filter((one) => !one.special);
}

// The French so far on its lines, each word tinted by the share it gets.
function tinted(row, y) {
  const letter = isNarrow() ? 7 : 8.4;
  let x = 0, down = y;
  const word = ({ label, value }) => {
    const width = label.length * letter + 8;
    if (x + width > roomOf()) { x = 0; down += 28; }
    const left = x;
    x += width + 3;
    return html`<rect x="${left.toFixed(1)}" y="${down - 17}" width="${width.toFixed(1)}" height="24" rx="5"
      fill="${toneOf("green")}" fill-opacity="${(0.75 * value).toFixed(2)}"/>${
      text(left + width / 2, down, label, { anchor: "middle", how: value > EVEN ? "bold" : "" })}`;
  };
  return { drawn: html`${row.map(word)}`, end: down };
}

// One sentence with what was done to it: its title, where the head looks, and the chances, from y down.
function group({ title, note = "", row = [], chances }, y) {
  const words = tinted(row, y + 52), down = row.length ? words.end + 22 : y + 18;
  const lines = PRONOUNS.map((label) => ({ label, value: chances[label], valueText: chance(chances[label]),
    tone: chances[label] > EVEN ? "blue" : "edge", how: chances[label] > EVEN ? "bold" : "" }));
  return { end: down + 56, drawn: html`${text(0, y, title, { how: "bold" })}${text(0, y + 24, note, { how: "soft" })}${
    words.drawn}${bars(lines, { y: down, most: 1, height: 28, left: labelRoom(lines) })}` };
}

function changed(doing, answers, head) {
  if (doing === "off") return { title: "… too tired, with this head off" };
  const row = seenIn(answers[2], head);
  return doing === "wide" ? { title: "… because it was too wide.", note: "the same head looks back at", row }
    : { title: "… too tired, with the head’s output for “wide”", note: "with wide, it looks back at", row };
}

export const it = {
  lead: html`Take the sentence <i lang="en">${CAT.text}</i> Here <i>it</i> could be the cat or the street. French must decide:
    <i>il</i> for <i>le chat</i>, <i>elle</i> for <i>la rue</i>. Only the last word, <i>tired</i> or <i>wide</i>, decides.
    One head of the decoder looks back at the noun. You can change the word, switch the head off, or give the head its
    output from the other sentence.`,
  start: { doing: "plain" },
  needs: ({ doing }) => [...looks(CAT.text), ...DOINGS[doing].needs],
  control: ({ doing }) => buttons("Change one thing", "doing",
    Object.entries(DOINGS).map(([name, one]) => [name, one.name]), doing),
  picture({ doing }, answers, lesson) {
    const { look: head } = lesson, label = "Where the head looks, and the chances of il and elle";
    const plain = group({ title: "… because it was too tired.", note: "the head looks back at",
      row: seenIn(answers[0], head), chances: chancesIn("plain", answers, lesson) }, 24);
    if (doing === "plain") return picture(label, plain.end, plain.drawn);
    const chances = chancesIn(doing, answers, lesson), y = plain.end + 44;
    const below = group({ ...changed(doing, answers, head), chances }, y);
    return picture(`${label}, before and after`, below.end, html`${plain.drawn}<path class="axis"
      d="M0,${plain.end + 14}H${roomOf()}"/>${below.drawn}`);
  },
  says({ doing }, answers, lesson) {
    const { look: head } = lesson, now = chancesIn(doing, answers, lesson), leads = leader(now);
    const seen = largest(seenIn(answers[doing === "wide" ? 2 : 0], head));
    const given = html`<b>${share(seen.value)}</b>`;
    const chances = html`<i>il</i> has <b>${chance(now.il)}</b> and <i>elle</i> <b>${chance(now.elle)}</b>`;
    return {
      plain: html`With <i>tired</i>, ${chances}. ${HeadTitle(head)}, gives <i>${seen.label}</i> ${given} of its
        attention.`,
      wide: html`With <i>wide</i>, ${chances}. The same head now gives <i>${seen.label}</i> ${given} of its
        attention.`,
      off: html`With this head off, ${chances}. ${leads
        ? html`<i>${leads}</i> still leads, so other parts of the model carry the noun too` : "Neither leads"}.`,
      patch: html`The English still has <i>tired</i>. With this one head’s output from the sentence with
        <i>wide</i>, ${chances}.`,
    }[doing];
  },
  predict: {
    question: html`The English keeps <i>tired</i>. One head of the decoder gets its output from the sentence with
      <i>wide</i>. Everything else stays. Which pronoun leads?`,
    options: ["Still il", "Now elle", "Neither"],
    needs: [...looks(CAT.text), ...DOINGS.patch.needs],
    right: (answers, lesson) => [...PRONOUNS, null].indexOf(leader(chancesIn("patch", answers, lesson))),
    because(answers, lesson) {
      const [before, now] = ["plain", "patch"].map((doing) => chancesIn(doing, answers, lesson));
      return html`The chance of <i>il</i> goes from <b>${chance(before.il)}</b> to <b>${chance(now.il)}</b>, and that of
        <i>elle</i> from ${chance(before.elle)} to <b>${chance(now.elle)}</b>. We changed only the output of
        ${headTitle(lesson.look)}.`;
    },
  },
  short: () => html`Changing a word of the English shows what the translation depends on. Switching a head off shows
    whether the model needs this head here. Giving the head another output shows whether this head alone can change the
    pronoun. These are different questions, and their answers can differ.`,
};
