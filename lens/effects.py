"""What sets of heads do, by ablation (Michel et al. 2019, Voita et al. 2019).

A small set is found greedily on one half of the data and tested on the other, beside other sets of the same kind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from random import Random
from typing import Literal

import numpy as np
import torch
from transformers import PreTrainedModel

from .choices import Choice, margins
from .hooks import Head
from .intervals import Figure
from .interventions import ablate

# N choices, S sets of heads

DRAWS = 200  # sets of a control, where there are more

Alike = Literal["layers", "kinds", "any"]
Set = tuple[Head, ...]


class Ablations:
    """The margins [N] of some choices with a set of heads replaced by their means; each set runs once."""

    def __init__(self, model: PreTrainedModel, choices: Sequence[Choice], means: Mapping[Head, torch.Tensor]):
        self.model = model
        self.choices = choices
        self.means = means
        self._known: dict[frozenset[Head], np.ndarray] = {}

    def margins(self, heads: Iterable[Head] = ()) -> np.ndarray:
        """log p(right) - log p(wrong) of each choice without these heads."""
        key = frozenset(heads)
        if key not in self._known:
            with ablate(self.model, key, replace="mean", means=self.means):
                self._known[key] = margins(self.model, self.choices)
        return self._known[key]


def greedy(heads: Sequence[Head], size: int, worth: Callable[[Set], tuple[float, ...]]) -> list[Set]:
    """Sets of 1, 2, ... `size` heads, each the previous one plus the head that maximises `worth`."""
    sets: list[Set] = [()]
    for _ in range(min(size, len(heads))):
        sets.append(max(((*sets[-1], head) for head in heads if head not in sets[-1]), key=worth))
    return sets[1:]


@dataclass(frozen=True)
class Control:
    """The effect of a set of heads beside those of `draws` other sets: all `possible` ones, or a random sample.

    Each figure has its 95 % interval over sentences.  `p` is (1 + sets with at least that effect) / (1 + draws); it is
    exact if all sets were tried.  `mean` and `most` are None if there is no other set.
    """

    alike: Alike
    effect: Figure
    mean: Figure | None
    most: Figure | None
    draws: int
    possible: int
    p: float

    @property
    def exact(self) -> bool:
        return self.draws == self.possible


def control(
    chosen: Sequence[Head], heads: Sequence[Head], effect: Callable[[Set], float],
    interval: Callable[[Sequence[Set]], tuple[float, float]], *, alike: Alike, draws: int = DRAWS,
) -> Control:
    """The effect of `chosen` beside that of sets of as many other heads.

    The other sets match its kinds and layers ("layers"), its kinds only ("kinds"), or nothing ("any").  All are tried
    if there are at most `draws`, else a random sample.  `interval` gives the interval of the mean effect of some sets.
    """
    wanted = Counter(_cell(head, alike) for head in chosen)
    others = [head for head in heads if head not in chosen]
    pools = {cell: [head for head in others if _cell(head, alike) == cell] for cell in wanted}
    possible = prod(comb(len(pools[cell]), count) for cell, count in wanted.items())
    if possible <= draws:
        parts = list(product(*(combinations(pools[cell], count) for cell, count in wanted.items())))
    else:
        rng = Random(0)
        parts = [tuple(tuple(rng.sample(pools[cell], count)) for cell, count in wanted.items()) for _ in range(draws)]
    sets = [tuple(sorted(head for part in one for head in part)) for one in parts]
    found, itself = np.array(list(map(effect, sets))), tuple(sorted(chosen))
    own = effect(itself)
    mean = Figure(float(found.mean()), *interval(sets)) if sets else None
    most = Figure(float(found.max()), *interval([sets[int(found.argmax())]])) if sets else None
    p = (1 + int((found >= own - 1e-12).sum())) / (1 + len(found))
    return Control(alike, Figure(own, *interval([itself])), mean, most, len(found), possible, p)


def _cell(head: Head, alike: Alike) -> tuple[str, int]:
    """What a head in another set must share with the one it replaces."""
    return ("" if alike == "any" else head.kind), (head.layer if alike == "layers" else 0)
