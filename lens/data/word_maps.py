"""Maps by words instead of tokens.

Columns are summed over a word's tokens and rows are averaged over them (Clark et al. 2019), so rows that sum to 1 still
do.  For the view norm this adds lengths of vectors, which exceeds the length of their sum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...passes.attention_kinds import Kind, Rows
from ...tokenizer.words import TokenSpan, Word
from .trace_data import TraceData


@dataclass(frozen=True)
class Unit:
    """A word, or a token outside words (`</s>`, a tag): the indices of its tokens and the index of the word."""

    text: str
    pieces: tuple[int, ...]  # indices of its tokens; the page and /v1/look have them by this name
    word: int | None
    special: bool


@dataclass(frozen=True, eq=False)
class WordMap:
    """Maps by words, as `word_map` returns them: [L,H,rows,columns], or [L,rows,columns] without heads.

    Each unit of `rows` has a row, and each unit of `columns` has a column.  `row_meaning` is "predicts" or "reads":
    whether the row of a target word averages the steps that predict it or the steps that read it.
    """

    kind: Kind
    view: str
    row_meaning: Rows
    rows: tuple[Unit, ...]
    columns: tuple[Unit, ...]
    maps: np.ndarray


def units(tokens: Sequence[TokenSpan], words: Sequence[Word] | None) -> tuple[Unit, ...]:
    """Groups tokens by word; tokens outside words stand alone.  Without `words`, every token stands alone."""
    if words is None:
        return tuple(Unit(token.text, (i,), token.word, token.special) for i, token in enumerate(tokens))
    found = []
    numbered = groupby(enumerate(tokens), key=lambda one: (one[1].word, -1 if one[1].word is not None else one[0]))
    for (word, _), group in numbered:
        members = list(group)
        text = members[0][1].text if word is None else words[word].text
        found.append(Unit(text, tuple(i for i, _ in members), word, members[0][1].special))
    return tuple(found)


def map_units(
    trace: TraceData, kind: Kind, *, rows: Rows = "predicts", words: bool = True
) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """The rows and the columns of a map: words, or single tokens."""
    sides = ((trace.row_tokens(kind, rows=rows), kind == "encoder"), (trace.column_tokens(kind), kind != "decoder"))
    row_units, column_units = (
        units(trace.named(tokens, source=source), trace.words(source=source) if words else None)
        for tokens, source in sides)
    return row_units, column_units


def by_units(maps: np.ndarray, rows: Sequence[Unit], columns: Sequence[Unit]) -> np.ndarray:
    """Maps of tokens as maps of units, [...,rows,columns]: columns summed, rows averaged."""
    maps = np.add.reduceat(maps, [unit.pieces[0] for unit in columns], axis=-1)
    sizes = np.array([len(unit.pieces) for unit in rows], dtype=maps.dtype)
    return np.add.reduceat(maps, [unit.pieces[0] for unit in rows], axis=-2) / sizes[:, None]


def word_map(trace: TraceData, kind: Kind, *, view: str = "raw", rows: Rows = "predicts") -> WordMap:
    """The maps of a kind by words, for every layer and head.

    Args:
        trace: any trace.
        kind: "encoder", "decoder" or "cross".
        view: a view that the trace has.
        rows: the steps that are averaged into the row of a target word: those that predict its tokens ("predicts"), or
            those that read them ("reads"), which come one step later.  With "reads", the first row belongs to the start
            token.  A target without `</s>` has no step that reads its last token, so its last word lacks that step.

    Raises:
        UserError: a view that the trace does not have.
    """
    both = map_units(trace, kind, rows=rows)
    return WordMap(kind, view, rows, *both, by_units(trace.maps(kind, view), *both))


def top_source_words(
    trace: TraceData, *, layer: int, head: int | None
) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """For each predicted word and `</s>`: its probability, and the three source words with the largest cross-attention
    weights.

    The probability is calibrated if the trace is. head=None averages the layer's heads.
    """
    by_words = word_map(trace, "cross")
    maps = by_words.maps[layer]
    found = []
    for unit, row in zip(by_words.rows, maps.mean(0) if head is None else maps[head], strict=True):
        if unit.pieces[-1] >= trace.given:  # else a language tag: nobody chose it
            probability = math.exp(sum(trace.shown.log_probs[list(unit.pieces)]))
            best = (-row).argsort(kind="stable")[:3]
            found.append((unit.text, probability, [(by_words.columns[i].text, float(row[i])) for i in best]))
    return found
