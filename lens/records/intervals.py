"""Measures of agreement with 95 % intervals, by bootstrap over sentences.

Variants of one sentence are not independent, so they are resampled together.  The alignment error rate compares the
links A of a system with the sure gold links S and the possible gold links P, which include the sure ones (Och and Ney
2003, "A Systematic Comparison of Various Statistical Alignment Models", section 4.2):

    precision = |A n P| / |A|     recall = |A n S| / |S|     AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)

Counts are summed over the corpus, so a long sentence weighs more than a short one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from ...text.word_links import Link, Links

# N sentences or choices, S sets of heads

DRAWS = 1000  # resampled corpora of an interval
BLOCKS = 10_000  # drawn for `intervals` at most: 80 MB of draws


class Estimate(NamedTuple):
    """A measured value with a lower and an upper bound.

    The bounds are a 95 % bootstrap interval (`of`), or the lowest and highest value of several seeds (`seeds`).
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray | Sequence[float], groups: Sequence[str] | np.ndarray | None = None) -> Self:
        """The mean of some values and its interval, resampled by `groups`; NaN without values."""
        values = np.asarray(values, dtype=float)
        if not len(values):
            return cls(math.nan, math.nan, math.nan)
        groups = np.arange(len(values)).astype(str) if groups is None else groups
        return cls(float(values.mean()), *interval(values, groups))

    @classmethod
    def seeds(cls, values: np.ndarray | Sequence[float]) -> Self:
        """A mean over seeds, with the lowest and the highest value."""
        values = np.asarray(values, dtype=float)
        return cls(float(values.mean()), float(values.min()), float(values.max()))

    def written(self, number: Callable[[float], str]) -> str:
        """The estimate as text, with a function that formats a number: `0.5 (0.2 to 0.7)`, or one number if all three
        look equal.
        """
        value, low, high = map(number, self)
        return value if low == value == high else f"{value} ({low} to {high})"

    def __format__(self, spec: str) -> str:
        return self.written(lambda part: "–" if math.isnan(part) else format(part, spec).replace("-", "−"))


def resampled(count: int, groups: Sequence[str] | None = None, *, seed: int = 0) -> np.ndarray:
    """[draws, count]: how often each sentence occurs in each resampled corpus; whole `groups` are drawn."""
    member_N = group_numbers(count, groups)
    times = _times(int(member_N.max()) + 1, seed)
    return times if groups is None else times[:, member_N]


@lru_cache(maxsize=4)  # a report has hundreds of intervals over the same corpora, and drawing takes longest
def _times(count: int, seed: int) -> np.ndarray:
    times: np.ndarray = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=DRAWS)
    times.flags.writeable = False
    return times


def group_numbers(count: int, groups: Sequence[str] | None) -> np.ndarray:
    """[count]: the index of each sentence's group, in order of appearance; without groups each sentence is a group."""
    if groups is None:
        return np.arange(count)
    if len(groups) != count:
        raise ValueError(f"expected the group of each of {count} sentences, got {len(groups)}")
    numbers = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    return np.array([numbers[name] for name in groups])


