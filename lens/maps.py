"""One map of a trace, chosen and named: what the terminal prints and what `plot.py` draws, with every word beside it.

Nothing is renormalised and no head is averaged with another: what a view has no heads or layers for is refused.
"""

from dataclasses import dataclass

import numpy as np

from seq2see.errors import UserError
from ..tokenizer.words import Piece, Word
from .by_words import Unit, mean_rows, sum_columns, units
from .kinds import Kind, Rows
from .summary import sink_shares
from .trace_data import TraceData
from .trust import UNMEASURED
from .views import WITH_HEADS, check_views
from .wording import (
    ABOUT,
    LEFT_OUT,
    NAMES,
    VIEW_TEXTS,
    column_meaning,
    label,
    labels,
    row_meaning,
)

# R rows, C columns

NOT_CALIBRATED = "probabilities are the model's own, not calibrated"
WORTH_TELLING = 0.01  # difference of two log-probabilities; rounding alone makes smaller ones


@dataclass(frozen=True, eq=False)
class Picture:
    """A map [R,C] with what it means.  Where a step cannot look, a cell is NaN.

    `layer` and `head` are None of a view that has none; `layers` and `heads` are how many there are to choose from.
    """

    view: str
    kind: Kind
    layer: int | None
    head: int | None
    layers: int
    heads: int
    words: bool
    cells: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_meaning: str
    column_meaning: str
    sinks: str
    trust: str

    @property
    def place(self) -> str:
        """Which kind, layer and head, counted from 0."""
        if self.view == "left_out":
            return LEFT_OUT
        layer = "" if self.layer is None else f", layer {self.layer} of 0-{self.layers - 1}"
        head = "" if self.head is None else f", head {self.head} of 0-{self.heads - 1}"
        every = ", all heads" if self.head is None and self.layer is not None else ""
        return f"{NAMES[self.kind]}{layer}{head}{every}"

    @property
    def title(self) -> str:
        """The place and the view."""
        return f"{self.place}, view {self.view}"

    @property
    def about(self) -> str:
        return ABOUT[self.kind] if self.view == "raw" else VIEW_TEXTS[self.view].about

    @property
    def cell(self) -> str:
        """What the number of a cell is."""
        return VIEW_TEXTS[self.view].cell

    @property
    def sums(self) -> str:
        """What a row sums to."""
        return VIEW_TEXTS[self.view].sums[self.kind]


def picture(
    trace: TraceData, *, view: str = "raw", kind: Kind = "cross", layer: int | None = None, head: int | None = None,
    words: bool = False, rows: Rows = "predicts",
) -> Picture:
    """One map; the last layer and the first head unless told otherwise, both counted from 0.

    `words`: sums over key pieces, means over query pieces (of left_out sums, since log-probabilities add up).
    UserError for a layer, head, view, kind or row meaning that is not there.
    """
    check_views([view])
    if rows == "reads" and (kind == "encoder" or view == "left_out"):
        whose = "encoder" if kind == "encoder" else view
        raise UserError(f"--rows reads: a row of {whose} is no step that reads; leave it out", exit_code=2)
    if view == "left_out":
        return _left_out(trace, kind, layer, head, words)
    maps = trace.maps(kind, view)
    layer = _check("layer", maps.shape[0] - 1 if layer is None else layer, maps.shape[0])
    with_heads = view in WITH_HEADS
    if head is not None and not with_heads:
        raise UserError(f"view {view} has no heads, it is of whole layers: leave the head out", exit_code=2)
    at: tuple[int, ...] = (layer,)
    if with_heads:
        head = _check("head", 0 if head is None else head, maps.shape[1])
        at = (layer, head)
    row_units, column_units = row_and_column_units(trace, kind, rows=rows, words=words)
    cells = mean_rows(sum_columns(maps[at], column_units), row_units)
    if kind == "decoder":
        cells[masked(row_units, column_units)] = np.nan
    pieces = not words
    return Picture(
        view, kind, layer, head, maps.shape[0], maps.shape[1] if with_heads else 0, words, cells,
        tuple(labels(trace.row_pieces(kind, rows=rows)) if pieces else [label(unit.text) for unit in row_units]),
        tuple(labels(trace.column_pieces(kind)) if pieces else [label(unit.text) for unit in column_units]),
        row_meaning(kind, view, rows=rows, words=words), column_meaning(kind, view, words=words),
        said_of_sinks(*sink_shares(trace, kind, view=view)[at], view=view),
        said_of_trust(trace, view, kind, rows, at),
    )  # fmt: skip


