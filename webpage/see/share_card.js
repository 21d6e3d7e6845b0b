// The card to share and to print: 1200 x 630, for somebody who knows nothing of the page.  It shows what is shown: the
// sentence, or both of a pair, with the line of the chosen word; the map; and how to read them.

import { CARD, css, gradientStops } from "../common/colour.js";
import { COLOURS } from "../data.js";
import { flipOf } from "../common/flips.js";
import { html } from "../common/markup.js";
import { FONT, cells } from "../common/small_map.js";
import { traceOf } from "../common/state.js";
import { ENDS } from "../common/trace.js";
import { beforeOf, mapOf, modeOf, partnerOf, rowOf } from "../maps/difference.js";
import { CAVEAT, points, toneOf } from "../maps/map.js";
import { chance, percent } from "../common/wording.js";

const WIDTH = 1200, HEIGHT = 630;
const LEFT = 44, TEXT = 19.5, ROOM = 600;  // pixels: of the sentences, and how wide they may be
const MAP = { left: 790, top: 152, right: 1164, bottom: 500 };

const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, size, bold) {
  ruler.font = `${bold ? 700 : 400} ${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

export function shareCard(state, settings, model, address) {
  const trace = traceOf(state), { theme } = state, colours = COLOURS[theme], tone = toneOf(state), mode = modeOf(state);
  const flip = flipOf(settings, trace.source), before = beforeOf(state), unit = trace.unitAt("target", state.word);
  const own = { of: trace, unit, word: flip?.own }, other = before && flip
    && { of: before, unit: partnerOf(trace, before, unit), word: flip.other };
  const sides = !other ? [own] : flip.options[0] === flip.own ? [own, other] : [other, own];
  const [first, last] = sides, isBoth = sides.length > 1, text = writer(colours);
  const title = isBoth ? first.unit?.label === last.unit?.label ? `${first.word} → ${last.word}: “${last.unit.label}” stays`
    : `${first.word} → ${last.word}: ${first.unit?.label ?? "–"} becomes ${last.unit?.label ?? "–"}`
    : `Where one head looked while writing “${unit.label}”`;
  const shown = mode === "before" ? other : own, place = `layer ${state.head.layer + 1}, head ${state.head.head + 1}`;
  const [top] = shown.of.top(state.head, rowPiece(state, shown), 1), isBack = state.head.kind === "decoder";
  const read = [
    mode === "difference" ? `Map: what changes from ${first.word} to ${last.word}, in points; orange is less.`
      : `Map${isBoth ? ` (with ${shown.word})` : ""}: each row is a word being ${state.head.kind === "encoder" ? "read" : "written"}; the ${
        theme === "dark" ? "brighter" : "darker"} a cell, the more the head looked at that word.`,
    `Line and outlined row: while writing ${shown.unit.label}, ${place} looked ${isBack ? "back " : ""}at ${top[0].label} (${
      percent(top[1])}).`];
  const foot = [model, CAVEAT.replace(/\.$/, ""), address].filter(Boolean).join(" · ");
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"
    font-family="${FONT}" fill="${colours.ink}"><rect width="${WIDTH}" height="${HEIGHT}" fill="${css(CARD[theme])}"/><rect
    x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="18" fill="none" stroke="${colours.line}" stroke-width="2"/>${
    text(LEFT, 62, title, Math.min(30, 30 * 720 / widthOf(title, 30, true)), { bold: true })}${
    text(WIDTH - LEFT, 56, "Seq2See", 24, { bold: true, anchor: "end" })}${
    text(WIDTH - LEFT, 80, "The translation model you can see through", 14, { anchor: "end", fill: colours.soft })}${
    sides.map((side, i) => block(state, side, isBoth ? 128 + 210 * i : 200, colours, tone, text))}${
    map(state, colours, tone, text)}${text(LEFT, 560, read[0], 15.5)}${text(LEFT, 583, read[1], 15.5)}${
    text(LEFT, 610, foot, 14, { fill: colours.soft })}</svg>`;
}

const writer = (colours) => (x, y, content, size, { bold, anchor, fill = colours.ink } = {}) => html`<text x="${x}" y="${y}"
  font-size="${size}" fill="${fill}"${bold && html` font-weight="700"`}${anchor && html` text-anchor="${anchor}"`}
  style="white-space:pre">${content}</text>`;

const rowPiece = (state, { unit }) => state.head.kind === "encoder" ? state.read : unit.pieces[0];

