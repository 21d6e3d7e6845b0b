// Which source words a word of the translation depends on: each is erased in turn.

import { flipOf } from "../common/flips.js";
import { about, html, listed } from "../common/markup.js";
import { matters } from "../common/effects.js";
import { ENDS } from "../common/trace.js";
import { chance, chanceRange, nth, percent, quoted } from "../common/wording.js";

const restsTip = (share) => html`A head may look at a word without needing it. So this test erases each source word in
  turn and shows how the chosen word and its chance change. In an example, it also uses the other word of the pair. The
  translation so far stays the same, so erasing a word that it already contains has little effect.${
  share === undefined ? "" : html` By contributions (ALTI+, through all layers), ${
  percent(share)} of the chosen word comes from the source and the rest from the translation so far. Invented words take
  less from the source than faithful words.`}`;

const stays = (effects) => `is ${chanceRange(effects)}`;

export function erasedWords(state, trace, unit, settings) {
  if (!trace.evidence) return "";
  const piece = unit.pieces[0], [source, target] = trace.languages, said = [];
  const erased = trace.erased(piece), twin = twinOf(state, settings, trace, piece);
  const alike = (word) => trace.words("source").filter((one) => one.text === word.text);
  const name = ({ word }) => html`${quoted(word.text, source)}${alike(word).length > 1
    ? ` (${nth(alike(word).indexOf(word) + 1)})` : ""}`;
  const moves = (effect) => `${effect.fall > 0 ? "falls" : "rises"} to ${chance(effect.chance)}`;
  const one = (effect) => html`${moves(effect)} without ${name(effect)}`;
  if (twin) {
    const result = twin.instead === ENDS ? ENDS : twin.instead ? html`the word becomes ${quoted(twin.instead, target)}`
      : twin.fall === undefined ? "the word stays the same"
      : `its chance ${matters(twin) ? moves(twin) : stays([twin])}`;
    said.push(["twin", html`With <b>${quoted(twin.other, source)}</b> instead of ${
      quoted(twin.own, source)}, ${result}.`]);
  }
  const flips = erased.filter(({ instead }) => instead !== null).slice(0, 2);
  const moved = erased.filter((effect) => effect.instead === null && matters(effect)).slice(0, 2);
  for (const effect of flips) {
    said.push(["word-flips", html`Without ${name(effect)}, ${
      effect.instead === ENDS ? ENDS : html`the word becomes ${quoted(effect.instead, target)}`}.`]);
  }
  if (moved.length && !flips.length) said.push(["word-moves", html`Its chance ${listed(moved, one, " and ")}.`]);
  if (!flips.length && !moved.length) {
    said.push(["no-word", html`Without any one source word, its chance ${stays(erased)}.`]);
  }
  return html`<h3>Which words mattered ${about(restsTip(trace.sourceShare(piece)))}</h3><p class="needed">${
    said.map(([kind, line]) => html`<span data-says="${kind}">${line}</span> `)}</p>`;
}

// The twin's own translation decides, word by word, if it has as many words; else the same words, forced.
function twinOf(state, settings, trace, piece) {
  const flip = flipOf(settings, trace.source), effect = trace.evidence.others[0];
  if (!flip || !effect) return null;
  const twin = state.twin?.source === flip.text ? state.twin.words("target") : [], own = trace.words("target");
  const at = own.findIndex((one) => one.pieces.includes(piece));
  if (at < 0 || twin.length !== own.length) return { ...flip, ...trace.after(effect, piece) };
  return { ...flip, instead: twin[at].text === own[at].text ? null : twin[at].text };
}
