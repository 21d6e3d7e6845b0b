"""How well links agree with a gold standard: precision, recall and the alignment error rate.

    precision = |A n P| / |A|     recall = |A n S| / |S|     AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)

of the links A found, the sure gold links S and the possible ones P, which include the sure (Och and Ney 2003, "A
Systematic Comparison of Various Statistical Alignment Models", section 4.2).  Counts are summed over the corpus, so
that a long sentence weighs more than a short one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..tokenizer.links import Link, Links

DRAWS = 1000  # resampled corpora of an interval


@dataclass(frozen=True)
class Agreement:
    """Error and its 95 % interval, precision and recall, of the links of so many sentences; all from 0 to 1."""

    aer: float
    low: float
    high: float
    precision: float
    recall: float
    sentences: int

    def __str__(self) -> str:
        return (f"AER {100 * self.aer:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f}),"
                f" precision {100 * self.precision:.1f}, recall {100 * self.recall:.1f}, {self.sentences} sentences")


def counts(found: Iterable[Link], gold: Links) -> np.ndarray:
    """[4]: how many links were found, how many are sure, how many of those found are sure, and how many possible."""
    links = set(found)
    return np.array([len(links), len(gold.sure), len(links & gold.sure), len(links & gold.all)], dtype=np.int64)


def error_rate(counts_4: np.ndarray) -> np.ndarray:
    """AER of counts [...,4]; 0 where there is neither a link found nor a sure one."""
    found, sure, found_sure, found_possible = np.moveaxis(counts_4, -1, 0)
    rate: np.ndarray = 1 - (found_sure + found_possible) / np.maximum(found + sure, 1)
    return np.where(found + sure > 0, rate, 0.0)


def agreement(
    found: Sequence[Iterable[Link]], gold: Sequence[Links], *, groups: Sequence[str] | None = None, seed: int = 0
) -> Agreement:
    """Of the links of many sentences.  The interval is the bootstrap's, over sentences or, where it is said which are
    variants of one sentence, over `groups` of them.  ValueError for no sentence."""
    if not gold:
        raise ValueError("expected at least one sentence")
    counts_N4 = np.array([counts(links, truth) for links, truth in zip(found, gold, strict=True)])
    return summed(counts_N4, groups=groups, seed=seed)


def summed(counts_N4: np.ndarray, *, groups: Sequence[str] | None = None, seed: int = 0) -> Agreement:
    """As `agreement`, of counts that have been made."""
    sentences = len(counts_N4)
    low, high = np.quantile(error_rate(resampled(sentences, groups, seed=seed) @ counts_N4), [0.025, 0.975])
    total = counts_N4.sum(0)
    found, sure, found_sure, found_possible = total.tolist()
    return Agreement(
        float(error_rate(total)), float(low), float(high), found_possible / max(found, 1), found_sure / max(sure, 1),
        sentences,
    )


def resampled(count: int, groups: Sequence[str] | None = None, *, seed: int = 0) -> np.ndarray:
    """[draws, count]: how often each of so many sentences, or groups of them, is in each resampled corpus.

    With `groups`, the name of each sentence's, whole ones are drawn: variants of a sentence are not independent.
    """
    member_N = group_numbers(count, groups)
    times = _times(int(member_N.max()) + 1, seed)
    return times if groups is None else times[:, member_N]


@lru_cache(maxsize=4)  # a report has hundreds of intervals over the same few corpora, and drawing is most of the work
def _times(count: int, seed: int) -> np.ndarray:
    times: np.ndarray = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=DRAWS)
    times.flags.writeable = False
    return times


def group_numbers(count: int, groups: Sequence[str] | None) -> np.ndarray:
    """[count]: the number of each sentence's group, counted as they come; without groups each sentence is one."""
    if groups is None:
        return np.arange(count)
    if len(groups) != count:
        raise ValueError(f"expected the group of each of {count} sentences, got {len(groups)}")
    numbers = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    return np.array([numbers[name] for name in groups])
