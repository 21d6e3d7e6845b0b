"""How far and how widely attention reaches, head by head, and whether it crosses from one sentence into another."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..tokenizer.words import Piece, Word
from .kinds import Kind
from .summary import entropy, uniform_map
from .trace import Trace

# L layers, H heads

ENDS = ".!?।"  # what closes a sentence


@dataclass(frozen=True, eq=False)
class Spread:
    """Means over rows, then over sentences, each [L,H].

    `distance` in pieces, from the row's own place (in cross-attention: from the diagonal); `entropy` in nats, and
    `evenness` the same as a share of that of a uniform head.  Of texts of several sentences, how much of the attention
    goes to the row's own sentence, across to another, and to special pieces: `own`, `across`, `special`; None where
    no text had two.  `across_even` is what a uniform head sends across.
    """

    kind: Kind
    distance: np.ndarray
    entropy: np.ndarray
    evenness: np.ndarray
    own: np.ndarray | None
    across: np.ndarray | None
    special: np.ndarray | None
    across_even: float | None
    two_sentences: int


def spread(traces: Sequence[Trace], kind: Kind) -> Spread:
    """Distance, entropy and mass across sentence boundaries of a kind of attention, over the raw weights."""
    distances, entropies, evenness = [], [], []
    crossing: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    crossing_even: list[float] = []
    for trace in traces:
        maps = trace.maps(kind)
        R, C = maps.shape[-2:]
        place_R = np.arange(R) * ((C - 1) / max(R - 1, 1) if kind == "cross" else 1)
        distances.append((maps * abs(np.arange(C) - place_R[:, None])).sum(-1).mean(-1))
        entropies.append(entropy(maps))
        even = uniform_map(trace, kind)
        evenness.append(entropies[-1] / max(float(entropy(even)), 1e-9))
        if (shares := _crossing(trace, kind, maps)) is not None:
            crossing.append(shares)
            crossing_even.append(float(_crossing(trace, kind, even)[1]))  # type: ignore[index]
    own, across, special = (np.mean([one[i] for one in crossing], axis=0) if crossing else None for i in range(3))
    return Spread(
        kind, np.mean(distances, axis=0), np.mean(entropies, axis=0), np.mean(evenness, axis=0), own, across, special,
        float(np.mean(crossing_even)) if crossing else None, len(crossing),
    )


def _crossing(trace: Trace, kind: Kind, maps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The shares to the row's own sentence, to others, and to special pieces; None where either side has just one."""
    source = sentence_numbers(trace.source, trace.source_words)
    target = sentence_numbers(trace.target, trace.target_words)
    if max(source) != max(target) or max(source) < 1:
        return None
    rows = np.array(source if kind == "encoder" else target)
    columns = np.array([-1, *target[:-1]] if kind == "decoder" else source)  # the decoder reads what it wrote before
    real = rows >= 0
    same = rows[real][:, None] == columns
    special = np.broadcast_to(columns < 0, same.shape)
    masks = same, ~same & ~special, special
    own, across, aside = ((maps[..., real, :] * mask).sum(-1).mean(-1) for mask in masks)
    return own, across, aside


def sentence_numbers(pieces: Sequence[Piece], words: Sequence[Word]) -> list[int]:
    """Which sentence of a text each piece is in, from 0; -1 for special pieces and others that belong to no word.

    A sentence goes on to its last closing mark, and to closing quotes and brackets behind it.
    """
    numbers, number = [], 0
    closed = False  # by a mark, and whatever trails it
    for word in words:
        trails = all(c in ENDS or unicodedata.category(c) in ("Pe", "Pf") for c in word.text)
        number += closed and not trails
        closed = word.text[-1] in ENDS or (closed and trails)
        numbers.append(number)
    return [-1 if piece.word is None else numbers[piece.word] for piece in pieces]
