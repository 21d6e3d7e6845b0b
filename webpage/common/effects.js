// Whether a head, or a source word, matters for a word of the translation: the one answer for every place of the page
// (`lens/questions/evidence.py` has the same).

import { RULES } from "../data.js";

export const MOST = 3;  // heads that are shown as those that matter

// An effect: the word that is written instead, if another is, and by how much the chance of the word falls.
export const matters = ({ instead, fall }) => instead !== null || fall >= RULES.MATTERS;
