// The examples: pairs of sentences that differ in one word, which can be swapped.

const MOST = 8;  // examples in a menu

// Those of the model that the reader has chosen; else of the one that translates and of the one that has examples first.
// Into the language that is chosen, if there are some.
export function examplesOf({ model, target, traces: [trace] }, { pairs, exampleModel }) {
  const of = (names) => [...new Set(names)].flatMap((name) => pairs.filter((one) => one.model === name));
  const others = of([trace?.record.model, exampleModel]), own = model ? of([model]) : others, all = own.length ? own : others;
  const code = target ?? trace?.languages[1], fitting = all.filter(({ languages }) => languages[1] === code);
  return (fitting.length ? fitting : all).slice(0, MOST);
}

// The word of an example that can be swapped, both words in their order, and the text with the other one.
export function flipOf(settings, text) {
  for (const pair of settings.pairs || []) {
    const { before, after, options } = pair, which = options.findIndex((one) => before + one + after === text);
    if (which < 0) continue;
    const own = options[which], other = options[1 - which];
    return { own, other, options, pair, agrees: pair.agrees?.[which], text: before + other + after };
  }
  return null;
}
