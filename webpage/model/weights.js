// The weights of a network from one file: a manifest, and a buffer of numbers that `webpage_data/page_weights.py` wrote.
//
//     const weights = new Weights({ tensors: [{ name, shape, dtype, offset, scales }, ...] }, buffer)
//
// `dtype` is "float16", or "int8" with a float32 scale for each row at `scales`; `offset` and `scales` count bytes.
// Vectors and float16 are decoded once, to a Float32Array; a matrix of int8 stays as it is, so that a large model needs
// no more memory than its file.

export class Weights {
  constructor({ tensors }, buffer) {
    this.tensors = new Map(tensors.map((one) => [one.name, decoded(one, buffer)]));
  }

  // A matrix [O,I] and its bias [O], 0 where it has none; null without the matrix.
  matrix(name, bias = `${name}.bias`) {
    const found = this.tensors.get(`${name}.weight`), values = this.tensors.get(bias)?.numbers;
    return found ? new Matrix(found, values) : null;
  }

  linear(name) {
    const found = this.matrix(name);
    if (!found) throw new Error(`the weights lack ${name}`);
    return found;
  }

  // A norm { weight, bias }, or null.
  norm(name) {
    const weight = this.tensors.get(`${name}.weight`)?.numbers;
    return weight ? { weight, bias: this.tensors.get(`${name}.bias`).numbers } : null;
  }
}

// `numbers` [O,I] are the weights, or integers to be multiplied by the `scales` [O] of their rows; `fours` are these
// integers as numbers of 32 bits, of four each, the first in the lowest bits.
class Matrix {
  constructor({ shape: [outputs, inputs], numbers, scales = null }, bias = new Float32Array(outputs)) {
    const fours = scales && inputs % 4 === 0 ? new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length / 4) : null;
    Object.assign(this, { outputs, inputs, numbers, fours, scales, bias });
  }

  row(o) {
    const { inputs, numbers, scales } = this, own = numbers.subarray(o * inputs, (o + 1) * inputs);
    return Float32Array.from(own, scales ? (one) => one * scales[o] : (one) => one);
  }

  // All weights as a Float32Array, made when they are first asked for.
  get weight() {
    const { inputs, numbers, scales } = this;
    return this.decoded ??= scales ? Float32Array.from(numbers, (one, at) => one * scales[Math.floor(at / inputs)]) : numbers;
  }
}

function decoded({ shape, dtype, offset, scales }, buffer) {
  const size = shape.reduce((product, one) => product * one, 1);
  if (dtype === "float16") {
    const halves = new Uint16Array(buffer, offset, size), table = halfTable(), numbers = new Float32Array(size);
    for (let i = 0; i < size; i++) numbers[i] = table[halves[i]];
    return { shape, numbers };
  }
  return { shape, numbers: new Int8Array(buffer, offset, size), scales: new Float32Array(buffer, scales, shape[0]) };
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
