// The lessons that move, in the order of the course; each has its number from the record (`lessons/record.py`).

import { attention } from "./lesson_attention.js";
import { causalMask } from "./lesson_causal_mask.js";
import { crossAttention } from "./lesson_cross_attention.js";
import { headsAndLayers } from "./lesson_heads_and_layers.js";
import { it } from "./lesson_it.js";
import { kvCaching } from "./lesson_kv_caching.js";
import { lastVector } from "./lesson_last_vector.js";
import { manyHeads } from "./lesson_many_heads.js";
import { meaning } from "./lesson_meaning.js";
import { overfitting } from "./lesson_overfitting.js";
import { positions } from "./lesson_positions.js";
import { recurrence } from "./lesson_recurrence.js";
import { scaling } from "./lesson_scaling.js";
import { similarity } from "./lesson_similarity.js";
import { temperature } from "./lesson_temperature.js";
import { values } from "./lesson_values.js";
import { words } from "./lesson_words.js";
import { workedExample } from "./lesson_worked_example.js";

// By the names in the record.
export const MOVING = {
  l01_words: words,
  l02_attention: attention,
  l03_scaling: scaling,
  l04_causal_mask: causalMask,
  l05_many_heads: manyHeads,
  l06_cross_attention: crossAttention,
  l07_temperature: temperature,
  l08_kv_caching: kvCaching,
  l09_values: values,
  l10_it: it,
  l11_last_vector: lastVector,
  l12_heads_and_layers: headsAndLayers,
  l13_positions: positions,
  l14_similarity: similarity,
  l15_worked_example: workedExample,
  l16_recurrence: recurrence,
  l17_meaning: meaning,
  l18_overfitting: overfitting,
};
