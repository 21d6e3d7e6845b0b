// The figures of the machine as they are written, and what is left of a sum: every sum is that of the figures shown.

const MINUS = "−";
const rounded = (value, digits) => Math.round(value * 10 ** digits);

// A figure to so many decimals; with a sign, unless it is 0 as written.
export function plain(value, digits = 1) {
  const parts = rounded(value, digits);
  return `${parts < 0 ? MINUS : ""}${(Math.abs(parts) / 10 ** digits).toFixed(digits)}`;
}
export const signed = (value, digits = 1) => `${rounded(value, digits) > 0 ? "+" : ""}${plain(value, digits)}`;

// What a sum as written leaves when the parts as written are taken from it.
export const restOf = (total, parts, digits = 1) =>
  (rounded(total, digits) - sumOf(parts.map((one) => rounded(one, digits)))) / 10 ** digits;
// The position of the largest value, whatever its sign.
export const largestAt = (values) =>
  values.reduce((best, one, i) => Math.abs(one) > Math.abs(values[best]) ? i : best, 0);
export const sumOf = (values) => values.reduce((sum, one) => sum + one, 0);

// Shares of 1 as whole percents that sum to 100: those cut off most are rounded up.
export function percents(shares) {
  const down = shares.map((one) => Math.floor(100 * one)), cut = shares.map((one, i) => 100 * one - down[i]);
  const up = [...cut.keys()].sort((a, b) => cut[b] - cut[a]).slice(0, Math.max(0, 100 - sumOf(down)));
  return down.map((one, i) => one + up.includes(i));
}

// So many decimals that the largest of these figures has two digits.
export const digitsFor = (values) => Math.max(...values.map(Math.abs)) < 0.5 ? 2 : 1;
