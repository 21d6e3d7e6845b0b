"""Two models and one sentence: the probability of a translation under each, word by word, and their most similar heads.

Heads of a layer have no order of their own, so a second training run may have them in another order.  The heads of two
layers are therefore matched one to one, such that the total difference of their maps is smallest (Kuhn 1955).  Maps are
compared by words, because the models may have different tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind
from ...passes.hooks import Head
from ..data.trace_data import TraceData
from ..data.word_maps import by_units, map_units, units

# L layers, H heads, R row words, C column words

SPECIAL = "(special tokens)"  # the last column of maps by words: </s>, tags, the start


class WordChance(NamedTuple):
    """A word of a translation that has tokens of its own in both models, with its probability under each.

    `number` is its index.  `first` and `second` are the probabilities after the words before it.  `first_instead` and
    `second_instead` are the tokens that each model would write instead, for its first token that is not the most
    probable, or "".
    """

    number: int
    word: str
    first: float
    second: float
    first_instead: str
    second_instead: str


class ComparedRow(NamedTuple):
    """A row of two maps: its word, and the word that each of the two heads attends to most, with the share."""

    word: str
    first: tuple[str, float]
    second: tuple[str, float]


@dataclass(frozen=True)
class HeadPair:
    """A head of the first model and the most similar head of the second.

    `distance` is the share of attention that lies on different words, averaged over rows: 0 for equal maps, 1 for maps
    without overlap.  `row` is the word at which the maps differ most, with the distance `at_row`.
    """

    first: Head
    second: Head
    distance: float
    at_row: float
    row: ComparedRow


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two models compared on one translation of a text; see `compare`.

    - `log_probs`: the log-probability of the whole translation under each model, in nats;
    - `words`: the words of the translation;
    - `heads`: the matched heads, the most different first;
    - `alone`: heads without a partner, each with the index (0 or 1) of its model;
    - `traces`: the compared traces.
    """

    source: str
    translation: str
    log_probs: tuple[float, float]
    words: tuple[WordChance, ...]
    heads: tuple[HeadPair, ...]
    alone: tuple[tuple[int, Head], ...]
    traces: tuple[TraceData, TraceData] = field(compare=False)

    def __repr__(self) -> str:
        return (f"Comparison({self.source!r} -> {self.translation!r}, log_probs {self.log_probs[0]:.3f} and"
                f" {self.log_probs[1]:.3f}, {len(self.heads)} pairs of heads)")

    def to_dict(self) -> dict[str, Any]:
        """All fields except the traces, as a dictionary for JSON."""
        return {name: value for name, value in vars(self).items() if name != "traces"} | {
            "words": [word._asdict() for word in self.words],
            "heads": [vars(one) | {"row": one.row._asdict()} for one in self.heads],
        }


def compare(first: TraceData, second: TraceData) -> Comparison:
    """Compare two models by their traces of one translation.

    Make the traces with `look_at`: `lens.compare(one.look_at(text, translation), other.look_at(text, translation))`.
    Heads are matched within a layer, or within layers at the same relative depth if the models differ in depth.  Raises
    UserError for traces of different texts.
    """
    sides = [[[word.text for word in words] for words in (trace.source_words, trace.target_words)]
             for trace in (first, second)]
    if sides[0] != sides[1]:
        raise UserError("the traces have different texts: trace the same translation of one text with both models")
    matched: list[HeadPair] = []
    alone: list[tuple[int, Head]] = []
    for kind in KINDS:
        maps = tuple(word_shares(trace, kind) for trace in (first, second))
        pairs = paired_layers(len(maps[0]), len(maps[1]))
        found = [one for layers in pairs for one in _matched(first, kind, maps, layers)]
        matched += found
        for number, own in enumerate(maps):
            taken = {(one.first, one.second)[number] for one in found}
            alone += [(number, head) for head in (Head(kind, *at) for at in np.ndindex(own.shape[:2])) if
                      head not in taken]
    return Comparison(*first.texts, (first.log_prob, second.log_prob),
                      tuple(_chances(first, second)),
                      tuple(sorted(matched, key=lambda one: -one.distance)), tuple(alone), (first, second))


