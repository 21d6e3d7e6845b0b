// Evaluates what `node.py` sends: a line with [code, argument] is answered by one with [value], or [null, error].

import process from "node:process";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

// What the page's modules ask of a browser while they are loaded, and to measure a text.
globalThis.matchMedia = () => ({ matches: false });
globalThis.addEventListener = () => {};
globalThis.document = { createElement: () => ({
  getContext: () => ({ measureText: ({ length }) => ({ width: 7 * length }) }),
}) };

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await evaluated(...JSON.parse(line)).catch((error) => [null, String(error)]);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();  // whatever the modules still listen to

async function evaluated(code, argument) {
  const found = runInThisContext(code);
  return [await (typeof found === "function" ? found(argument) : found)];
}
