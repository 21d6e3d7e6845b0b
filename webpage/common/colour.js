// Shades of the ramps, colours of heads, and the ink for text on them.  The colours are those of palette.py.

import { COLOURS, HEADS, RAMPS } from "../data.js";

const STEPS = 256, tables = {};
const channels = (code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16));
export const CARD = { light: channels(COLOURS.light.card), dark: channels(COLOURS.dark.card) };
export const headColour = (head, theme) => HEADS[theme][head % HEADS[theme].length];
export const headDashes = (head) => head < HEADS.light.length ? "" : "6 3";

// [r, g, b] of a share from -1 to 1: below 0 in orange.
export function shade(share, tone, theme) {
  const own = share < 0 ? "orange" : tone, table = tables[theme + own] ||= fill(RAMPS[theme][own]);
  return table[Math.round(Math.min(1, Math.abs(share)) * (STEPS - 1))];
}

function fill(stops) {
  const colours = stops.map(channels);
  return Array.from({ length: STEPS }, (_, step) => {
    const at = step / (STEPS - 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return colours[i].map((value, k) => Math.round(value + (colours[i + 1][k] - value) * (at - i)));
  });
}

export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;
export const gradientStops = (tone, theme) => RAMPS[theme][tone];
export const gradient = (tone, theme) => `linear-gradient(90deg,${RAMPS[theme][tone].join()})`;

// Black or white, whichever contrasts more: at least 4.5 to 1 on every colour.
export function inkOn(colour) {
  const [r, g, b] = colour.map((value) => (value / 255 <= 0.03928 ? value / 3294.6
    : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
