// The stretch of an example that can be swapped, and what it is swapped for.

export function flipOf(settings, text) {
  for (const { before, after, options } of settings.pairs || []) {
    const which = options.findIndex((one) => before + one + after === text);
    if (which < 0) continue;
    const own = options[which], other = options[1 - which];
    return { start: before.length, end: before.length + own.length, other, own, first: which === 0,
      text: before + other + after };
  }
  return null;
}
