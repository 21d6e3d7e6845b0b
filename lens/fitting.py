"""Fitting an alignment choice: everything is tried on development sentences with gold links; the test is never seen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from seq2see.errors import UserError
from seq2see.lens.aer import Agreement, error_rate, summed
from seq2see.lens.alignment import RULES, AlignmentChoice, MapName, Rule, linked, map_names, shares
from seq2see.lens.trace import WITH_HEADS, Rows, Trace
from seq2see.tokenizer.links import Links

# M maps, J target words, I source words, N sentences

THRESHOLDS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
WAYS: list[tuple[Rule, float]] = [(rule, least) for rule in RULES for least in THRESHOLDS if rule != "all" or least]
GAIN = 0.001  # of AER that another map must bring to be averaged in


@dataclass(frozen=True)
class Tried:
    """One candidate and its error on the sentences it was tried on."""

    choice: AlignmentChoice
    aer: float


def fit_alignment(
    traces: Iterable[Trace], gold: Sequence[Links], *, fitted_on: str, guided: bool = False
) -> AlignmentChoice:
    """The choice with the lowest AER on development sentences, over all views that the traces hold.

    Tried are: every map alone, the mean of each layer's heads, and, from the best of each view and row meaning on, sets
    grown map by map while the error falls by `GAIN`; each with every rule and threshold.  `traces` are gone through
    once, so they may be made one by one.  ValueError without sentences; UserError for links to words not there.
    """
    return GoldSentences(traces, gold).fit(fitted_on=fitted_on, guided=guided)


class GoldSentences:
    """Sentences whose links are known, and all their maps by words: what choices are tried on."""

    def __init__(self, traces: Iterable[Trace], gold: Sequence[Links]):
        self.names: dict[tuple[str, Rows], list[MapName]] = {}
        self.gold = list(gold)
        self.shares: list[dict[tuple[str, Rows], np.ndarray]] = []  # of each sentence, [M,J,I]
        for number, (trace, truth) in enumerate(zip(traces, gold, strict=True), start=1):
            if not self.names:
                self.names = {(view, rows): map_names(trace, view) for view in trace.views
                              for rows in get_args(Rows) if (view, rows) != ("left_out", "reads")}
            _check_links(trace, truth, number)
            self.shares.append({(view, rows): shares(trace, view, rows, names)
                                for (view, rows), names in self.names.items()})
        if not self.shares:
            raise ValueError("expected at least one sentence with links")

    def fit(self, *, fitted_on: str, guided: bool = False) -> AlignmentChoice:
        """The best of all that is tried, with its error here: see `fit_alignment`."""
        best = min(self.try_all(grow=True), key=lambda tried: tried.aer).choice
        error = self.agreement(best)
        return replace(best, fitted_on=fitted_on, sentences=error.sentences, aer=error.aer, low=error.low,
                       high=error.high, guided=guided)

    def try_all(self, *, grow: bool = False) -> list[Tried]:
        """Every map of every view and row meaning, each with its best rule and threshold; with `grow`, sets of maps."""
        found: list[Tried] = []
        for (view, rows), names in self.names.items():
            found += self._try_sets(view, rows, [(name,) for name in names])
            if grow and len(names) > 1:
                if view in WITH_HEADS:
                    layers = sorted({name[0] for name in names})
                    groups = [tuple(name for name in names if name[0] == layer) for layer in layers]
                    found += self._try_sets(view, rows, [group for group in groups if len(group) > 1])
                found += self._grown(view, rows)
        return found

    def agreement(self, choice: AlignmentChoice) -> Agreement:
        """The error of a choice on these sentences, with its interval."""
        asked = choice.view, choice.rows
        if asked not in self.names or not set(choice.maps) <= set(self.names[asked]):
            raise UserError(f"these sentences were not traced with all of: {choice.describe()}")
        weight_M = _weights([choice.maps], self.names[asked])
        counts_N4 = np.stack([
            tally(np.tensordot(weight_M, maps[asked], axes=1), truth, [(choice.rule, choice.threshold)])[0, 0]
            for maps, truth in zip(self.shares, self.gold, strict=True)
        ])
        return summed(counts_N4)

    def _grown(self, view: str, rows: Rows) -> list[Tried]:
        """Sets that start with the best map alone and take in one map after another."""
        steps: list[Tried] = []
        while True:
            held = steps[-1].choice.maps if steps else ()
            tried = self._try_sets(view, rows, [(*held, name) for name in self.names[view, rows] if name not in held])
            best = min(tried, key=lambda one: one.aer, default=None)
            if best is None or (steps and best.aer > steps[-1].aer - GAIN):
                return steps[1:]  # each map alone has been tried
            steps.append(best)

    def _try_sets(self, view: str, rows: Rows, sets: Sequence[tuple[MapName, ...]]) -> list[Tried]:
        """Each set's mean, with its own best rule and threshold."""
        if not sets:
            return []
        weights = _weights(sets, self.names[view, rows])
        total = np.zeros((len(sets), len(WAYS), 4))
        for maps, truth in zip(self.shares, self.gold, strict=True):
            total += tally(np.tensordot(weights, maps[view, rows], axes=1), truth, WAYS)
        errors = error_rate(total)
        best = errors.argmin(1)
        return [Tried(AlignmentChoice(view, rows, group, *WAYS[way]), float(row[way]))
                for group, row, way in zip(sets, errors, best, strict=True)]


def _weights(sets: Sequence[tuple[MapName, ...]], names: list[MapName]) -> np.ndarray:
    """[sets,M]: what each map counts in the mean of each set."""
    return np.array([[(name in group) / len(group) for name in names] for group in sets], dtype=np.float32)


def tally(maps_MJI: np.ndarray, gold: Links, ways: Sequence[tuple[Rule, float]]) -> np.ndarray:
    """[M,ways,4]: what `aer.counts` counts, of each map under each rule and threshold."""
    truth_JI2 = np.zeros((*maps_MJI.shape[1:], 2), dtype=np.float32)
    for column, links in enumerate((gold.sure, gold.all)):
        for i, j in links:
            truth_JI2[j, i, column] = 1
    by_rule = {rule: linked(maps_MJI, rule, 0.0) for rule, _ in ways}
    enough = {threshold: maps_MJI >= threshold for _, threshold in ways}
    found = np.stack([by_rule[rule] & enough[threshold] for rule, threshold in ways], axis=1)
    flat = found.reshape(*found.shape[:2], -1).astype(np.float32)
    counted = np.empty((*flat.shape[:2], 4))
    counted[..., 0], counted[..., 1] = flat.sum(-1), len(gold.sure)
    counted[..., 2:] = flat @ truth_JI2.reshape(-1, 2)
    return counted


def _check_links(trace: Trace, gold: Links, number: int) -> None:
    sizes = len(trace.source_words), len(trace.target_words)
    for i, j in gold.all:
        if i >= sizes[0] or j >= sizes[1]:
            raise UserError(f"sentence {number}: link {i}-{j}, but its source has {sizes[0]} words and its target"
                            f" {sizes[1]}: words are counted from 0, as seq2see splits them")
