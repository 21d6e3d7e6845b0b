// Colours, chosen for readers who tell few of them apart: ramps whose lightness changes evenly, and hues for heads.

const RAMPS = {
  light: [[250, 251, 253], [205, 223, 243], [139, 185, 226], [72, 137, 203], [28, 87, 158], [8, 40, 84]],
  dark: [[24, 32, 43], [24, 62, 99], [29, 103, 155], [60, 150, 205], [141, 203, 238], [236, 248, 255]],
};
const BELOW_0 = {  // another hue
  light: [[250, 251, 253], [246, 220, 196], [231, 171, 122], [207, 122, 53]],
  dark: [[24, 32, 43], [84, 52, 24], [158, 96, 42], [236, 168, 98]],
};
// After Okabe and Ito; beyond eight heads they come again, with broken lines.
const HUES = {
  light: ["#0072b2", "#c97e00", "#009e73", "#b4568c", "#d55e00", "#3a9bd9", "#7a5195", "#5b6878"],
  dark: ["#56b4e9", "#e6a93c", "#2cc295", "#e08fbd", "#ff8a4c", "#8fc7ff", "#b99be0", "#aab6c4"],
};
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

const pixelTables = {};

function themeOf(root) {
  if (root.closest(".s2s-page")) return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return root.closest(".dark") || document.body.classList.contains("dark") ? "dark" : "light";
}

// A share of -1 to 1 as [red, green, blue].
function rampColour(share, theme) {
  const ramp = (share < 0 ? BELOW_0 : RAMPS)[theme];
  const at = Math.min(Math.abs(share), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (at - low)));
}

// The same for hundreds of thousands of cells: a table of 512 colours from -1 to 1, each as one 32-bit pixel.
function pixelTable(theme) {
  pixelTables[theme] ||= Uint32Array.from({ length: 513 }, (_, i) => {
    const [red, green, blue] = rampColour((i - 256) / 256, theme);
    return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  });
  return pixelTables[theme];
}

const css = (rgb) => `rgb(${rgb.join(",")})`;

// Black or white, whichever stands out more (WCAG: at least 4.5 to 1 on any colour).
function readable(rgb) {
  const [red, green, blue] = rgb.map((c) => c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
const hue = (head, theme) => HUES[theme][head % HUES[theme].length];
const dash = (head) => DASHES[Math.floor(head / HUES.light.length) % DASHES.length];
const ink = (root, name) => getComputedStyle(root).getPropertyValue(name).trim();
