// Evaluates what `node.py` sends: a line with [code, argument] is answered by one with [value], or [null, error].

import process from "node:process";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

// What the page's modules ask of a browser while they are loaded, and while they write HTML: sizes, and pictures.
const brush = { measureText: ({ length }) => ({ width: 7 * length }), putImageData() {} };
Object.assign(globalThis, {
  innerWidth: 1440, innerHeight: 900, matchMedia: () => ({ matches: false }), addEventListener() {},
  ImageData: class {
    constructor(width, height) { Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) }); }
  },
  document: { createElement: () => ({ getContext: () => brush, toDataURL: () => "data:," }) },
});

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await evaluated(...JSON.parse(line)).catch((error) => [null, String(error)]);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();  // whatever the modules still listen to

async function evaluated(code, argument) {
  const found = runInThisContext(code);
  return [await (typeof found === "function" ? found(argument) : found)];
}
