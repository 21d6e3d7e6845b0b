// The lessons that move, in the order of the course; each has its number from the record (`lessons/record.py`).

import { meaning } from "./lesson_meaning.js";
import { overfitting } from "./lesson_overfitting.js";
import { positions } from "./lesson_positions.js";
import { recurrence } from "./lesson_recurrence.js";
import { scaling } from "./lesson_scaling.js";
import { similarity } from "./lesson_similarity.js";
import { workedExample } from "./lesson_worked_example.js";

// By the names in the record.
export const MOVING = {
  l03_scaling: scaling,
  l13_positions: positions,
  l14_similarity: similarity,
  l15_worked_example: workedExample,
  l16_recurrence: recurrence,
  l17_meaning: meaning,
  l18_overfitting: overfitting,
};
