"""What moved in the maps when one word of a text was changed: two traces, word by word.

Words are matched where both texts say the same, or where as many stand in the place of as many others.  A row is
compared over the columns that are matched; what a head moved of it is the total variation, half the sum of the
absolute differences: 0 where nothing moved, 1 where all did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from .by_words import Unit, word_map
from .kinds import KINDS, Kind
from .trace import Trace

# L layers, H heads, R matched rows, C matched columns

Matches = list[tuple[int, int]]
Named = tuple[str, bool]


@dataclass(frozen=True)
class Move:
    """A row of one head, `moved` of which went elsewhere: most of it from one word and to another.

    `row` and the two words are numbers of units (`WordMap.rows`, `.columns`) before and after; `lost` and `gained` are
    the two words' shares, before and after.
    """

    kind: Kind
    layer: int
    head: int
    row: tuple[int, int]
    moved: float
    away: tuple[int, int]
    lost: tuple[float, float]
    to: tuple[int, int]
    gained: tuple[float, float]


def matched(before: Sequence[Unit], after: Sequence[Unit]) -> Matches:
    """Which unit of one is which of the other."""
    was: list[Named] = [(unit.text, unit.special) for unit in before]
    now: list[Named] = [(unit.text, unit.special) for unit in after]
    pairs: Matches = []
    for name, a, a_end, b, b_end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if name == "equal" or (name == "replace" and a_end - a == b_end - b):
            pairs += zip(range(a, a_end), range(b, b_end), strict=True)
    return pairs


def moves(before: Trace, after: Trace, *, most: int = 5, kinds: Sequence[Kind] = KINDS) -> list[Move]:
    """The rows of raw weights that moved most, one of each head at most, the largest first."""
    found = [move for kind in kinds for move in _of_kind(before, after, kind)]
    return sorted(found, key=lambda one: -one.moved)[:most]


def _of_kind(before: Trace, after: Trace, kind: Kind) -> list[Move]:
    old, new = (word_map(trace, kind) for trace in (before, after))
    rows = matched(old.rows, new.rows)
    columns = matched(old.columns, new.columns)
    if not rows or not columns:
        return []
    was, now = (np.array(side, dtype=int).T for side in (rows, columns))
    pair = [one.maps[..., side[0][:, None], side[1]].astype(np.float64)
            for one, side in ((old, (was[0], now[0])), (new, (was[1], now[1])))]
    change_LHRC = pair[1] - pair[0]
    moved_LHR = np.abs(change_LHRC).sum(-1) / 2
    found = []
    for layer, head in np.ndindex(moved_LHR.shape[:2]):
        r = int(moved_LHR[layer, head].argmax())
        cells = change_LHRC[layer, head, r]
        a, b = int(cells.argmin()), int(cells.argmax())
        shares = [[float(one[layer, head, r, c]) for one in pair] for c in (a, b)]
        found.append(Move(kind, layer, head, rows[r], float(moved_LHR[layer, head, r]), columns[a],
                          (shares[0][0], shares[0][1]), columns[b], (shares[1][0], shares[1][1])))
    return found
