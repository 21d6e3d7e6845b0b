// The lessons that move, in the order of the course; each has its number from the record (`lessons/record.py`).

import { scaling } from "./lesson_scaling.js";

// By the names in the record.
export const MOVING = {
  l03_scaling: scaling,
};
