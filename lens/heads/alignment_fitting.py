"""Fits an alignment choice on development sentences with gold links; test sentences are never used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from seq2see.errors import UserError
from ...passes.attention_kinds import MapName, Rows
from ...text.word_links import Link, Links
from ...tokenizer.words import Word
from ..records.intervals import Estimate, error_rate, group_numbers, summed
from ..trace import Trace
from .alignment_choice import RULES, AlignmentChoice, Rule, evidence, linked, map_names, shares

# M maps, K pieces of evidence, J target words, I source words, N sentences

THRESHOLDS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
WAYS: list[tuple[Rule, float]] = [(rule, least) for rule in RULES for least in THRESHOLDS if rule != "all" or least]
RIDGE = 1.0  # a normal prior of variance 1 on each weight
STEPS = 20  # of Newton's method at most
STILL = 1e-4  # a step smaller than this in every weight is the last


@dataclass(frozen=True)
class Tried:
    """A candidate and its error on the sentences it was tried on.

    For regression weights the error is cross-validated over two halves, and `halves` is its interval.
    """

    choice: AlignmentChoice
    aer: float
    halves: Estimate | None = None


def fit_alignment(
    traces: Iterable[Trace], gold: Sequence[Links], *, fitted_on: str, groups: Sequence[str] | None = None,
    guided: bool = False, fingerprint: str = "",
) -> AlignmentChoice:
    """Find the alignment choice with the lowest AER on development sentences, over all views in the traces.

    The candidates are every single map, and all maps of a view combined by logistic regression, each with every rule
    and threshold.  A regression is evaluated by cross-validation over two halves and then fitted to all sentences.  A
    single map is evaluated on the same sentences that it is chosen on.

    Args:
        traces: the traces of the sentences; they are read once, so a generator works.
        gold: the gold links of each sentence.
        fitted_on: the name of the data, to store with the choice.
        groups: the group of each sentence; variants of one sentence share a group.  Intervals are over groups, and a
            group is never split between the halves.
        guided: whether a head of the model was trained with gold links.
        fingerprint: identifies the model's weights.

    Raises:
        ValueError: there are no sentences.
        UserError: a link names a word that the sentence does not have.
    """
    return GoldSentences(traces, gold, groups).fit(fitted_on=fitted_on, guided=guided, fingerprint=fingerprint)


class GoldSentences:
    """Sentences with gold links and all their maps by words: the data for trying choices."""

    def __init__(self, traces: Iterable[Trace], gold: Sequence[Links], groups: Sequence[str] | None = None):
        self.names: dict[tuple[str, Rows], list[MapName]] = {}
        self.gold = list(gold)
        self.shares: list[dict[tuple[str, Rows], np.ndarray]] = []  # of each sentence, [M,J,I]
        for number, (trace, truth) in enumerate(zip(traces, gold, strict=True), start=1):
            if not self.names:
                self.names = map_names(trace)
            check_links(truth, (trace.source_words, trace.target_words), f"sentence {number}")
            self.shares.append({(view, rows): shares(trace, view, rows, names)
                                for (view, rows), names in self.names.items()})
        if not self.shares:
            raise ValueError("expected at least one sentence with links")
        self.groups = groups
        self.halves = group_numbers(len(self.gold), groups) % 2  # of each sentence, which one it is in

    def fit(self, *, fitted_on: str, guided: bool = False, fingerprint: str = "") -> AlignmentChoice:
        """The best candidate, with its error here: see `fit_alignment`."""
        best = min([*self.try_maps(), *self.try_weights()], key=lambda tried: tried.aer)
        aer, low, high = best.halves or self.agreement(best.choice)["aer"]
        return replace(best.choice, fitted_on=fitted_on, sentences=len(self.gold), aer=aer, low=low, high=high,
                       guided=guided, fingerprint=fingerprint)

    def try_maps(self) -> list[Tried]:
        """Every map of every view and row meaning, each with its best rule and threshold."""
        found: list[Tried] = []
        for (view, rows), names in self.names.items():
            total = np.zeros((len(names), len(WAYS), 4))
            for maps, truth in zip(self.shares, self.gold, strict=True):
                total += tally(maps[view, rows], truth, WAYS)
            found += [Tried(AlignmentChoice(view, rows, (name,), *WAYS[errors.argmin()]), float(errors.min()))
                      for name, errors in zip(names, error_rate(total), strict=True)]
        return found

    def try_weights(self) -> list[Tried]:
        """All maps of each view with both row meanings, combined by regression, with the best rule and threshold.

        Empty if all sentences are variants of one sentence, because they cannot be split into halves.
        """
        views = [view for view, rows in self.names if rows == "reads"]
        return [self._weighed(view) for view in views] if self.halves.any() else []

    def _weighed(self, view: str) -> Tried:
        total = np.zeros((len(self.gold), len(WAYS), 4))
        halves = self.halves == 0, self.halves == 1
        for own, other in (halves, halves[::-1]):
            choice = self._fitted_to(other, view)
            for n in np.flatnonzero(own):
                total[n] = tally(self._combined(choice, self.shares[n])[None], self.gold[n], WAYS)[0]
        way = int(error_rate(total.sum(0)).argmin())
        (rule, threshold), error = WAYS[way], summed(total[:, way], groups=self.groups)["aer"]
        choice = replace(self._fitted_to(slice(None), view), rule=rule, threshold=threshold)
        return Tried(choice, error.value, error)

    def _fitted_to(self, part: slice | np.ndarray, view: str) -> AlignmentChoice:
        """The regression weights of a view, fitted to a part of the sentences; the rule is not chosen yet."""
        parts = [(self.shares[n], self.gold[n]) for n in np.arange(len(self.gold))[part]]
        cells = [(evidence(maps[view, "predicts"], maps[view, "reads"]), _matrix(truth.sure, maps[view, "reads"]))
                 for maps, truth in parts]
        weights = regression([(x_KJI.reshape(len(x_KJI), -1), y_JI.ravel()) for x_KJI, y_JI in cells])
        rounded = tuple(round(float(weight), 4) for weight in weights)
        return AlignmentChoice(view, "predicts", tuple(self.names[view, "predicts"]), "all", 0.5, weights=rounded)

    def agreement(self, choice: AlignmentChoice) -> dict[str, Estimate]:
        """The error, precision and recall of a choice on these sentences, with its interval."""
        key = choice.view, choice.rows
        if key not in self.names or not set(choice.maps) <= set(self.names[key]):
            raise UserError(f"the traces lack maps of this choice: {choice.describe()}")
        return summed(np.stack([
            tally(self._combined(choice, maps)[None], truth, [(choice.rule, choice.threshold)])[0, 0]
            for maps, truth in zip(self.shares, self.gold, strict=True)
        ]), groups=self.groups)

    def _combined(self, choice: AlignmentChoice, maps: dict[tuple[str, Rows], np.ndarray]) -> np.ndarray:
        """`choice.strengths` of one sentence."""
        names = self.names[choice.view, choice.rows]
        picked = [names.index(name) for name in choice.maps]
        return choice.combined(lambda rows: maps[choice.view, rows][picked])


def regression(cells: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """[K+1]: the weights that predict labels [cells] of 0 and 1 from features [K,cells], and a constant last.

    Logistic regression by Newton's method, which reads the data in parts.
    """
    K = len(cells[0][0])
    weights, ridge = np.zeros(K + 1), np.diag([*[RIDGE] * K, 1e-6])
    for _ in range(STEPS):
        slope, curve = ridge @ weights, ridge.copy()
        for x_KC, y_C in cells:
            x_KC = np.vstack([x_KC, np.ones(x_KC.shape[1])])
            p_C = 1 / (1 + np.exp(-weights @ x_KC))
            slope += x_KC @ (p_C - y_C)
            curve += (x_KC * (p_C * (1 - p_C))) @ x_KC.T
        step = np.linalg.solve(curve, slope)
        weights -= step
        if abs(step).max() < STILL:
            break
    return weights


def _matrix(links: Iterable[Link], maps_MJI: np.ndarray) -> np.ndarray:
    """[J,I]: 1 where there is a link."""
    matrix_JI = np.zeros(maps_MJI.shape[1:], dtype=np.float32)
    for i, j in links:
        matrix_JI[j, i] = 1
    return matrix_JI


def tally(maps_MJI: np.ndarray, gold: Links, ways: Sequence[tuple[Rule, float]]) -> np.ndarray:
    """[M,ways,4]: `intervals.counts` for each map under each rule and threshold."""
    truth_JI2 = np.stack([_matrix(links, maps_MJI) for links in (gold.sure, gold.all)], axis=-1)
    by_rule = {rule: linked(maps_MJI, rule, 0.0) for rule, _ in ways}
    enough = {threshold: maps_MJI >= threshold for _, threshold in ways}
    found = np.stack([by_rule[rule] & enough[threshold] for rule, threshold in ways], axis=1)
    flat = found.reshape(*found.shape[:2], -1).astype(np.float32)
    counted = np.empty((*flat.shape[:2], 4))
    counted[..., 0], counted[..., 1] = flat.sum(-1), len(gold.sure)
    counted[..., 2:] = flat @ truth_JI2.reshape(-1, 2)
    return counted


def check_links(gold: Links, words: tuple[Sequence[Word], Sequence[Word]], where: str) -> None:
    """Raises UserError for a link to a word that the source or target does not have; `where` begins the message."""
    sizes = len(words[0]), len(words[1])
    for i, j in gold.all:
        if i >= sizes[0] or j >= sizes[1]:
            raise UserError(f"{where}: link {i}-{j}, but its source has {sizes[0]} words and its target"
                            f" {sizes[1]}: words are counted from 0, as seq2see splits them")
