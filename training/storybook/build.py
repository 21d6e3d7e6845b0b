"""Mixing the families into the three splits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from . import controls, plain, pronouns, senses
from .phrases import StoryPair
from .splits import split_of

Maker = Callable[[Random, str, str], list[StoryPair]]


@dataclass(frozen=True)
class Storybook:
    """The corpus. `test` and `val` hold unseen combinations of seen words; `idioms` are apart, for fine-tuning."""

    train: tuple[StoryPair, ...]
    val: tuple[StoryPair, ...]
    test: tuple[StoryPair, ...]
    idioms: tuple[StoryPair, ...]


def _hard(family: str, *, mixed: bool = True) -> Maker:
    return lambda rng, split, key: pronouns.hard_group(rng, family, split, key, mixed=mixed)


def _single(make: Callable[[Random, str], StoryPair]) -> Maker:
    return lambda rng, split, key: [make(rng, split)]


# What is made, its share of training in thousandths, and how many pairs of it val and test hold.
_MIXTURE: tuple[tuple[str, Maker, int, int, int], ...] = (
    *((family, _hard(family), 62, 40, 88) for family in pronouns.HARD),
    *((f"{family} alike", _hard(family, mixed=False), 4, 0, 0) for family in pronouns.HARD),
    ("easy", controls.easy_group, 45, 30, 80),
    ("weather", _single(controls.weather), 20, 10, 30),
    ("object", _single(controls.object_agreement), 25, 15, 40),
    ("possessive", _single(controls.possessive), 25, 15, 40),
    ("number", _single(controls.number), 20, 10, 30),
    ("sense", senses.sense_group, 40, 20, 60),
    ("plain", _single(plain.plain), 290, 100, 250),
)


def _pairs(
    make: Maker, name: str, wanted: int, split: str, seed: int, known: set[str]
) -> Iterator[StoryPair]:
    """Exactly `wanted` new sentences of one kind for one split; a group with a sentence out of place is dropped."""
    rng = Random(f"{seed}/{split}/{name}")
    made = tries = 0
    while made < wanted:
        group = make(rng, split, f"{split}/{name}/{tries}")
        tries += 1
        if tries > 200 * wanted + 1000:
            raise RuntimeError(f"storybook could not make {wanted} sentences of {name!r} for {split}: got {made}")
        group = group[: wanted - made]
        sources = {pair.source for pair in group}
        if len(sources) < len(group) or not known.isdisjoint(sources):
            continue
        if any(split_of(pair.combinations) != split or not 3 <= pair.length <= 40 for pair in group):
            continue
        known |= sources
        made += len(group)
        yield from group


def generate(*, seed: int = 0, train_size: int = 20_000) -> Storybook:
    """Write the corpus: `train_size` training pairs, about 500 for val and 1,200 for test, a pure function of the arguments."""
    known: set[str] = set()
    splits: dict[str, list[StoryPair]] = {"test": [], "val": [], "train": []}
    for column, (split, pairs) in enumerate(splits.items()):
        left = train_size
        for name, make, share, in_val, in_test in _MIXTURE:
            wanted = (in_test, in_val, share * train_size // 1000)[column]
            if split == "train":
                wanted = left if name == _MIXTURE[-1][0] else min(wanted, left)
                left -= wanted
            pairs.extend(_pairs(make, name, wanted, split, seed, known))
        Random(f"{seed}/{split}").shuffle(pairs)
    return Storybook(tuple(splits["train"]), tuple(splits["val"]), tuple(splits["test"]), ())