def word_shares(trace: TraceData, kind: Kind) -> np.ndarray:
    """[L,H,R,C+1]: the raw weights by words, with a last column for all special tokens; rows of words without a token
    are NaN.
    """
    rows, columns = map_units(trace, kind)
    maps = by_units(trace.maps(kind), rows, columns)
    R, C = (len(trace.source_words if source else trace.target_words) for source in (kind == "encoder",
                                                                                     kind != "decoder"))
    shares = np.full((*maps.shape[:2], R, C + 1), np.nan)
    for r, row in enumerate(rows):
        if row.word is not None:
            shares[..., row.word, :] = 0
            for c, column in enumerate(columns):
                shares[..., row.word, C if column.word is None else column.word] += maps[..., r, c]
    return shares


def paired_layers(first: int, second: int) -> list[tuple[int, int]]:
    """Each layer of the shallower model, with the other model's layer at the same relative depth."""
    few, many = sorted((first, second))
    pairs = [(layer, math.floor(layer * (many - 1) / max(few - 1, 1) + 0.5)) for layer in range(few)]
    return pairs if first <= second else [(other, layer) for layer, other in pairs]


def _matched(trace: TraceData, kind: Kind, maps: Sequence[np.ndarray], layers: tuple[int, int]) -> list[HeadPair]:
    first_HRC, second_HRC = (own[layer] for own, layer in zip(maps, layers, strict=True))
    apart_HHR = np.abs(first_HRC[:, None] - second_HRC[None]).sum(-1) / 2
    rows = np.flatnonzero(~np.isnan(apart_HHR[0, 0]))
    if not len(rows):
        return []
    cost_HH = apart_HHR[..., rows].mean(-1)
    row_words, column_words = ([word.text for word in trace.words(source=source)]
                               for source in (kind == "encoder", kind != "decoder"))
    names, found = [*column_words, SPECIAL], []
    for one, other in assignment(cost_HH):
        row = int(rows[apart_HHR[one, other, rows].argmax()])
        looks = [(names[int(own.argmax())], float(own.max())) for own in (first_HRC[one, row], second_HRC[other, row])]
        found.append(HeadPair(Head(kind, layers[0], one), Head(kind, layers[1], other), float(cost_HH[one, other]),
                                  float(apart_HHR[one, other, row]), ComparedRow(row_words[row], *looks)))
    return found


def assignment(cost_NM: np.ndarray) -> list[tuple[int, int]]:
    """As many pairs (row, column) as possible with the lowest total cost, without a common row or column.

    The Hungarian algorithm with shortest augmenting paths (Jonker and Volgenant 1987); scipy is not a dependency.
    """
    if cost_NM.shape[0] > cost_NM.shape[1]:
        return sorted((row, column) for column, row in assignment(cost_NM.T))
    N, M = cost_NM.shape
    price_N, price_M = np.zeros(N), np.zeros(M)
    owner_M = np.full(M, -1)  # the row that has each column
    for new in range(N):
        least_M, before_M, done_M = np.full(M, np.inf), np.full(M, -1), np.zeros(M, dtype=bool)
        row, column = new, -1
        while row >= 0:  # until a column is free
            slack_M = cost_NM[row] - price_N[row] - price_M
            shorter_M = ~done_M & (slack_M < least_M)
            least_M[shorter_M], before_M[shorter_M] = slack_M[shorter_M], column
            column = int(np.where(done_M, np.inf, least_M).argmin())
            step = least_M[column]
            price_N[new] += step
            price_N[owner_M[done_M]] += step
            price_M[done_M] -= step
            least_M[~done_M] -= step
            done_M[column] = True
            row = int(owner_M[column])
        while column >= 0:
            owner_M[column] = owner_M[before_M[column]] if before_M[column] >= 0 else new
            column = int(before_M[column])
    return sorted((int(row), column) for column, row in enumerate(owner_M) if row >= 0)


def _chances(first: TraceData, second: TraceData) -> list[WordChance]:
    texts = [word.text for word in first.words(source=False)]
    own, other = ({unit.word: unit.pieces for unit in units(trace.target, trace.target_words) if unit.word is not None}
                  for trace in (first, second))
    return [WordChance(word, texts[word], _chance(first, own[word]), _chance(second, other[word]),
                       _instead(first, own[word]), _instead(second, other[word]))
            for word in own if word in other]


def _chance(trace: TraceData, pieces: Sequence[int]) -> float:
    return math.exp(trace.log_probs[list(pieces)].sum())


def _instead(trace: TraceData, pieces: Sequence[int]) -> str:
    """The most probable token of the first step of a word at which it was not chosen."""
    return next((trace.top[t][0].text.strip(" ▁") or trace.top[t][0].text for t in pieces
                 if trace.top[t][0].id != trace.target_ids[t]), "")
