// The word of an example that can be swapped, both words in their order, and the text with the other one.

export function flipOf(settings, text) {
  for (const { before, after, options } of settings.pairs || []) {
    const which = options.findIndex((one) => before + one + after === text);
    if (which < 0) continue;
    const own = options[which], other = options[1 - which];
    return { own, other, options, text: before + other + after };
  }
  return null;
}
