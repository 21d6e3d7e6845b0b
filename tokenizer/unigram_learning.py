"""Learns the tokens of a Unigram vocabulary (Kudo 2018) from pieces of text, by expectation maximisation.

Many candidates are narrowed down: those are left out first without which the text becomes the least unlikely.  The
trainer of `tokenizers` takes its candidates from what different pieces have in common, and so misses frequent words.
"""

# P pieces, L characters of the longest, A arcs (places of candidates in pieces), V candidates

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

LONGEST = 16  # characters of a token
PIECE = 50  # characters of a piece: longer ones teach nothing
CANDIDATES = 10  # times the room
ROUNDS = 2  # of expectation maximisation, before each narrowing
KEPT = 0.75  # of the candidates by a narrowing
RARE = 0.5  # expected uses of a candidate that is left out


@dataclass(frozen=True)
class Arcs:
    """Where each candidate is found in the texts: in text `row_A` from `start_A` to `end_A`."""

    row_A: np.ndarray
    start_A: np.ndarray
    end_A: np.ndarray
    token_A: np.ndarray
    lengths_P: np.ndarray

    @classmethod
    def find(cls, texts: Sequence[str], tokens: Sequence[str]) -> Arcs:
        index = {token: place for place, token in enumerate(tokens)}
        found = array("i")
        for row, text in enumerate(texts):
            for start, end in spans(text):
                if (token := index.get(text[start:end])) is not None:
                    found.extend((row, start, end, token))
        row_A, start_A, end_A, token_A = np.array(found).reshape(-1, 4).T.copy()
        return cls(row_A, start_A, end_A, token_A, np.array([*map(len, texts)]))

    def only(self, kept_V: np.ndarray, kept_P: np.ndarray) -> Arcs:
        """The arcs of the candidates and texts that are kept, with these numbered again from 0."""
        kept_A = kept_V[self.token_A] & kept_P[self.row_A]
        row_A, token_A = (np.cumsum(kept) - 1 for kept in (kept_P, kept_V))
        return Arcs(row_A[self.row_A[kept_A]], self.start_A[kept_A], self.end_A[kept_A], token_A[self.token_A[kept_A]],
                    self.lengths_P[kept_P])

    def uses(self, chance_V: np.ndarray, count_P: np.ndarray) -> np.ndarray:
        """How often each candidate is used, as expected over all segmentations of the texts: [V]."""
        rows, longest, chance_A = len(self.lengths_P), int(self.lengths_P.max(initial=0)), chance_V[self.token_A]
        before_PL, after_PL = np.zeros((2, rows, longest + 1))
        before_PL[:, 0] = after_PL[np.arange(rows), self.lengths_P] = 1
        for end, some in enumerate(grouped(self.end_A, longest)):
            through_A = before_PL[self.row_A[some], self.start_A[some]] * chance_A[some]
            before_PL[:, end] += np.bincount(self.row_A[some], through_A, minlength=rows)
        for start, some in reversed([*enumerate(grouped(self.start_A, longest))]):
            through_A = after_PL[self.row_A[some], self.end_A[some]] * chance_A[some]
            after_PL[:, start] += np.bincount(self.row_A[some], through_A, minlength=rows)
        share_A = before_PL[self.row_A, self.start_A] * chance_A * after_PL[self.row_A, self.end_A]
        weight_P = count_P / after_PL[:, 0]
        return np.bincount(self.token_A, share_A * weight_P[self.row_A], minlength=len(chance_V))

    def best(self, score_V: np.ndarray) -> np.ndarray:
        """The score of the best segmentation of each text into two tokens or more: [P]."""
        rows, longest = len(self.lengths_P), int(self.lengths_P.max(initial=0))
        best_PL = np.full((rows, longest + 1), -np.inf)
        best_PL[:, 0] = 0
        parts_A = self.end_A - self.start_A < self.lengths_P[self.row_A]
        for end, some in enumerate(grouped(np.where(parts_A, self.end_A, longest + 1), longest)):
            through_A = best_PL[self.row_A[some], self.start_A[some]] + score_V[self.token_A[some]]
            np.maximum.at(best_PL[:, end], self.row_A[some], through_A)
        return best_PL[np.arange(rows), self.lengths_P]


def learn(pieces: Mapping[str, int], characters: Sequence[str], *, room: int) -> dict[str, float]:
    """At most `room` tokens, the characters among them, with the logarithm of their chances, sorted.

    Args:
        pieces: how often the text has each; of these characters alone.
    """
    texts, needed = [text for text in sorted(pieces) if len(text) <= PIECE], {*characters}
    count_P = np.array([pieces[text] for text in texts], dtype=float)
    tokens, uses_V = candidates(texts, pieces, needed, most=CANDIDATES * room)
    arcs = Arcs.find(texts, tokens)
    within = Arcs.find(tokens, tokens)
    while True:
        for _ in range(ROUNDS):
            uses_V = arcs.uses(uses_V / uses_V.sum(), count_P)
            uses_V = np.maximum(uses_V, 1e-3)
        score_V = np.log(uses_V / uses_V.sum())
        if len(tokens) <= room:
            return dict(zip(tokens, score_V.tolist(), strict=True))
        loss_V = uses_V * (score_V - within.best(score_V))
        loss_V[uses_V < RARE] = 0
        loss_V[[token in needed for token in tokens]] = np.inf
        kept_V = np.zeros(len(tokens), dtype=bool)
        kept_V[np.argsort(-loss_V, kind="stable")[: max(room, int(KEPT * len(tokens)))]] = True
        arcs, within = arcs.only(kept_V, np.ones(len(texts), dtype=bool)), within.only(kept_V, kept_V)
        tokens, uses_V = [token for token, kept in zip(tokens, kept_V, strict=True) if kept], uses_V[kept_V]


def candidates(
    texts: Sequence[str], pieces: Mapping[str, int], needed: set[str], *, most: int
) -> tuple[list[str], np.ndarray]:
    """The substrings with the most characters in the text, and those needed, sorted; and how often each occurs."""
    counts = Counter[str](dict.fromkeys(needed, 0))
    for text in texts:
        for start, end in spans(text):
            counts[text[start:end]] += pieces[text]
    repeated = sorted((t for t, n in counts.items() if n > 1), key=lambda t: (-counts[t] * len(t), t))[:most]
    tokens = sorted(needed.union(repeated))
    return tokens, np.array([max(counts[token], 1) for token in tokens], dtype=float)


def spans(text: str) -> list[tuple[int, int]]:
    return [(start, end) for start in range(len(text)) for end in range(start + 1, min(start + LONGEST, len(text)) + 1)]


def grouped(place_A: np.ndarray, longest: int) -> list[np.ndarray]:
    """For each place from 0 to `longest`, the arcs that have it."""
    order_A = np.argsort(place_A, kind="stable")
    return np.split(order_A, np.searchsorted(place_A[order_A], np.arange(1, longest + 2)))[: longest + 1]
