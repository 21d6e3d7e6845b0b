"""One map of a trace with its labels and captions, as `terminal.py` and `plot.py` draw it.

Nothing is renormalised and heads are not averaged.  A layer or head that a view does not have raises an error.
"""

from dataclasses import dataclass

import numpy as np

from seq2see.errors import UserError
from seq2see.streams import printable
from ...passes.attention_kinds import Kind, Rows
from ...tokenizer.words import TokenSpan
from ..data.summary import sink_shares, uniform_map
from ..data.trace_data import TraceData
from ..data.view_names import VIEW, WITH_HEADS, check_views
from ..data.word_maps import Unit, by_units, map_units
from ..records.trust import UNMEASURED
from .wording import ABOUT, ATTRIBUTED, LEFT_OUT, NAMES, column_meaning, label, labels, row_meaning, special_label

# R rows, C columns

NOT_CALIBRATED = "probabilities are the model's own, not calibrated"
REPORTED = 0.01  # difference of two log-probabilities; smaller ones are rounding


@dataclass(frozen=True, eq=False)
class Picture:
    """A map [R,C] and its meaning; masked cells are NaN.

    `layer` and `head` are None for a view without them; `layers` and `heads` are the numbers of layers and heads.
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
        """The kind, layer and head, counted from 0."""
        if self.view == "left_out":
            return LEFT_OUT
        attributed = ATTRIBUTED.get(self.kind) if VIEW[self.view].attribution else None
        layer = "" if self.layer is None else f", layer {self.layer} of 0-{self.layers - 1}"
        head = "" if self.head is None else f", head {self.head} of 0-{self.heads - 1}"
        every = ", all heads" if self.head is None and self.layer is not None and not attributed else ""
        return f"{attributed or NAMES[self.kind]}{layer}{head}{every}"

    @property
    def title(self) -> str:
        """The kind, layer, head and view."""
        return f"{self.place}, view {self.view}"

    @property
    def about(self) -> str:
        return ABOUT[self.kind] if self.view == "raw" else VIEW[self.view].about

    @property
    def cell(self) -> str:
        """What the number in a cell means."""
        return VIEW[self.view].cell

    @property
    def sums(self) -> str:
        """What the sum of a row is, in words."""
        return VIEW[self.view].sums[self.kind]


def picture(
    trace: TraceData, *, view: str = "raw", kind: Kind = "cross", layer: int | None = None, head: int | None = None,
    words: bool = False, rows: Rows = "predicts",
) -> Picture:
    """One map of a trace, ready to draw; by default the last layer and the first head.

    Args:
        trace: any trace.
        view: a view that the trace has.
        kind: "encoder", "decoder" or "cross".
        layer: from 0; None: the last one.
        head: from 0; None: the first one.
        words: group tokens by word: sums over columns, means over rows.  Rows of left_out and attributions are summed,
            because log-probabilities add up.
        rows: "predicts" or "reads": whether a row of a decoder step is labelled with the token that the step predicts
            or reads.

    Raises:
        UserError: a layer, head, view, kind or row meaning that does not exist.
    """
    check_views([view])
    of_output = view == "left_out" or VIEW[view].attribution
    if rows == "reads" and (kind == "encoder" or of_output):
        whose = "encoder" if kind == "encoder" else view
        raise UserError(f"--rows reads: a row of {whose} reads no token; omit it", exit_code=2)
    row_units, column_units = map_units(trace, kind, rows=rows, words=words)
    at: tuple[int, ...] = ()
    layers = heads = 0
    sinks = ""
    if view == "left_out":
        cells = np.add.reduceat(_drops(trace, kind, layer, head), [unit.pieces[0] for unit in row_units], axis=0)
        columns = tuple(label(word.text) for word in trace.words(source=True))
    else:
        if kind == "encoder" and VIEW[view].attribution:
            raise UserError(f"view {view} explains the translation and has no encoder map: use --kind cross or decoder",
                            exit_code=2)
        maps = trace.maps(kind, view)
        if not VIEW[view].layers and (layer is not None or head is not None):
            raise UserError(f"view {view} has neither layers nor heads: omit them", exit_code=2)
        layers, heads = maps.shape[0] if VIEW[view].layers else 0, maps.shape[1] if view in WITH_HEADS else 0
        layer = _check("layer", layers - 1 if layer is None else layer, layers) if layers else None
        if head is not None and not heads:
            raise UserError(f"view {view} has no heads, only whole layers: omit the head", exit_code=2)
        head = _check("head", head or 0, heads) if heads else None
        at = tuple(number for number in (layer, head) if number is not None)
        cells, even = (by_units(one, row_units, column_units) for one in (maps[at], uniform_map(trace, kind)))
        if of_output:
            cells = cells * np.array([len(unit.pieces) for unit in row_units])[:, None]  # the sum, not the mean
        cells[even == 0] = np.nan  # masked
        columns = _names(trace, trace.column_tokens(kind), column_units, words=words, source=kind != "decoder")
        if not of_output:
            end, tags, punctuation = sink_shares(trace, kind, view=view)[at]
            whose = "this head's attention" if view == "raw" else "this map"
            sinks = (f"{end:.0%} of {whose} is on the closing </s>, {tags:.0%} on tags and the start, "
                     f"{punctuation:.0%} on punctuation")
    return Picture(
        view, kind, layer, head, layers, heads, words, cells,
        _names(trace, trace.row_tokens(kind, rows=rows), row_units, words=words, source=kind == "encoder"), columns,
        row_meaning(kind, view, rows=rows, words=words), column_meaning(kind, view, words=words), sinks,
        UNMEASURED if trace.trust is None else trace.trust.line(view, kind, rows, at),
    )


def _drops(trace: TraceData, kind: Kind, layer: int | None, head: int | None) -> np.ndarray:
    if kind != "cross":
        raise UserError(f"view left_out erases source words and has no {kind} map: use --kind cross", exit_code=2)
    if layer is not None or head is not None:
        raise UserError("view left_out has neither layers nor heads: omit them", exit_code=2)
    if trace.left_out is None:
        raise UserError("no view 'left_out' in this trace: look with views=...", exit_code=2)
    if not trace.source_words:
        raise UserError("the source has no words that could be left out")
    return trace.left_out


def _names(trace: TraceData, tokens: tuple[TokenSpan, ...], units: tuple[Unit, ...], *, words: bool,
           source: bool) -> tuple[str, ...]:
    if not words:
        return tuple(labels(trace.named(tokens, source=source), source=source))
    return tuple(special_label(unit.text, source=source) if unit.special else label(unit.text) for unit in units)


def facts(trace: TraceData) -> str:
    """One line: the model, the engine, and the probability of the hypothesis under the float32 weights."""
    steps = len(trace.target) - trace.given
    parts = [f"log-probability {trace.log_prob:.3f} over {steps} steps (float32 weights)"]
    if trace.confidence is None:
        parts.append(NOT_CALIBRATED)
    else:
        parts.append(f"confidence {trace.confidence:.0%} (calibrated mean over its tokens)")
    if not trace.target[-1].special:
        parts.append("stopped at the length limit, before </s>")
    if trace.score is not None:
        parts.append(f"score {trace.score:.4f} from {trace.engine}, {trace.precision}")
    difference = abs(trace.difference or 0)
    if trace.engine != "torch" and difference > REPORTED:
        pair = f"{trace.engine} and torch" if trace.precision == "float32" else f"{trace.precision} and float32"
        parts.append(f"{pair} log-probabilities differ by {difference:.3f}")
    return " · ".join([*([printable(trace.model)] if trace.model else []), *parts])


def _check(what: str, number: int, count: int) -> int:
    if not 0 <= number < count:
        raise UserError(f"there is no {what} {number} here: expected 0 to {count - 1}; the page counts from 1",
                        exit_code=2)
    return number
