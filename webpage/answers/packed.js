// The parts of a page with a model inside, as `webpage_data/one_file.py` packs them: gzip in base64.

const bytesOf = (text) => {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};
const plain = (text) => new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip")));

// What `answer.js` is started with; the replay stays packed until somebody asks for it.
export async function unpacked({ model: content, weights: numbers, replay }) {
  const [{ model, manifest }, weights] = await Promise.all([plain(content).json(), plain(numbers).arrayBuffer()]);
  return { model, manifest, weights, replay: replay ? bytesOf(replay).buffer : null };
}

// The record of the lessons; null in the file of a model that has none.
export const recordIn = async (text) => text ? plain(text).json() : null;
