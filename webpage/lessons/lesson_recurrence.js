// Lesson 16: how much of each word is left in the last state of four networks, as the text grows.

import { figure, picture, roomOf, slider, text, toneOf } from "./lesson_parts.js";
import { recorded } from "./lesson_recorded.js";
import { html, isNarrow } from "../common/markup.js";

const NETWORKS = { elman: "plain (Elman)", gru: "gated (GRU)", "gru with attention": "gated, with attention",
  transformer: "Transformer" };
const MOST = 2;  // fair shares: a higher bar is cut off
const KEPT = 0.8, LOST = 0.25;  // of what it had: from here the share has stayed, below here it is lost

// Of each network the shares of all tokens of a text of the length number `at`: { name: [shares] }.
function shares(lesson, at) {
  const { profile, lengths } = recorded(lesson, "profile", "lengths"), i = Math.min(at, lengths.length - 1);
  return { length: lengths[i], of: Object.fromEntries(Object.keys(NETWORKS).map((name) => [name, profile[name][i]])) };
}
const few = (value) => value < 0.005 ? "under 0.01" : figure(value, 2);

export const recurrence = {
  lead: html`A recurrent network reads word by word into one state. Each new word writes over the state a little, so the first
    word must survive all later ones. A <b>gate</b> learns what to keep. <b>Attention</b> looks back at any word. A share
    of 1 means that as much is left of this word as of the average word.`,
  start: { at: 0 },
  needs: () => [],
  control({ at }, answers, lesson) {
    const last = recorded(lesson, "lengths").lengths.length - 1;
    return slider("Length of the text", "at", { most: last, value: Math.min(at, last),
      valueText: `${shares(lesson, at).length} tokens` });
  },

  picture({ at }, answers, lesson) {
    const { length, of } = shares(lesson, at), high = isNarrow() ? 77 : 96;
    return html`${picture(`What is left of each of ${length} tokens in the last state of four networks`,
      high * Object.keys(NETWORKS).length, html`${Object.entries(NETWORKS).map(([name, title], i) =>
        row(title, of[name], i * high, high))}`)}<p class="key">From the first token (orange) to the last. The line marks a
      share of 1. Bars end at ${MOST}.</p>`;
  },

  says({ at }, answers, lesson) {
    const { length, of } = shares(lesson, at), first = (name) => html`<b>${few(of[name][0])}</b>`;
    return html`The text has ${length} tokens. The share of the first token is ${first("elman")} in the plain network. It is
      ${first("gru")} in the gated network and ${first("transformer")} in the Transformer.`;
  },

  predict: {
    question: "The text grows from 4 tokens to 32. How much of the first token’s share is left in the plain network?",
    options: ["Most of it", "About half", "Hardly anything"],
    right: (answers, lesson) => {
      const [before, after] = [0, Infinity].map((at) => shares(lesson, at).of.elman[0]), left = after / before;
      return left >= KEPT ? 0 : left >= LOST ? 1 : 2;
    },
    because(answers, lesson) {
      const [before, after] = [0, Infinity].map((at) => shares(lesson, at));
      const both = (name) => html`from <b>${few(before.of[name][0])}</b> to <b>${few(after.of[name][0])}</b>`;
      return html`The text grows from ${before.length} to ${after.length} tokens. In the plain network, the share of the first
        token goes ${both("elman")}. In the gated network, it goes ${both("gru")}. In the Transformer, it goes
        ${both("transformer")}.`;
    },
  },

  short: () => html`A recurrent network has one state for the whole text, so new words can push out early ones. A gate can
    learn what to keep. With attention, a network can look back at each word, however long ago it was.`,
};

// One network: a bar for each token.
function row(name, values, y, height) {
  const wide = roomOf() / values.length, top = 22, room = height - top - 10;
  const bar = (value, s) => {
    const barHeight = Math.max(1, Math.min(value, MOST) / MOST * room);
    return html`<rect x="${(s * wide + 1).toFixed(1)}" y="${(y + top + room - barHeight).toFixed(1)}" width="${
      Math.max(1, wide - 2).toFixed(1)}" height="${barHeight.toFixed(1)}" rx="2" fill="${
      toneOf(s ? "slate" : "orange")}"/>`;
  };
  return html`${text(0, y + 14, name, { how: "bold" })}${text(roomOf(), y + 14, `first token: ${few(values[0])}`,
    { how: "figure", anchor: "end" })}${values.map(bar)}<path class="at" d="M0,${y + top + room / MOST}H${roomOf()}"/>`;
}
