// How a panel asks: a line says that it is waiting, or what is wrong; an answer that has been overtaken is dropped.

function asking() {
  const node = make("p", "s2s-status");
  node.setAttribute("role", "status");
  let newest = 0, before = Promise.resolve();
  async function of(work) {
    const mine = ++newest;
    node.textContent = "Working it out …";
    delete node.dataset.wrong;
    try {
      await before;  // one at a time; of those that wait only the newest is asked at all
      if (mine !== newest) return null;
      const asked = work();
      before = asked.catch(() => null);
      const answer = await asked;
      if (mine !== newest) return null;
      node.textContent = "";
      return answer;
    } catch (error) {
      if (mine !== newest) return null;
      node.textContent = error.message;
      node.dataset.wrong = "";
      return null;
    }
  }
  return { node, of, drop: () => { newest++; node.textContent = ""; } };
}

function field(legend, { lines = 1, value = "", placeholder = "" } = {}) {
  const label = make("label", "s2s-field", legend), input = make(lines > 1 ? "textarea" : "input");
  Object.assign(input, { value, placeholder });
  if (lines > 1) input.rows = lines;
  input.dir = "auto";
  label.append(input);
  return { node: label, input };
}

// A text in stretches, those that changed marked.
function marked(stretches) {
  const line = make("p");
  line.append(...stretches.map(([text, changed]) => make(changed ? "mark" : "span", "", text)));
  line.dir = rightToLeft(stretches.map(([text]) => text).join("")) ? "rtl" : "ltr";
  return line;
}

// A vector as a strip of colours, its numbers in the title; `full` is what the strongest colour stands for.
function strip(numbers, full, host, name) {
  const canvas = make("canvas", "s2s-strip"), width = numbers.length, cell = Math.max(1, Math.min(6, Math.floor(80 / width)));
  Object.assign(canvas, { width, height: 1 });
  Object.assign(canvas.style, { width: `${width * cell}px`, height: "12px" });
  const context = canvas.getContext("2d"), image = context.createImageData(width, 1), table = pixelTable(host.theme);
  const pixels = new Uint32Array(image.data.buffer);
  numbers.forEach((number, i) => { pixels[i] = table[256 + Math.round(256 * Math.max(-1, Math.min(1, number / full)))]; });
  context.putImageData(image, 0, 0);
  canvas.title = numbers.map(four).join("  ");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${name}, ${width} numbers from ${four(Math.min(...numbers))} to ${four(Math.max(...numbers))}`);
  return canvas;
}