def middle(drawn: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of a measure's values on resampled corpora."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def interval(values: np.ndarray, groups: Sequence[str] | np.ndarray) -> tuple[float, float]:
    """The interval of a mean, over `groups`."""
    member = np.unique(np.array(groups), return_inverse=True)[1]
    sums, counts = np.bincount(member, weights=values), np.bincount(member)
    drawn = resampled(len(counts))
    return middle((drawn @ sums) / (drawn @ counts))


def intervals(values_NM: np.ndarray, groups: Sequence[str] | np.ndarray) -> np.ndarray:
    """[2,M]: the intervals of M means over the same groups.

    More groups than BLOCKS are drawn in that many blocks of neighbours.  This keeps memory constant and hardly changes
    the interval.
    """
    member_N = np.unique(np.array(groups), return_inverse=True)[1]
    blocks = min(BLOCKS, member_N.max() + 1)
    member_N = member_N * blocks // (member_N.max() + 1)
    sums = np.zeros((blocks, values_NM.shape[1]))
    np.add.at(sums, member_N, values_NM)
    drawn = resampled(blocks)
    found: np.ndarray = np.quantile((drawn @ sums) / (drawn @ np.bincount(member_N))[:, None], [0.025, 0.975], axis=0)
    return found


def share_interval(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share of independent cases (Wilson 1927)."""
    z2 = 1.96**2
    middle_of, half = count + z2 / 2, math.sqrt(z2 * (count * (total - count) / total + z2 / 4))
    return (middle_of - half) / (total + z2), (middle_of + half) / (total + z2)


# --- alignment error


def counts(found: Iterable[Link], gold: Links) -> np.ndarray:
    """[4]: the numbers of links of the system, of sure gold links, of system links that are sure, and of those that are
    possible.
    """
    links = set(found)
    return np.array([len(links), len(gold.sure), len(links & gold.sure), len(links & gold.all)], dtype=np.int64)


def error_rate(counts_4: np.ndarray) -> np.ndarray:
    """AER of counts [...,4]; 0 if there are neither system links nor sure gold links."""
    found, sure, found_sure, found_possible = np.moveaxis(counts_4, -1, 0)
    rate: np.ndarray = 1 - (found_sure + found_possible) / np.maximum(found + sure, 1)
    return np.where(found + sure > 0, rate, 0.0)


def precision(counts_4: np.ndarray) -> np.ndarray:
    """The share of system links that are possible, from counts [...,4]; 0 without system links."""
    found, _, _, found_possible = np.moveaxis(counts_4, -1, 0)
    return np.asarray(found_possible / np.maximum(found, 1))


def recall(counts_4: np.ndarray) -> np.ndarray:
    """The share of sure gold links that the system has, from counts [...,4]; 0 without sure gold links."""
    _, sure, found_sure, _ = np.moveaxis(counts_4, -1, 0)
    return np.asarray(found_sure / np.maximum(sure, 1))


RATES = {"aer": error_rate, "precision": precision, "recall": recall}


def agreement(
    found: Sequence[Iterable[Link]], gold: Sequence[Links], *, groups: Sequence[str] | None = None, seed: int = 0
) -> dict[str, Estimate]:
    """The alignment error rate, precision and recall of links over sentences (Och and Ney 2003, section 4.2).

    Args:
        found: the links (source word, target word) of each sentence that are compared with `gold`.
        gold: the gold links of each sentence.
        groups: the group of each sentence; variants of one sentence share a group and are resampled together.
        seed: the seed of the bootstrap.

    Returns:
        `aer`, `precision` and `recall`, from 0 to 1, each with its 95 % bootstrap interval.

    Raises:
        ValueError: there are no sentences, or `found` and `gold` differ in length.
    """
    if not gold:
        raise ValueError("expected at least one sentence")
    counts_N4 = np.array([counts(links, truth) for links, truth in zip(found, gold, strict=True)])
    return summed(counts_N4, groups=groups, seed=seed)


def summed(counts_N4: np.ndarray, *, groups: Sequence[str] | None = None, seed: int = 0) -> dict[str, Estimate]:
    """`agreement` from counts."""
    total_4, drawn_D4 = counts_N4.sum(0), resampled(len(counts_N4), groups, seed=seed) @ counts_N4
    return {name: Estimate(float(rate(total_4)), *middle(rate(drawn_D4))) for name, rate in RATES.items()}


# --- ROC AUC


def roc_auc(margins_N: np.ndarray, is_first_N: np.ndarray) -> float:
    """The area under the ROC curve: how well a model separates two answers, whatever its bias; 0.5 is chance, 1
    perfect.

    Take one sentence whose right answer is the first, and one whose right answer is the second.  The area is the
    probability that the model prefers the first answer more strongly in the former; a tie counts half.

    Args:
        margins_N: the margin of each sentence, log p(right) - log p(wrong), or another score that grows with the
            preference for the right answer.  It is not the preference for the first answer.
        is_first_N: whether the first answer is right.
    """
    if is_first_N.all() or not is_first_N.any():
        raise ValueError("expected choices of both answers")
    return float(_pairs_in_order(margins_N[None], is_first_N).mean())


def _pairs_in_order(margins_SN: np.ndarray, is_first_N: np.ndarray) -> np.ndarray:
    """[first, second]: for each pair of sentences the share of margins [S,N] in the right order."""
    more = np.zeros((is_first_N.sum(), (~is_first_N).sum()))
    for signed_N in np.where(is_first_N, margins_SN, -margins_SN):
        first, second = signed_N[is_first_N][:, None], signed_N[~is_first_N]
        more += ((first > second) + (first == second) / 2) / len(margins_SN)
    return more


def roc_auc_interval(margins: np.ndarray, is_first_N: np.ndarray, groups: Sequence[str]) -> tuple[float, float]:
    """The 95 % bootstrap interval of `roc_auc`, over groups of sentences; for margins [S,N], of the mean over S.

    If (almost) all pairs are in the right order, resampled corpora hardly differ.  So the lower end is at most the
    exact bound for n correct pairs, all independent: 0.025^(1/n) (Clopper and Pearson 1934).  No two of these pairs
    share a group.  The upper end has the same correction.
    """
    more = _pairs_in_order(np.atleast_2d(margins), is_first_N)
    drawn = resampled(len(is_first_N), groups)
    ours, others = drawn[:, is_first_N], drawn[:, ~is_first_N]
    pairs = ours.sum(1) * others.sum(1)
    low, high = middle((((ours @ more) * others).sum(1) / np.maximum(pairs, 1))[pairs > 0])
    ones, twos = (set(np.array(groups)[side]) for side in (is_first_N, ~is_first_N))
    bound = 0.025 ** (1 / max(1, min(len(ones), len(twos), len(ones | twos) // 2)))
    return min(low, bound), max(high, 1 - bound)
