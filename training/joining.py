"""Texts of several unrelated sentences, made of training pairs.

A model that has seen only single sentences, or second sentences that depend on the first, translates the first of two
unrelated ones and stops.  So a share of the pairs is learnt in texts of two to six.  Which ones, and with which others,
is a function of (seed, epoch): in each epoch pairs change places with others of the same lengths in tokens, if there
are any.  Rows keep their lengths, every epoch has the same number of batches, and every pair is learnt once an epoch.
"""

# N pairs, R rows: pairs that stay alone, and texts

from __future__ import annotations

import numpy as np
from torch.utils.data import Dataset

from .batching import EncodedPair, EncodedPairs

MOST_JOINED = 6  # pairs of a text


class JoinedPairs(Dataset[EncodedPair]):
    """Encoded pairs; a share of them is joined into texts of 2 to `MOST_JOINED` pairs of one target language.

    Args:
        share: of the pairs that are learnt in texts, from 0 to 1.
        max_length: tokens; pairs that would make a longer text stay alone.
    """

    def __init__(self, pairs: EncodedPairs, *, share: float, max_length: int, seed: int = 0):
        self.pairs, self.seed = pairs, seed
        tags_N = pairs.tags()
        self.kinds = (*pairs.lengths_N2.T, tags_N)  # pairs that agree in all of these may change places
        self.by_kind_N = np.lexsort(self.kinds)
        self.members, self.starts_R = _rows(pairs.lengths_N2, tags_N, share=share, max_length=max_length, seed=seed)
        self.lengths_R2 = _joined_lengths(pairs.lengths_N2, self.members, self.starts_R)
        self.set_epoch(0)

    def __len__(self) -> int:
        return len(self.starts_R)

    def set_epoch(self, epoch: int) -> None:
        shuffled = np.random.default_rng([self.seed, epoch]).permutation(len(self.pairs))
        self.place_N = np.empty_like(shuffled)
        self.place_N[self.by_kind_N] = np.lexsort((shuffled, *self.kinds))

    @property
    def most_joined(self) -> int:
        """The most pairs that a row joins."""
        return int(np.diff(self.starts_R, append=len(self.members)).max(initial=1))

    def pairs_of(self, row: int) -> list[int]:
        """The indices of the pairs that a row joins in this epoch."""
        end = self.starts_R[row + 1] if row + 1 < len(self) else len(self.members)
        return self.place_N[self.members[self.starts_R[row] : end]].tolist()

    def __getitem__(self, row: int) -> EncodedPair:
        first, *others = (self.pairs[index] for index in self.pairs_of(row))
        return first.joined(others) if others else first

    def lengths(self) -> np.ndarray:
        """The longer side of each row, and the shorter: [R, 2]."""
        return np.sort(self.lengths_R2, axis=1)[:, ::-1]


def _rows(
    lengths_N2: np.ndarray, tags_N: np.ndarray, *, share: float, max_length: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Each place in exactly one row: the places row by row [N], and where each row starts [R].

    Texts are drawn at 2 to `MOST_JOINED` pairs; one that does not fit, or would be of two languages, is cut in two.
    """
    rng = np.random.default_rng([seed, len(tags_N)])
    places = rng.permutation(len(tags_N))
    texts, alone = np.split(places, [round(share * len(places))])
    texts = texts[np.argsort(tags_N[texts], kind="stable")]
    lengths, tags = lengths_N2[texts].tolist(), tags_N[texts].tolist()
    sizes = iter(rng.integers(2, MOST_JOINED + 1, size=len(texts)).tolist())
    rows: list[int] = []
    wanted = source = target = 0
    for place, (own_source, own_target) in enumerate(lengths):
        source, target = source + own_source, target + own_target
        fits = max(source, target) <= max_length and tags[place] == tags[place - 1]
        if not rows or rows[-1] == wanted or not fits:
            rows.append(0)
            wanted, source, target = next(sizes), own_source, own_target
        rows[-1] += 1
    return np.concatenate([texts, alone]), np.cumsum([0, *rows, *[1] * len(alone)])[:-1]


def _joined_lengths(lengths_N2: np.ndarray, members_N: np.ndarray, starts_R: np.ndarray) -> np.ndarray:
    """A text has one `</s>` on both sides, and one tag on its target's."""
    sums_R2 = np.add.reduceat(lengths_N2[members_N], starts_R, dtype=np.int64)
    joins_R = np.diff(starts_R, append=len(members_N)) - 1
    return sums_R2 - joins_R[:, None] * np.array([1, 2])
