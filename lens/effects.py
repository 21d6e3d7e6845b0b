"""What heads do, by intervention: the loss of right pronouns when some are switched off, and how special those are.

A role is a claim and an intervention its evidence (Michel et al. 2019, Voita et al. 2019).  A small set of heads is
found greedily on one half of the data and tried on the other, beside random sets of the same make.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from random import Random
from typing import Literal

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.lens.ablation import Head, ablate
from seq2see.lens.choices import Choice, margins

# N choices

DRAWS = 200


Alike = Literal["layers", "kinds", "any"]


class Ablations:
    """The margins [N] of some choices with any set of heads replaced by their means; a set is run once."""

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


def told_apart(margins_N: np.ndarray, is_first_N: np.ndarray) -> float:
    """How well two answers are told apart, whatever the leaning to one of them: 0.5 by chance, 1 always.

    The probability that of two sentences, one whose right answer is the first and one whose is the second, the model
    leans to the first answer more in the former (the area under the ROC curve; a tie counts half).
    """
    leaning = np.where(is_first_N, margins_N, -margins_N)
    first, second = leaning[is_first_N], np.sort(leaning[~is_first_N])
    if not len(first) or not len(second):
        raise ValueError("expected choices of both answers")
    below = np.searchsorted(second, first, side="left") + np.searchsorted(second, first, side="right")
    return float(below.mean() / 2 / len(second))


def greedy(
    heads: Sequence[Head], size: int, worth: Callable[[tuple[Head, ...]], tuple[float, ...]]
) -> list[tuple[Head, ...]]:
    """Sets of 1, 2, ... `size` heads, each the one before and the head that makes `worth` largest."""
    sets: list[tuple[Head, ...]] = [()]
    for _ in range(min(size, len(heads))):
        sets.append(max(((*sets[-1], head) for head in heads if head not in sets[-1]), key=worth))
    return sets[1:]


@dataclass(frozen=True)
class Control:
    """An effect beside those of `draws` random sets, of which `possible` different ones exist.

    `p` is (1 + draws with at least that effect) / (1 + draws); it cannot fall below about 1 / `possible`.
    """

    alike: Alike
    effect: float
    mean: float
    most: float
    draws: int
    possible: int
    p: float


def control(
    chosen: Sequence[Head], heads: Sequence[Head], effect: Callable[[tuple[Head, ...]], float], *,
    alike: Alike, seed: int = 0, draws: int = DRAWS,
) -> Control:
    """The effect of `chosen` beside that of random sets of as many heads.

    They are of the same kinds and layers ("layers"), of the same kinds and any layer ("kinds"), or any heads at all.
    The chosen set itself may be drawn.
    """
    wanted = Counter(_cell(head, alike) for head in chosen)
    pools = {cell: [head for head in heads if _cell(head, alike) == cell] for cell in wanted}
    rng = Random(seed)
    found = np.array([
        effect(tuple(sorted(head for cell, count in wanted.items() for head in rng.sample(pools[cell], count))))
        for _ in range(draws)
    ])
    own = effect(tuple(sorted(chosen)))
    possible = prod(comb(len(pools[cell]), count) for cell, count in wanted.items())
    as_large = int((found >= own - 1e-12).sum())
    return Control(alike, own, float(found.mean()), float(found.max()), draws, possible, (1 + as_large) / (1 + draws))


def _cell(head: Head, alike: Alike) -> tuple[str, int]:
    """What a head's place in a random set must share with it."""
    return ("" if alike == "any" else head.kind), (head.layer if alike == "layers" else 0)
