"""Measures `Trust`: the faithfulness of every map of cross-attention in every view, on held-out sentences."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...passes.attention_kinds import MapName, Rows
from ...text.word_links import Links
from ..data.view_names import ATTRIBUTIONS, VIEW
from ..records.intervals import Estimate, error_rate, middle, resampled
from ..records.trust import NOISE, Key, MapTrust, Trust
from ..trace import Trace
from .alignment_choice import drops_by_words, map_names, shares
from .alignment_fitting import check_links, tally

# M maps, J target words, I source words, N sentences, P pairs of source words

RANDOM_MAPS = 10  # of each sentence


def measure_trust(
    dev: Iterable[Trace], test: Iterable[Trace], *,
    dev_gold: Sequence[Links] | None, test_gold: Sequence[Links] | None,
    measured_on: str, groups: Sequence[str] | None = None, weights: str = "", supervised: Collection[MapName] = (),
) -> Trust:
    """Measure how faithful every map of cross-attention is, in all views of the traces, including left_out.

    Args:
        dev: traces for choosing the best map of each view: by AER or, without gold links, by tau.  They are read once.
        test: traces for all reported figures.  They are read once.
        dev_gold: the gold links of `dev`; None if there are none.
        test_gold: the gold links of `test`; None if there are none.
        measured_on: the name of the data, to store with the figures.
        groups: the group of each test sentence; variants of one sentence share a group.  Intervals are over groups.
        weights: the fingerprint of the model's weights.
        supervised: the heads (layer, head) that were trained with gold links.

    Raises:
        ValueError: there are no sentences.
        UserError: a link names a word that the sentence does not have.
    """
    chosen, reported = Tallied.of(dev, dev_gold), Tallied.of(test, test_gold)
    *maps, random = reported.figures(groups, supervised)
    figures = {one.key: one for one in maps}
    best: dict[str, tuple[float, Key]] = {}
    errors = -chosen.taus_MN.sum(1) if chosen.counts_MN4 is None else error_rate(chosen.counts_MN4.sum(1))
    for error, key in zip(errors.tolist()[:-1], chosen.keys[:-1], strict=True):
        best[key[0]] = min(best.get(key[0], (np.inf, key)), (error, key), key=lambda pair: pair[0])
    return Trust(
        measured_on=measured_on, sentences=len(reported.words_N2), chosen_on=len(chosen.words_N2), random=random,
        best=tuple(figures[key] for _, key in best.values()), maps=tuple(figures.values()), weights=weights,
        words=int(reported.words_N2[:, 1].sum()),
    )


@dataclass(frozen=True, eq=False)
class Tallied:
    """The counts of each sentence, map by map; last comes the mean of random maps.

    Rows of a random map are drawn uniformly from all that sum to 1.  `words_N2` counts for each sentence its comparable
    target words, and the source words in these comparisons.
    """

    keys: list[Key]
    counts_MN4: np.ndarray | None
    taus_MN: np.ndarray
    words_N2: np.ndarray

    @classmethod
    def of(cls, traces: Iterable[Trace], gold: Sequence[Links] | None) -> "Tallied":
        counts, taus, words = [], [], []
        dice = np.random.default_rng(0)
        names: dict[tuple[str, Rows], list[MapName]] = {}
        for number, trace in enumerate(traces):
            names = names or map_names(trace)
            maps_MJI = np.concatenate([shares(trace, view, rows, maps) for (view, rows), maps in names.items()])
            random_MJI = dice.exponential(size=(RANDOM_MAPS, *maps_MJI.shape[1:]))
            every_MJI = np.concatenate([maps_MJI, random_MJI])
            signed_MJI = np.concatenate([shares(trace, view, rows, maps, signed=view in ATTRIBUTIONS)
                                         for (view, rows), maps in names.items()])
            tau_MJ, compared_J = kendall(np.concatenate([signed_MJI, random_MJI]), drops_by_words(trace), least=NOISE)
            taus.append(_chance_last(tau_MJ.sum(-1)))
            words.append([(compared_J > 0).sum(), compared_J.sum()])
            if gold is not None:
                check_links(gold[number], (trace.source_words, trace.target_words), f"sentence {number + 1}")
                counts.append(_chance_last(tally(every_MJI, gold[number], [("target", 0.0)])[:, 0]))
        if not words:
            raise ValueError("expected at least one sentence")
        keys: list[Key] = [(view, rows, name) for (view, rows), maps in names.items() for name in maps]
        return cls([*keys, ("random", "predicts", ())], np.stack(counts, axis=1) if counts else None,
                   np.stack(taus, axis=1), np.array(words))

    def figures(self, groups: Sequence[str] | None, supervised: Collection[MapName]) -> list[MapTrust]:
        drawn, words_N = resampled(len(self.words_N2), groups), self.words_N2[:, 0]
        found = []
        for m, key in enumerate(self.keys):
            aer: Estimate | None = None
            tau: Estimate | None = None
            if self.counts_MN4 is not None:
                counts_N4 = self.counts_MN4[m]
                aer = estimate(error_rate(counts_N4.sum(0)), error_rate(drawn @ counts_N4))
            if words_N.any() and key[0] != "left_out":
                taus_N = self.taus_MN[m]
                tau = estimate(taus_N.sum() / words_N.sum(), drawn @ taus_N / np.maximum(drawn @ words_N, 1))
            found.append(MapTrust(*key, aer, tau, _holds(key, supervised)))
        return found


def _holds(key: Key, heads: Collection[MapName]) -> bool:
    """Whether a map shows one of these heads, its layer or, in views through layers, a layer above it."""
    view, _, name = key
    if view in ATTRIBUTIONS:  # of what the model writes, not of its heads
        return False
    return any(head[: len(name)] == name or (VIEW[view].through_layers and head[:1] < name) for head in heads if name)


def estimate(value: Any, drawn: np.ndarray) -> Estimate:
    return Estimate(*(round(float(part), 5) for part in (value, *middle(drawn))))


def _chance_last(per_map: np.ndarray) -> np.ndarray:
    """Replaces the random maps at the end by their mean."""
    return np.concatenate([per_map[:-RANDOM_MAPS], per_map[-RANDOM_MAPS:].mean(0, keepdims=True)])


def kendall(maps_MJI: np.ndarray, drops_JI: np.ndarray, *, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's tau-b of each row with the drops [M,J], and the number of columns it uses [J].

    Columns with drops smaller than `least` are ignored.  A row of equal weights gets 0.  Equal drops, or fewer than
    two, cannot be compared: 0 columns.
    """
    tau_MJ, compared_J = np.zeros(maps_MJI.shape[:2]), np.zeros(len(drops_JI), dtype=int)
    for j, all_I in enumerate(drops_JI):  # of all target words at once the pairs would fill the memory
        kept = np.flatnonzero(abs(all_I) >= least)
        drops_I, (first, second) = all_I[kept], np.triu_indices(len(kept), 1)
        order_MP = np.sign(maps_MJI[:, j, kept[first]] - maps_MJI[:, j, kept[second]])
        order_P = np.sign(drops_I[first] - drops_I[second])
        scale_M = np.sqrt(np.abs(order_MP).sum(-1) * np.abs(order_P).sum())
        np.divide(order_MP @ order_P, scale_M, out=tau_MJ[:, j], where=scale_M > 0)
        compared_J[j] = len(kept) if order_P.any() else 0
    return tau_MJ, compared_J
