// The lessons that move, in the order of the course; each has its number from the record (`lessons/record.py`).

import { attention } from "./lesson_attention.js";
import { causalMask } from "./lesson_causal_mask.js";
import { crossAttention } from "./lesson_cross_attention.js";
import { manyHeads } from "./lesson_many_heads.js";
import { scaling } from "./lesson_scaling.js";
import { words } from "./lesson_words.js";

// By the names in the record.
export const MOVING = {
  l01_words: words,
  l02_attention: attention,
  l03_scaling: scaling,
  l04_causal_mask: causalMask,
  l05_many_heads: manyHeads,
  l06_cross_attention: crossAttention,
};
