// The weights of a network from one file: a manifest, and a buffer of numbers that `webpage_data/page_weights.py` wrote.
//
//     const weights = new Weights({ tensors: [{ name, shape, dtype, offset, scales }, ...] }, buffer)
//
// `dtype` is "float16", or "int8" with a float32 scale for each row at `scales`; `offset` and `scales` count bytes.
// Each tensor is decoded once, to a Float32Array.

export class Weights {
  constructor({ tensors }, buffer) {
    this.tensors = new Map(tensors.map((one) => [one.name, { shape: one.shape, values: decoded(one, buffer) }]));
  }

  has(name) { return this.tensors.has(`${name}.weight`); }

  tensor(name) {
    const found = this.tensors.get(name);
    if (!found) throw new Error(`the weights lack ${name}`);
    return found;
  }

  // A matrix [O,I] and its bias [O], 0 where it has none.
  linear(name) {
    const { shape: [outputs, inputs], values: weight } = this.tensor(`${name}.weight`);
    return { weight, bias: this.tensors.get(`${name}.bias`)?.values ?? new Float32Array(outputs), outputs, inputs };
  }

  norm(name) { return { weight: this.tensor(`${name}.weight`).values, bias: this.tensor(`${name}.bias`).values }; }
}

function decoded({ shape, dtype, offset, scales }, buffer) {
  const size = shape.reduce((product, one) => product * one, 1), values = new Float32Array(size);
  if (dtype === "float16") {
    const halves = new Uint16Array(buffer, offset, size), table = halfTable();
    for (let i = 0; i < size; i++) values[i] = table[halves[i]];
    return values;
  }
  const columns = size / shape[0], small = new Int8Array(buffer, offset, size);
  new Float32Array(buffer, scales, shape[0]).forEach((scale, row) => {
    for (let i = row * columns; i < (row + 1) * columns; i++) values[i] = small[i] * scale;
  });
  return values;
}

let halves = null;
// The value of each of the 65,536 float16 numbers.
function halfTable() {
  return halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const power = bits >> 10 & 31, rest = bits & 1023, sign = bits >> 15 ? -1 : 1;
    if (power === 31) return rest ? NaN : sign * Infinity;
    return sign * (power ? (1 + rest / 1024) * 2 ** (power - 15) : rest * 2 ** -24);
  });
}
