"""Results as tables: one row for each number, with what it belongs to in the other columns."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

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
