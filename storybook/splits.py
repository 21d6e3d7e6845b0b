"""Which split a sentence belongs to: held-out combinations of words, never held-out words.

A combination is a pair of nouns with a verb (or the group of verbs it is learnt with), or a noun with an adjective.
A fixed share of all combinations is kept for val and for test, chosen by a hash of the combination alone.
A sentence with no held-out combination is for training; one with held-out ones, all of the same split, is for that
split; a sentence that mixes the two is discarded.  What is said of *it* does not count: training may have *the crow ...
because it was hungry* where *the hungry crow* is held out.
"""

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b

# Of 1,000: a noun pair with a verb is held out more often, since a pair is common to many sentences.
_VAL = {"pair": 50, "describes": 25}
_TEST = {"pair": 100, "describes": 50}


@cache
def split_of_combination(combination: tuple[str, ...]) -> str:
    kind = combination[0]
    draw = int.from_bytes(blake2b("|".join(combination).encode(), digest_size=4).digest(), "big") % 1000
    return "val" if draw < _VAL[kind] else "test" if draw < _VAL[kind] + _TEST[kind] else "train"


def split_of(combinations: Iterable[tuple[str, ...]]) -> str | None:
    """The split of a sentence with these combinations, or None for a sentence that belongs to no split."""
    held_out = {split_of_combination(combination) for combination in combinations} - {"train"}
    return held_out.pop() if len(held_out) == 1 else None if held_out else "train"
