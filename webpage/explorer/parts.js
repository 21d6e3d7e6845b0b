// The model of a page that lies in a folder of a static host (`webpage_data/one_file.py`), in files of some megabytes:
// read with a progress bar, kept by the browser for the next visit, and tried again where one fails.

import { html, paint } from "../common/markup.js";
import { count } from "../common/wording.js";

const TRIES = 3, WAIT = 1_000;  // milliseconds after the first failure; twice as long after each
const KEPT = "seq2see";  // the name of the browser's store
const megabytes = (bytes) => count(Math.ceil(bytes / 1e6));

// { model, weights } of `files`, which say their { name, bytes, checksum }; `told` has how much is read, of all.
export async function readParts(files, told) {
  const all = [files.model, ...files.weights], total = sum(all), store = await storeOf(all);
  let weights = null, at = 0, read = 0;
  try { weights = new Uint8Array(sum(files.weights)); }
  catch { throw new Error(`The model needs ${megabytes(total)} MB of memory, which this browser does not have. Close other`
    + " tabs, or open the page on a larger device."); }
  const model = await readPart(files.model, store);
  for (const file of files.weights) {
    told(read += file.bytes, total);
    const bytes = await readPart(file, store);
    weights.set(bytes, at);
    at += bytes.length;
  }
  return { model, weights: weights.buffer };
}

const sum = (files) => files.reduce((total, { bytes }) => total + bytes, 0);
const addressOf = ({ name, checksum }) => `${name}?${checksum}`;

// The browser's store, without the files of other exports; null where it has none, as in a private window.
async function storeOf(files) {
  try {
    const store = await caches.open(KEPT), own = new Set(files.map((one) => new URL(addressOf(one), location.href).href));
    const here = new URL(".", location.href).href;
    for (const { url } of await store.keys()) if (url.startsWith(here) && !own.has(url)) await store.delete(url);
    return store;
  } catch { return null; }
}

async function readPart(file, store) {
  const kept = await store?.match(addressOf(file));
  if (kept) return new Uint8Array(await kept.arrayBuffer());
  for (let number = 1; ; number++) {
    try { return await fetched(file, store); }
    catch (error) { if (number === TRIES) throw error; }
    await new Promise((done) => { setTimeout(done, WAIT * 2 ** (number - 1)); });
  }
}

async function fetched(file, store) {
  const address = addressOf(file), { name, bytes: expected, checksum } = file;
  if (location.protocol === "file:")
    throw new Error("The model lies in files, which a page from the disk may not read. Run python -m http.server in its folder.");
  const answer = await fetch(address).catch(() => { throw new Error(`${name} did not arrive. Check the connection.`); });
  if (!answer.ok) throw new Error(`${name} is missing on this host (${answer.status}). Upload the whole folder again.`);
  const bytes = new Uint8Array(await answer.arrayBuffer().catch(() => { throw new Error(`${name} broke off.`); }));
  if (bytes.length !== expected) throw new Error(`${name} has ${count(bytes.length)} bytes on this host instead of`
    + ` ${count(expected)}. Upload it again, as a binary file.`);
  if (isSecureContext && await checksumOf(bytes) !== checksum) throw new Error(`${name} is not the file that was exported. Upload the whole folder again.`);
  await store?.put(address, new Response(bytes)).catch(() => {});  // without room it is read again at the next visit
  return bytes;
}

// The first 8 bytes of its SHA-256.
async function checksumOf(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 8);
  return Array.from(sum, (one) => one.toString(16).padStart(2, "0")).join("");
}

// How far it is, at the bottom of the page.
export function progressBar() {
  const bar = document.createElement("div");
  bar.className = "s2s-parts";
  bar.setAttribute("role", "status");
  document.body.append(bar);
  return {
    told(read, total) {
      paint(bar, html`<span>Reading the model: ${megabytes(read)} of ${megabytes(total)}\u00a0MB</span><progress
        aria-label="Reading the model" value="${(read / total).toFixed(3)}"></progress>`);
    },
    done: () => bar.remove(),
  };
}
