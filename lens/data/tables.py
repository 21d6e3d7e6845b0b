"""Results as tables: one row for each number, with what it belongs to in the other columns."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...passes.attention_kinds import KINDS
from .trace_data import TraceData

if TYPE_CHECKING:
    import pandas


def table(rows: Iterable[Mapping[str, Any]], *, columns: Iterable[str]) -> "pandas.DataFrame":
    """The rows as a DataFrame with these columns.

    Layers, heads, steps and positions count from 0, as in the arrays.  A layer or head that does not apply is missing
    (`pandas.NA`), and the others stay whole numbers.
    """
    import pandas

    found = pandas.DataFrame(rows, columns=[*columns])
    return found.astype({name: "Int64" for name in ("layer", "head") if name in found})


def cells(values: np.ndarray, *axes: str) -> Iterable[dict[str, Any]]:
    """A row for each number of an array, with its index on each of the named axes, and the number as `value`."""
    for at, value in np.ndenumerate(values):
        yield dict(zip(axes, map(int, at), strict=True)) | {"value": float(value)}


def attention_table(trace: TraceData, view: str) -> "pandas.DataFrame":
    """The maps of a view with heads: see `Trace.to_pandas`."""
    import pandas

    frames = []
    for kind in KINDS:
        maps, texts = trace.maps(kind, view), {}
        at = dict(zip(("layer", "head", "row", "column"), np.indices(maps.shape).reshape(4, -1), strict=True))
        for axis, tokens in (("row", trace.row_tokens(kind)), ("column", trace.column_tokens(kind))):
            own = trace.named(tokens, source=tokens is trace.source)
            texts[f"{axis}_token"] = np.array([token.text for token in own], dtype=object)[at[axis]]
        frame = pandas.DataFrame({"kind": kind, **at, **texts, "weight": maps.ravel()})
        frames.append(frame[frame.column <= frame.row] if kind == "decoder" else frame)
    found = pandas.concat(frames, ignore_index=True)
    found.insert(3, "on_page", [f"layer {layer + 1}, head {head + 1}" for layer, head in zip(
        found.layer, found["head"], strict=True)])
    return found