def row_and_column_units(
    trace: TraceData, kind: Kind, *, rows: Rows, words: bool
) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """What the rows and the columns of a map are: words, or each piece for itself."""
    row_words = trace.source_words if kind == "encoder" else trace.target_words
    column_words = trace.target_words if kind == "decoder" else trace.source_words
    return (
        _units(trace.row_pieces(kind, rows=rows), row_words if words else None),
        _units(trace.column_pieces(kind), column_words if words else None),
    )


def _units(pieces: tuple[Piece, ...], words: list[Word] | None) -> tuple[Unit, ...]:
    if words is not None:
        return units(pieces, words)
    return tuple(Unit(piece.text, (i,), piece.word, piece.special) for i, piece in enumerate(pieces))


def masked(row_units: tuple[Unit, ...], column_units: tuple[Unit, ...]) -> np.ndarray:
    """[R,C] of the decoder: whether a column comes after all of a row's steps."""
    last = np.array([unit.pieces[-1] for unit in row_units])
    first = np.array([unit.pieces[0] for unit in column_units])
    later: np.ndarray = first[None, :] > last[:, None]
    return later


def _left_out(trace: TraceData, kind: Kind, layer: int | None, head: int | None, words: bool) -> Picture:
    if kind != "cross":
        raise UserError(f"view left_out is of the source's words and has no {kind} map: take --kind cross", exit_code=2)
    if layer is not None or head is not None:
        raise UserError("view left_out has neither layers nor heads: leave them out", exit_code=2)
    if trace.left_out is None:
        raise UserError("no view 'left_out' in this trace: look with views=...", exit_code=2)
    if not trace.source_words:
        raise UserError("the source has no words that could be left out")
    row_units, _ = row_and_column_units(trace, "cross", rows="predicts", words=words)
    cells = np.add.reduceat(trace.left_out, [unit.pieces[0] for unit in row_units], axis=0)
    return Picture(
        "left_out", "cross", None, None, 0, 0, words, cells,
        tuple([label(unit.text) for unit in row_units] if words else labels(trace.target)),
        tuple(label(word.text) for word in trace.source_words),
        row_meaning("cross", "left_out", rows="predicts", words=words),
        column_meaning("cross", "left_out", words=words), "", said_of_trust(trace, "left_out", "cross", "predicts", ()),
    )  # fmt: skip


def said_of_sinks(end: float, tags: float, punctuation: float, *, view: str) -> str:
    """How much lies where a head puts what it has no use for, in one line."""
    whose = "this head's attention" if view == "raw" else "this map"
    return (f"{end:.0%} of {whose} is on the closing </s>, {tags:.0%} on tags and the start, "
            f"{punctuation:.0%} on punctuation")


def said_of_trust(trace: TraceData, view: str, kind: Kind, rows: Rows, name: tuple[int, ...]) -> str:
    """How far to trust a map, in one line: measured, or how to measure it."""
    return UNMEASURED if trace.trust is None else trace.trust.line(view, kind, rows, name)


def facts(trace: TraceData) -> str:
    """One line: which model, which engine, and how probable the hypothesis is under the weights that were looked at."""
    steps = len(trace.target) - trace.given
    parts = [f"log-probability {trace.log_prob:.3f} over {steps} steps (float32 weights)"]
    if trace.confidence is None:
        parts.append(NOT_CALIBRATED)
    else:
        parts.append(f"confidence {trace.confidence:.0%}, the mean over its tokens, calibrated")
    if not trace.target[-1].special:
        parts.append("stopped at the limit of length, before </s>")
    if trace.score is not None:
        parts.append(f"score {trace.score:.4f} from {trace.engine}, {trace.precision}")
    difference = abs(trace.difference or 0)
    if trace.engine != "torch" and difference > WORTH_TELLING:
        pair = f"{trace.engine} and torch" if trace.precision == "float32" else f"{trace.precision} and float32"
        parts.append(f"{pair} log-probabilities differ by {difference:.3f}")
    return " · ".join([*([trace.model] if trace.model else []), *parts])


def _check(what: str, number: int, count: int) -> int:
    if not 0 <= number < count:
        raise UserError(f"there is no {what} {number} here: expected 0 to {count - 1}", exit_code=2)
    return number
