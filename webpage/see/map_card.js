// Around the map on See: its head with the pin, which of two maps is shown, the sentence, and how to read it.

import { gradient } from "../common/colour.js";
import { flipOf } from "../common/flips.js";
import { language } from "../common/languages.js";
import { html, icon, tipped } from "../common/markup.js";
import { looking, lookOf, traceOf } from "../common/state.js";
import { CAVEAT, points, toneOf } from "../maps/map.js";
import { beforeOf, mapOf, modeOf, partnerOf, rowOf } from "../maps/difference.js";
import { TECHNICAL, capital, columnSentence, direction, placeOf, roleName, roleTip, rowSentence } from "../common/wording.js";

const MOVED = 0.1;  // share from which a look has moved

export function eyebrow(state, settings) {
  const trace = traceOf(state), { head, pinned } = state, role = trace.role(head), tone = toneOf(state);
  const kept = pinned ? "Pinned: this head stays when you choose another word."
    : "Not pinned: another word may show another head.";
  return html`<button class="tool pin" data-do="pin" data-k="pin" aria-pressed="${pinned}"
    aria-label="${capital(placeOf(head))}, pinned" ${tipped(html`<b>${direction(head.kind, trace.languages)}.</b> ${
    kept} On the command line: --layer ${head.layer} --head ${head.head}`)}>${icon("pin")}<b>${
    capital(placeOf(head))}</b></button><span class="soft kind">${TECHNICAL[head.kind].replace(/^\w+coder /, "")}</span>${
    role && tone !== "slate" && html`<span class="badge tone-${tone}" tabindex="0" ${tipped(roleTip(role))}>${
    roleName(role)}</span>`}<span class="push"></span>${modes(state, settings)}`;
}

function modes(state, settings) {
  const flip = flipOf(settings, traceOf(state).source), mode = modeOf(state);
  if (!beforeOf(state) || !flip) return "";
  const choice = (value, label) => html`<button role="radio" data-mode="${value}" data-k="mode-${value}"
    aria-checked="${mode === value}" tabindex="${mode === value ? 0 : -1}">${label}</button>`;
  return html`<span class="seg" role="radiogroup" aria-label="Which map">${flip.options.map((word) =>
    choice(word === flip.own ? "after" : "before", word))}${choice("difference", "Difference")}</span>`;
}

export function said(state, settings) {
  const trace = traceOf(state), { hover } = state, mode = modeOf(state), piece = looking(state), look = lookOf(state);
  if (mode === "difference") return moved(state, settings);
  if (mode === "before") {
    const before = beforeOf(state), unit = partnerOf(trace, before, trace.unitAt("target", piece));
    return unit ? rowSentence(before, look, { piece: unit.pieces[0], column: hover?.column })
      : "This word has no counterpart in the other sentence";
  }
  if (hover?.column !== undefined) return rowSentence(trace, look, { piece, column: hover.column });
  if (hover?.side === "source" && state.head.kind === "cross") return columnSentence(trace, look, hover.piece);
  return rowSentence(trace, look, { piece });
}

// From which word the look of the row moved, and to which: of the words that both sentences have.
function moved(state, settings) {
  const map = mapOf(state), row = map.at[rowOf(state, map)] ?? [], flip = flipOf(settings, traceOf(state).source);
  const all = row.map((value, j) => [map.columns[j], value]).filter(([one, value]) => value !== null && !one.isOther)
    .sort(([, a], [, b]) => b - a);
  const [up, down] = [all[0], all.at(-1)], name = ([{ label }]) => html`<span class="ww seen">${label}</span>`;
  const swap = html`<i>${flip.other}</i> → <i>${flip.own}</i>`;
  if (!up || (up[1] < MOVED && down[1] > -MOVED)) return html`${swap}: in this row, the head looked almost the same`;
  const gained = up[1] >= MOVED && html` to ${name(up)} (<b>${points(up[1])}</b> points)`;
  const lost = down[1] <= -MOVED && html` from ${name(down)} (${points(down[1])}${gained ? "" : " points"})`;
  return html`${swap}: the look moved${lost}${gained}`;
}

export function foot(state) {
  const trace = traceOf(state), [source, target] = trace.languages, tone = toneOf(state), { kind } = state.head;
  const ramp = (name, turned) => html`<span class="ramp" style="background:${gradient(name, state.theme)};${
    turned ? "transform:scaleX(-1)" : ""}"></span>`;
  const isDifference = modeOf(state) === "difference";
  const legend = isDifference ? html`<span>less</span>${ramp("orange", true)}${ramp(tone)}<span>more, in points</span>`
    : html`<span>0%</span>${ramp(tone)}<span>100%</span>`;
  const row = kind === "encoder" ? `the ${language(source, "source")} word being read`
    : `the ${language(target, "target")} word being written`;
  const deeper = state.theme === "dark" ? "Brighter" : "Darker";
  const how = isDifference ? `Row: ${row}. Hatched: not in both.`
    : `Row: ${row}. ${deeper}: looked more.${kind === "decoder" ? " Hatched: not yet written." : ""}`;
  return html`<span class="how">${how}</span><span class="legend">${legend}</span><span class="caveat">${CAVEAT}</span><a
    href="#lab-maps" data-page="lab-maps" data-k="open-lab">Open in Lab →</a>`;
}
