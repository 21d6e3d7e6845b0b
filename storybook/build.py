"""Mixing the families into the three splits."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from . import controls, forms, pronouns, senses
from .families import HARD
from .idioms import idioms
from .phrases import StoryPair
from .splits import split_of

_SEEN = 5  # the least count in training of every word of val and test
_FULL = 10_000  # training pairs from which on this can be required
Maker = Callable[[Random, str, str], list[StoryPair]]


@dataclass(frozen=True)
class Storybook:
    """The corpus. `test` and `val` hold unseen combinations of seen words; `idioms` are separate, for fine-tuning."""

    train: tuple[StoryPair, ...]
    val: tuple[StoryPair, ...]
    test: tuple[StoryPair, ...]
    idioms: tuple[StoryPair, ...]


def _hard(family: str, *, mixed: bool = True) -> Maker:
    return lambda rng, split, key: pronouns.hard_group(rng, family, split, key, mixed=mixed)


def _single(make: Callable[[Random, str], StoryPair]) -> Maker:
    return lambda rng, split, key: [make(rng, split)]


def _typical(family: str) -> Maker:
    return lambda rng, split, key: [pronouns.typical(rng, family, split)]


# Shares of training in thousandths.  Contrast sets come in eights and sixteens: their shares keep each set whole.
# The rule of lend, in which the verb swaps the roles, is learnt last; those of crush, fit and hide first.
_CONTRAST = {"lend": 64, "fill": 28, "crush": 24, "fit": 24, "hide": 24, "chase": 32, "connective": 32, "give": 32}
_TYPICAL = {"lend": 30, "fill": 18, "crush": 14, "fit": 14, "hide": 14, "chase": 18, "connective": 18, "give": 18}

# Each kind: its maker, its share of training, and its number of pairs in val and test.
_MIXTURE: tuple[tuple[str, Maker, int, int, int], ...] = (
    *((family, _hard(family), _CONTRAST[family], 48, 96) for family in HARD),
    *((f"{family} alike", _hard(family, mixed=False), 12, 0, 0) for family in HARD),
    *((f"{family} typical", _typical(family), _TYPICAL[family], 0, 0) for family in HARD),
    ("nervous", pronouns.nervous_group, 15, 8, 24),
    ("alone", _single(controls.alone), 25, 10, 20),
    ("easy", controls.easy_group, 70, 30, 80),
    ("weather", _single(controls.weather), 15, 10, 30),
    ("object", _single(controls.object_agreement), 25, 15, 40),
    ("possessive", _single(controls.possessive), 25, 15, 40),
    ("number", _single(controls.number), 15, 10, 30),
    ("sense", senses.sense_group, 40, 20, 60),
    ("plain", _single(forms.plain), 285, 100, 250),
)


def _pairs(
    make: Maker, name: str, wanted: int, split: str, seed: int, known: set[str], words: Counter[str] | None
) -> Iterator[StoryPair]:
    """Exactly `wanted` new sentences of one kind for one split; a group with an unsuitable sentence is dropped.

    `words`, where given, counts those of training: a sentence with a word rarer than `_SEEN` is unsuitable too.
    """
    rng = Random(f"{seed}/{split}/{name}")
    made = tries = 0
    while made < wanted:
        group = make(rng, split, f"{split}/{name}/{tries}")[: wanted - made]
        tries += 1
        if tries > 200 * wanted + 1000:
            raise RuntimeError(f"storybook could not make {wanted} sentences of {name!r} for {split}: got {made}")
        sources = {pair.source for pair in group}
        if len(sources) < len(group) or not known.isdisjoint(sources):
            continue
        if any(split_of(pair.combinations) != split or not 3 <= pair.length <= 40 for pair in group):
            continue
        if words is not None and any(words[word] < _SEEN for pair in group for word in _words(pair)):
            continue
        known |= sources
        made += len(group)
        yield from group


def _words(pair: StoryPair) -> Iterator[str]:
    """Approximate words of both sides, marked by side: enough to count what training has shown."""
    yield from (f"source {word}" for word in re.findall(r"[\w'-]+", pair.source.lower()))
    yield from (f"target {word}" for word in re.findall(r"[\w-]+", pair.target.lower()))


def generate(*, seed: int = 0, train_size: int = 20_000) -> Storybook:
    """Write the corpus, a pure function of its arguments: `train_size` training pairs, 602 for val, 1,342 for test.

    Training comes first: val and test use only words that occur in it at least `_SEEN` times (unless it is small).
    """
    known: set[str] = set()
    splits: dict[str, list[StoryPair]] = {"train": [], "val": [], "test": []}
    words: Counter[str] | None = None
    for column, (split, pairs) in enumerate(splits.items()):
        left = train_size
        for name, make, share, in_val, in_test in _MIXTURE:
            wanted = (share * train_size // 1000, in_val, in_test)[column]
            if split == "train":
                wanted = left if name == _MIXTURE[-1][0] else min(wanted, left)
                left -= wanted
            pairs.extend(_pairs(make, name, wanted, split, seed, known, words))
        Random(f"{seed}/{split}").shuffle(pairs)
        if split == "train" and train_size >= _FULL:
            words = Counter(word for pair in pairs for word in _words(pair))
    return Storybook(tuple(splits["train"]), tuple(splits["val"]), tuple(splits["test"]), idioms())
