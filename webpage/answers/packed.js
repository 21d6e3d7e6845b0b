// The parts of a page with a model inside, as `webpage_data/one_file.py` packs them: gzip, in base64 in a file.

const bytesOf = (text) => {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};
const unzipped = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
const plain = (text) => unzipped(bytesOf(text));

// What `answer.js` is started with; the replay stays packed until somebody asks for it.
export async function unpacked({ model: content, weights: numbers, replay }) {
  const [{ model, manifest }, weights] = await Promise.all([plain(content).json(), plain(numbers).arrayBuffer()]);
  return { model, manifest, weights, replay: replay ? bytesOf(replay).buffer : null };
}

// The same of a page in a folder, whose parts are bytes, and only the model is packed.
export const unpackedParts = async ({ model, weights }) => ({ ...await unzipped(model).json(), weights, replay: null });

// The record of the lessons; null in the file of a model that has none.
export const recordIn = async (text) => text ? plain(text).json() : null;
