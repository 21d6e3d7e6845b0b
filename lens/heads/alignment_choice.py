"""Links between source and target words, derived from a model's maps by a recorded choice.

Attention is not alignment (Ferrando and Costa-jussa 2021).  The layer, head and row that come nearest to an alignment
differ from model to model.  An `AlignmentChoice` records everything that was chosen, and its error on the data it was
fitted on (`alignment_fitting.py`).  `naive_choice` is the usual drawing, without any fitting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from seq2see.errors import UserError
from ...passes.attention_kinds import MapName, Rows, place_of
from ...text.word_links import Link
from ..data.view_names import ATTRIBUTIONS, SLOW, VIEW, VIEWS
from ..data.word_maps import Unit, word_map
from ..records.plain_json import Count, Measurement, Number, Share
from ..records.trust import Trust
from ..trace import Trace

# M maps, J target words, I source words

Rule = Literal["target", "source", "both", "either", "all"]
RULES: tuple[Rule, ...] = get_args(Rule)
SAID: dict[Rule, str] = {
    "target": "the best source word of each target word", "source": "the best target word of each source word",
    "both": "where the best of both directions agree", "either": "the best of either direction", "all": "every pair",
}

FILE = "alignment.json"  # the choice, beside the run it was fitted on


@dataclass(frozen=True)
class AlignmentChoice(Measurement):
    """How to derive word links from a trace; valid for one model only.

    - `view`, `maps`: the maps that are grouped by words and averaged, and their view.  `[[1, 2], [2, 0]]` is head 2 of
      layer 1 and head 0 of layer 2.  Each row is divided by its weight on words.
    - `rows`: which decoder steps are averaged into the row of a target word.
    - `rule`: which pairs become links; see below.
    - `threshold`: links with a smaller share are dropped.
    - `aer`, `low`, `high`: the alignment error rate and its 95 % interval on the `sentences` of `fitted_on`.  They are
      None if nothing was fitted.
    - `guided`: True if a head of the model was trained with gold links; the error rate then does not apply to other
      models.
    - `weights`: weights of a logistic regression, one for each feature of the maps (`evidence`), and a constant last.
      The probability of a link then replaces the mean share, and `rows` is unused.  The error is cross-validated over
      two halves of the sentences.
    - `fingerprint`: identifies the model's weights.

    The rules:

        target   each target word is linked to the source word with the largest share in its row
        source   each source word is linked to the target word in whose row it has the largest share
        both     the links of `target` that are also links of `source`
        either   the links of `target` and the links of `source`
        all      every pair
    """

    view: str
    rows: Rows
    maps: tuple[tuple[Count, ...], ...]
    rule: Rule
    threshold: Share
    fitted_on: str = ""
    sentences: Count = 0
    aer: Share | None = None
    low: Share | None = None
    high: Share | None = None
    guided: bool = False
    weights: tuple[Number, ...] = ()
    fingerprint: str = ""

    what, command = "alignment choice", "seq2see measure RUN"

    def links(self, trace: Trace) -> frozenset[Link]:
        """The links (source word, target word) of a trace.

        Raises UserError if the trace lacks the view, layer or head.
        """
        found_JI = linked(self.strengths(trace)[None], self.rule, self.threshold)[0]
        return frozenset((int(i), int(j)) for j, i in np.argwhere(found_JI))

    def strengths(self, trace: Trace) -> np.ndarray:
        """[J,I]: the mean share of each pair of words or, with `weights`, the probability that the pair is a link."""
        return self.combined(lambda rows: shares(trace, self.view, rows, self.maps))

    def combined(self, shares_of: Callable[[Rows], np.ndarray]) -> np.ndarray:
        """The strengths, computed from the shares [M,J,I] of the maps for each meaning of the rows."""
        if not self.weights:
            return shares_of(self.rows).mean(0)
        evidence_KJI = evidence(shares_of("predicts"), shares_of("reads"))
        score_JI = np.tensordot(np.array(self.weights[:-1]), evidence_KJI, axes=1) + self.weights[-1]
        return np.where(evidence_KJI.any(0), 1 / (1 + np.exp(-score_JI)), 0.0)

    def describe(self) -> str:
        """The choice in one line."""
        how = "the mean of " if len(self.maps) > 1 else ""
        names = ", ".join(" ".join(place_of(name)) for name in self.maps if name)
        where = f", rows {self.rows}" + (f", {how}{names}" if names else "")
        if self.weights:
            where = f", both kinds of rows, {len(self.maps)} maps weighted by logistic regression"
        fitted_on = ", cross-validated over two halves" if self.weights else ", on which it was fitted"
        error = "" if self.aer is None or self.low is None or self.high is None else (
            f"; AER {100 * self.aer:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"
            f" on the {self.sentences} sentences of {self.fitted_on}{fitted_on}"
        )
        what = "probability" if self.weights else "share"
        least = f" with a {what} of at least {self.threshold:g}" if self.threshold else ""
        guided = "; supervised: a head of this model was trained with gold links" if self.guided else ""
        return f"view {self.view}{where}, {SAID[self.rule]}{least}{error}{guided}"

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        found = super().from_plain(plain)
        if found.view not in VIEWS:
            raise ValueError(f"view is {found.view!r}")
        parts = VIEW[found.view].heads + VIEW[found.view].layers
        if not found.maps or any(len(name) != parts for name in found.maps):
            raise ValueError(f"maps is {list(map(list, found.maps))}")
        if len(found.weights) not in (0, 4 * len(found.maps) + 1):
            raise ValueError(f"weights has {len(found.weights)} numbers for {len(found.maps)} maps")
        return found


def naive_choice(layers: int, heads: int) -> AlignmentChoice:
    """The usual drawing: the raw weights of the last layer, averaged over its heads."""
    return AlignmentChoice("raw", "predicts", tuple((layers - 1, head) for head in range(heads)), "target", 0.0)


def map_names(trace: Trace) -> dict[tuple[str, Rows], list[MapName]]:
    """All maps of cross-attention by view and row meaning.

    The views left_out and attributions have only rows for predicted tokens.
    """
    found: dict[tuple[str, Rows], list[MapName]] = {
        (view, rows): list(np.ndindex(maps.shape[:-2])) for view, maps in trace.cross.items()
        for rows in (("predicts",) if view in ATTRIBUTIONS else get_args(Rows))
    }
    return found if trace.left_out is None else found | {("left_out", "predicts"): [()]}


def shares(trace: Trace, view: str, rows: Rows, maps: Sequence[MapName], *, signed: bool = False) -> np.ndarray:
    """[M,J,I]: some maps by words; the row of a target word sums to 1 over the source words, or is 0.

    Weight on `</s>` and other tokens outside words is dropped first, because links join words only.  Negative
    attributions count as 0; with `signed` the numbers stay as they are.
    """
    sources, targets = len(trace.source_words), len(trace.target_words)
    words_MJI = np.zeros((len(maps), targets, sources), dtype=np.float32)
    if not sources or not targets:
        return words_MJI
    if view == "left_out":
        words_MJI[:] = drops_by_words(trace).clip(min=0)  # a rise counts as no fall
    else:
        by_words = word_map(trace, "cross", view=view, rows=rows)
        given = by_words.maps
        held = set(np.ndindex(given.shape[:-2]))
        for name in maps:
            if name not in held:
                raise UserError(f"there is no map {list(name)} of view {view}, whose maps are {given.shape[:-2]}:"
                                " the alignment choice belongs to another model")
        from_rows, to_rows = _words(by_words.rows)
        from_columns, to_columns = _words(by_words.columns)
        chosen = np.stack([given[name] for name in maps])
        words_MJI[:, to_rows[:, None], to_columns] = chosen[:, from_rows[:, None], from_columns]
        if signed:
            return words_MJI
        words_MJI = words_MJI.clip(min=0)
    total_MJ1 = words_MJI.sum(-1, keepdims=True)
    return np.divide(words_MJI, total_MJ1, out=np.zeros_like(words_MJI), where=total_MJ1 > 0)


def evidence(predicts_MJI: np.ndarray, reads_MJI: np.ndarray) -> np.ndarray:
    """[4M,J,I]: the features of each pair of words, for both row meanings.

    The features are the pair's share of the target word's row and of the source word's column.  The column share
    separates a source word that all target words attend to from a word that is translated.
    """
    rows_KJI = np.concatenate([predicts_MJI, reads_MJI])
    total_K1I = rows_KJI.sum(1, keepdims=True)
    columns_KJI = np.divide(rows_KJI, total_K1I, out=np.zeros_like(rows_KJI), where=total_K1I > 0)
    return np.concatenate([rows_KJI, columns_KJI])


def _words(units: Sequence[Unit]) -> tuple[np.ndarray, np.ndarray]:
    """The units that are words: their positions and the indices of the words."""
    pairs = [(k, unit.word) for k, unit in enumerate(units) if unit.word is not None]
    found = np.array(pairs, dtype=int).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def drops_by_words(trace: Trace) -> np.ndarray:
    """[J,I]: the drop in the log-probability of a whole target word without each source word; negative if it rises."""
    if trace.left_out is None:
        raise UserError("no view 'left_out' in this trace: look with views=...", exit_code=2)
    drop_JI = np.zeros((len(trace.target_words), trace.left_out.shape[1]), dtype=np.float32)
    for token, drop in zip(trace.target, trace.left_out, strict=True):
        if token.word is not None:
            drop_JI[token.word] += drop
    return drop_JI


def linked(shares_MJI: np.ndarray, rule: Rule, threshold: float) -> np.ndarray:
    """[M,J,I], booleans: the pairs of words that the rule links in each map.  A share of 0 is never a link."""
    enough_MJI: np.ndarray = (shares_MJI >= threshold) & (shares_MJI > 0)
    if rule == "all" or not enough_MJI.size:
        return enough_MJI
    target, source = np.zeros_like(enough_MJI), np.zeros_like(enough_MJI)
    for best, axis in ((target, -1), (source, -2)):
        np.put_along_axis(best, np.expand_dims(shares_MJI.argmax(axis), axis), True, axis)
    chosen = {"target": target, "source": source, "both": target & source, "either": target | source}
    return enough_MJI & chosen[rule]


# --- the best known choice for a model, and the links that a page highlights


def best_known(
    *, layers: int, heads: int, fitted: AlignmentChoice | None, trust: Trust | None
) -> AlignmentChoice:
    """The best choice for a model: the fitted one, else the map with the lowest measured error, else the last layer's
    mean.

    The error of the last layer's mean is unknown.  Maps of left_out and attributions are not used, because they cost
    many passes.  `layers` and `heads` are those of cross-attention.
    """
    if fitted is not None:
        return fitted
    measured = [(one.aer.value, one) for one in trust.best if one.aer and one.view not in SLOW] if trust else []
    if measured:
        _, best = min(measured, key=lambda pair: pair[0])
        return AlignmentChoice(best.view, best.rows, (best.map,), "target", 0.0)
    return naive_choice(layers, heads)


def counterparts(trace: Trace, choice: AlignmentChoice) -> list[tuple[int, int, float]]:
    """The links of a trace, ordered by target word: source word, target word, and the strength to four digits.

    Raises UserError if the trace lacks the view, layer or head.
    """
    strength_JI = choice.strengths(trace)
    return [(i, j, round(float(strength_JI[j, i]), 4))
            for i, j in sorted(choice.links(trace), key=lambda link: link[::-1])]
