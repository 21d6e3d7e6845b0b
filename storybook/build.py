"""Mixing the families into the three splits."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from . import controls, forms, pronouns, senses
from .families import HARD
from .idioms import idioms
from .phrases import StoryPair
from .scenes import Sentence
from .splits import split_of

_SEEN = 5  # the least count in training of every word of val and test
_FULL = 10_000  # training pairs from which on this can be required
Made = StoryPair | Sentence
Maker = Callable[[Random, str, str], Sequence[Made]]


@dataclass(frozen=True)
class Storybook:
    """The corpus. `test` and `val` hold unseen combinations of seen words; `idioms` are separate, for fine-tuning."""

    train: tuple[StoryPair, ...]
    val: tuple[StoryPair, ...]
    test: tuple[StoryPair, ...]
    idioms: tuple[StoryPair, ...]


def _single(make: Callable[[Random, str], Made]) -> Maker:
    return lambda rng, split, key: [make(rng, split)]


# Shares of training in thousandths: contrast sets, which come in eights and sixteens and are kept whole, and typical
# sentences.  The rule of lend, in which the verb swaps the roles, is learnt last; those of crush, fit and hide first.
_SHARES = {
    "lend": (64, 30), "fill": (28, 18), "crush": (24, 14), "fit": (24, 14), "hide": (24, 14), "chase": (32, 18),
    "connective": (32, 18), "give": (32, 18),
}

# Each kind: its maker, its share of training, and its number of pairs in val and test.
_MIXTURE: tuple[tuple[str, Maker, int, int, int], ...] = (
    *((name, partial(pronouns.hard_group, name), _SHARES[name][0], 48, 96) for name in HARD),
    *((f"{name} alike", partial(pronouns.hard_group, name, mixed=False), 12, 0, 0) for name in HARD),
    *((f"{name} typical", _single(partial(pronouns.typical, name)), _SHARES[name][1], 0, 0) for name in HARD),
    ("nervous", pronouns.nervous_group, 15, 8, 24),
    ("alone", _single(controls.alone), 25, 10, 20),
    ("easy", controls.easy_group, 70, 30, 80),
    ("weather", _single(controls.weather), 15, 10, 30),
    ("object", _single(controls.object_agreement), 25, 15, 40),
    ("possessive", _single(controls.possessive), 25, 15, 40),
    ("number", _single(controls.number), 15, 10, 30),
    ("sense", senses.sense_group, 40, 20, 60),
    ("plain", _single(forms.plain), 270, 100, 250),
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
        group = [
            one.write() if isinstance(one, Sentence) else one for one in make(rng, split, f"{split}/{name}/{tries}")
        ][: wanted - made]
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
    words: Counter[str] | None = None
    parts: dict[str, tuple[StoryPair, ...]] = {}
    shares = {name: share * train_size // 1000 for name, _, share, _, _ in _MIXTURE}
    shares["plain"] += train_size - sum(shares.values())
    for split in ("train", "val", "test"):
        pairs: list[StoryPair] = []
        for name, make, _, in_val, in_test in _MIXTURE:
            wanted = {"train": shares[name], "val": in_val, "test": in_test}[split]
            pairs.extend(_pairs(make, name, wanted, split, seed, known, words))
        Random(f"{seed}/{split}").shuffle(pairs)
        if split == "train" and train_size >= _FULL:
            words = Counter(word for pair in pairs for word in _words(pair))
        parts[split] = tuple(pairs)
    return Storybook(**parts, idioms=idioms())