// A sentence and its translation, with the line of the head between two words.
function block(state, { of, unit, word }, y, colours, tone, text) {
  const size = Math.min(TEXT, TEXT * ROOM / Math.max(widthOf(of.source, TEXT), widthOf(of.target, TEXT))), low = y + 88;
  const at = (full, one) => ({ x: LEFT + widthOf(full.slice(0, one.start), size), width: widthOf(one.text, size) });
  const { kind } = state.head, [column, share] = (unit && of.top(state.head, rowPiece(state, { unit }), 1)[0]) ?? [];
  const looked = column && column.word !== null && of.words(kind === "decoder" ? "target" : "source")[column.word];
  const seen = looked && at(kind === "decoder" ? of.target : of.source, looked), me = unit?.word != null && at(of.target, unit);
  const swapped = word && of.words("source").find((one) => one.text === word.split(" ")[0]);
  const ring = swapped && at(of.source, swapped), effect = unit && of.effect(state.head, unit.pieces[0]);
  const fill = colours[`${tone}-t`], stroke = colours[tone], plate = ({ x, width }, top, more) => html`<rect x="${x - 3}"
    y="${top - 20}" width="${width + 6}" height="28" rx="6" ${more}/>`;
  const isOver = kind === "decoder", a = me && me.x + me.width / 2, b = seen && seen.x + seen.width / 2;
  const line = seen && me && kind !== "encoder" && html`<path d="${isOver
    ? `M${a} ${low - 22}C${a} ${low - 70} ${b} ${low - 70} ${b} ${low - 25}`
    : `M${a} ${low - 22}C${a} ${low - 50} ${b} ${y + 40} ${b} ${y + 13}`}" fill="none" stroke="${stroke}"
    stroke-width="3.6" stroke-linecap="round"/><circle cx="${b}" cy="${isOver ? low - 24 : y + 12}" r="4.5" fill="${stroke}"/><rect
    x="${(a + b) / 2 - 26}" y="${(isOver ? low - 58 : (y + low) / 2 - 6) - 11}" width="52" height="22" rx="11" fill="${fill}"
    stroke="${stroke}"/>${text((a + b) / 2, (isOver ? low - 58 : (y + low) / 2 - 6) + 5, percent(share), 13, { bold: true, anchor: "middle",
      fill: stroke })}`;
  const [own, off] = [unit && chance(of.chance(unit)), effect && chance(effect.chance)];
  const said = effect && `Chance of ${unit.label} with this head off: ${own === off ? `stays ${own}` : `${own} → ${off}`}${
    effect.instead ? effect.instead === ENDS ? `, and ${ENDS}` : `, and the model writes ${effect.instead}` : ""}`;
  return html`${ring && plate(ring, y, html`fill="none" stroke="${colours.ink}" stroke-width="1.6"`)}${
    text(LEFT, y, of.source, size)}${seen && plate(seen, isOver ? low : y, html`fill="${fill}"`)}${line}${
    !isOver && seen && text(seen.x, y, looked.text, size)}${text(LEFT, low, of.target, size)}${me && html`${
    plate(me, low, html`fill="${colours.ink}"`)}${text(me.x, low, unit.text, size, { fill: colours["sel-ink"] })}`}${
    said && text(LEFT, low + 36, said, 16, { fill: colours.soft })}`;
}

// The map shown, its chosen row outlined, and its legend.
function map(state, colours, tone, text) {
  const shown = mapOf(state), { theme } = state, n = shown.columns.length, m = shown.rows.length, row = rowOf(state, shown);
  const size = Math.min((MAP.right - MAP.left) / n, (MAP.bottom - MAP.top) / m, 26);
  const written = (_, r, c) => shown.isDifference ? points(shown.at[r][c]) : Math.round(100 * shown.at[r][c]);
  const drawn = cells(shown, shown.at, { size, left: MAP.left, top: MAP.top, theme, tone, written, numbers: size > 22 });
  const ramp = (name, x, turned) => html`<g transform="translate(${x} ${MAP.top + m * size + 16})${
    turned ? " scale(-1 1) translate(-64 0)" : ""}">${gradientStops(name, theme).map((colour, i, all) => html`<rect
    x="${64 * i / all.length}" width="${64 / all.length + 0.5}" height="10" fill="${colour}"/>`)}</g>`;
  const y = MAP.top + m * size + 26, legend = shown.isDifference
    ? html`${text(MAP.left - 34, y, "less", 13, { fill: colours.soft })}${ramp("orange", MAP.left, true)}${
      ramp(tone, MAP.left + 70)}${text(MAP.left + 142, y, "more, in points", 13, { fill: colours.soft })}`
    : html`${text(MAP.left - 28, y, "0%", 13, { fill: colours.soft })}${ramp(tone, MAP.left)}${
      text(MAP.left + 72, y, "100%", 13, { fill: colours.soft })}`;
  return html`<g font-size="12">${drawn}</g>${row >= 0 && html`<rect x="${MAP.left - 2}" y="${MAP.top + row * size - 2}"
    width="${n * size + 3}" height="${size + 3}" rx="4" fill="none" stroke="${colours.ink}" stroke-width="2"/>`}${legend}`;
}

// --- the dialog

export function shareDialog(picture) {
  return html`<div class="hd"><h2 id="s2s-share">Share what you see</h2><span class="push"></span><button class="tool"
    data-do="share" data-k="share-close" aria-label="Close">✕</button></div><div class="picture">${picture}</div>
    <div class="row2"><button class="tool solid" data-do="card" data-value="png" data-k="card-png">Save picture</button><button
    class="chip" data-do="link" data-k="link"><span>Copy link</span></button><button class="chip" data-do="card" data-value="svg"
    data-k="card-svg">Save as SVG</button><span class="second">The link opens this sentence, word, head and map.</span></div>`;
}
