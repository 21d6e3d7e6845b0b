// Four ramps of equal lightness, so that a shade means the same number in each; and the ink for text on them.

const RAMPS = {
  light: {
    blue: "#f2f6fb #d9e8fa #adcffa #7bb0f1 #438bde #1666b9 #004383 #01264e",
    orange: "#faf4f1 #f6e2d6 #f0c1a5 #e09a6f #c86e30 #9e4c03 #6b3100 #401a00",
    green: "#f2f7f5 #d9ebe4 #acd8c7 #76bda5 #359e7f #04785d #01503d #002f22",
    slate: "#f5f6f7 #e3e6ec #c5cdda #a1adc2 #7b8aa4 #586680 #394458 #202733",
  },
  dark: {
    blue: "#1f262e #203855 #214e82 #2867ae #4085d5 #69a6ef #a1cbfe #e2eefe",
    orange: "#2c231e #4d2e1a #743c15 #9b4e14 #bf692e #dc8d5b #f2b998 #ffe8db",
    green: "#1f2724 #1d3e33 #175a47 #14775e #32977a #63b69a #9fd5c1 #ddf3ea",
    slate: "#242528 #323740 #444d5e #5a677d #76849d #96a4bb #bec8d8 #e9edf4",
  },
};
export const CARD = { light: [255, 255, 255], dark: [22, 29, 39] };  // --card
const STEPS = 256, tables = {};
// The heads of one layer, distinct for dichromats too; the ninth has the colour of the first, with dashes.
const HEADS = {
  light: "#2222ee #889900 #880000 #bb66ff #339966 #660044 #dd66bb #550088".split(" "),
  dark: "#88aaff #ccbb22 #ee5577 #55ffdd #8844ee #557700 #aa4499 #ddff99".split(" "),
};
export const headColour = (head, theme) => HEADS[theme][head % HEADS[theme].length];
export const headDashes = (head) => head < HEADS.light.length ? "" : "6 3";

// [r, g, b] of a share from -1 to 1: below 0 in orange.
export function shade(share, tone, theme) {
  const own = share < 0 ? "orange" : tone, table = tables[theme + own] ||= fill(RAMPS[theme][own].split(" "));
  return table[Math.round(Math.min(1, Math.abs(share)) * (STEPS - 1))];
}

function fill(stops) {
  const colours = stops.map((stop) => [1, 3, 5].map((i) => parseInt(stop.slice(i, i + 2), 16)));
  return Array.from({ length: STEPS }, (_, step) => {
    const at = step / (STEPS - 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return colours[i].map((value, k) => Math.round(value + (colours[i + 1][k] - value) * (at - i)));
  });
}

export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;
export const gradient = (tone, theme) => `linear-gradient(90deg,${RAMPS[theme][tone].replaceAll(" ", ",")})`;

// Black or white, whichever contrasts more: at least 4.5 to 1 on every colour.
export function inkOn(colour) {
  const [r, g, b] = colour.map((value) => (value / 255 <= 0.03928 ? value / 3294.6
    : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
