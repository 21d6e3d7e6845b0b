// When a head, or a word, matters for a word of the translation.

const HALVED = Math.LN2;  // nats by which the log-odds of the word must change without it
export const MOST = 3;  // heads that are shown as those that matter

// An effect of `/v1/look`'s evidence: the word that is written instead, if another is, and by how much its log-odds fall.
export const matters = ({ instead, drop }) => instead !== null || Math.abs(drop) >= HALVED;
