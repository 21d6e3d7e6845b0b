// The lessons that move, in the order of the course; each has its number from the record (`lessons/record.py`).

import { scaling } from "./lesson_scaling.js";
import { temperature } from "./lesson_temperature.js";
import { kvCaching } from "./lesson_kv_caching.js";
import { values } from "./lesson_values.js";
import { it } from "./lesson_it.js";
import { lastVector } from "./lesson_last_vector.js";
import { headsAndLayers } from "./lesson_heads_and_layers.js";

// By the names in the record.
export const MOVING = {
  l03_scaling: scaling,
  l07_temperature: temperature,
  l08_kv_caching: kvCaching,
  l09_values: values,
  l10_it: it,
  l11_last_vector: lastVector,
  l12_heads_and_layers: headsAndLayers,
};
