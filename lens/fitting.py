"""Fitting an alignment choice: everything is tried on development sentences with gold links; the test is never seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from seq2see.errors import UserError
from seq2see.lens.aer import error_rate, summed
from seq2see.lens.alignment import RULES, AlignmentChoice, MapName, linked, map_names, shares
from seq2see.lens.trace import WITH_HEADS, Rows, Trace
from seq2see.tokenizer.links import Links

# M maps, J target words, I source words, N sentences, R rules, X thresholds

THRESHOLDS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
GAIN = 0.001  # of AER that another map must bring to be averaged in


@dataclass(frozen=True)
class Tried:
    """One candidate and its error on the sentences it was tried on."""

    choice: AlignmentChoice
    aer: float


def fit_alignment(
    traces: Sequence[Trace], gold: Sequence[Links], *, fitted_on: str, guided: bool = False
) -> AlignmentChoice:
    """The choice with the lowest AER on development sentences, over all views that the traces hold.

    Tried are: every map alone, the mean of each layer's heads, and, from the best of each view and row meaning on, sets
    grown map by map while the error falls by `GAIN`; each with every rule and threshold.  ValueError without sentences.
    """
    best = min(try_all(traces, gold, grow=True), key=lambda tried: tried.aer).choice
    return measured(best, traces, gold, fitted_on=fitted_on, guided=guided)


def measured(
    choice: AlignmentChoice, traces: Sequence[Trace], gold: Sequence[Links], *, fitted_on: str, guided: bool = False
) -> AlignmentChoice:
    """The choice with its error on these sentences."""
    counts_N4 = np.stack([
        _tally(shares(trace, choice.view, choice.rows, choice.maps).mean(0, keepdims=True), truth,
               [(choice.rule, choice.threshold)])[0, 0] for trace, truth in zip(traces, gold, strict=True)
    ])  # fmt: skip
    error = summed(counts_N4)
    return replace(choice, fitted_on=fitted_on, sentences=len(traces), aer=error.aer, low=error.low, high=error.high,
                   guided=guided)


def try_all(traces: Sequence[Trace], gold: Sequence[Links], *, grow: bool = False) -> list[Tried]:
    """Every map of every view and row meaning, each with its own best rule and threshold; with `grow`, sets of maps."""
    if not traces or len(traces) != len(gold):
        raise ValueError(f"expected links for at least one trace: {len(traces)} traces, {len(gold)} links")
    _check_links(traces, gold)
    found: list[Tried] = []
    for view in traces[0].views:
        for rows in get_args(Rows) if view != "left_out" else ("predicts",):
            names = map_names(traces[0], view)
            maps = [shares(trace, view, rows, names) for trace in traces]
            found += _try_sets(maps, gold, view, rows, [(name,) for name in names], names)
            if grow and len(names) > 1:
                layers = sorted({name[0] for name in names}) if view in WITH_HEADS else []
                groups = [tuple(name for name in names if name[0] == layer) for layer in layers]
                found += _try_sets(maps, gold, view, rows, [group for group in groups if len(group) > 1], names)
                found += _grown(maps, gold, view, rows, names)
    return found


def _grown(
    maps: list[np.ndarray], gold: Sequence[Links], view: str, rows: Rows, names: list[MapName]
) -> list[Tried]:
    """Sets that start with the best map alone and take in one map after another."""
    steps: list[Tried] = []
    while True:
        held = steps[-1].choice.maps if steps else ()
        tried = _try_sets(maps, gold, view, rows, [(*held, name) for name in names if name not in held], names)
        best = min(tried, key=lambda one: one.aer, default=None)
        if best is None or (steps and best.aer > steps[-1].aer - GAIN):
            return steps
        steps.append(best)


def _try_sets(
    maps: list[np.ndarray], gold: Sequence[Links], view: str, rows: Rows, sets: list[tuple[MapName, ...]],
    names: list[MapName],
) -> list[Tried]:
    """Each set's mean, with its own best rule and threshold."""
    if not sets:
        return []
    weights = np.array([[(name in group) / len(group) for name in names] for group in sets], dtype=np.float32)
    ways = [(rule, threshold) for rule in RULES for threshold in THRESHOLDS if rule != "all" or threshold]
    total = np.zeros((len(sets), len(ways), 4))
    for maps_MJI, truth in zip(maps, gold, strict=True):
        total += _tally(np.tensordot(weights, maps_MJI, axes=1), truth, ways)
    errors = error_rate(total)
    found = []
    for group, row in zip(sets, errors, strict=True):
        way = int(row.argmin())
        found.append(Tried(AlignmentChoice(view, rows, group, *ways[way]), float(row[way])))
    return found


def _tally(maps_MJI: np.ndarray, gold: Links, ways: Sequence[tuple]) -> np.ndarray:
    """[M,ways,4]: what `aer.counts` counts, of each map under each rule and threshold."""
    truth_JI2 = np.zeros((*maps_MJI.shape[1:], 2), dtype=np.float32)
    for i, j in gold.all:
        truth_JI2[j, i, 1] = 1
    for i, j in gold.sure:
        truth_JI2[j, i, 0] = 1
    by_rule = {rule: linked(maps_MJI, rule, 0.0) for rule, _ in ways}
    enough = {threshold: maps_MJI >= threshold for _, threshold in ways}
    found = np.stack([by_rule[rule] & enough[threshold] for rule, threshold in ways], axis=1)
    flat = found.reshape(*found.shape[:2], -1).astype(np.float32)
    counted = np.empty((*flat.shape[:2], 4))
    counted[..., 0], counted[..., 1] = flat.sum(-1), len(gold.sure)
    counted[..., 2:] = flat @ truth_JI2.reshape(-1, 2)
    return counted


def _check_links(traces: Sequence[Trace], gold: Sequence[Links]) -> None:
    for number, (trace, truth) in enumerate(zip(traces, gold, strict=True), start=1):
        sizes = len(trace.source_words), len(trace.target_words)
        for link in truth.all:
            if link[0] >= sizes[0] or link[1] >= sizes[1]:
                raise UserError(f"sentence {number}: link {link[0]}-{link[1]}, but its source has {sizes[0]} words and"
                                f" its target {sizes[1]}: words are counted from 0, as seq2see splits them")
