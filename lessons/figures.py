"""Figures with their spread, and how figures and heads become text: in tables, in the lessons' Markdown, and in JSON.

Readers count layers and heads from 1, as the page does; code, commands and JSON count from 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..lens.records.intervals import Estimate
from ..passes.attention_kinds import Kind
from ..passes.hooks import Head

DIGITS = 6  # significant ones that JSON keeps of a figure
ATTENTION: dict[Kind, str] = {
    "encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}


def columns_of(values_NK: np.ndarray, groups: Sequence[str] | None = None) -> list[Estimate]:
    """The interval of each column, over rows."""
    return [Estimate.of(column, groups) for column in np.asarray(values_NK, dtype=float).T]


def over_seeds(values: np.ndarray | Sequence[Any]) -> list[Estimate]:
    """The spread over seeds of [..., seeds], as a list over the first axis."""
    return [Estimate.seeds(row) for row in np.asarray(values, dtype=float)]


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's; equal values share the mean of their ranks."""
    ranks = []
    for values in (x, y):
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(counts) - (counts - 1) / 2)[inverse])
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def written(value: Any, spec: str = "") -> str:
    """As `format`, for all that lessons hold: sequences are joined by commas, NaN is a dash, minus a true minus."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {written(item, spec)}" for key, item in value.items())
    if isinstance(value, Estimate):
        return value.written(lambda part: written(part, spec))
    if isinstance(value, Head):
        return head_name(value)
    if isinstance(value, np.ndarray | list | tuple):
        several = len(value) > 0 and isinstance(value[0], Head)  # names with commas
        return ("; " if several else ", ").join(written(item, spec) for item in value)
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and math.isnan(value):
        return "–"
    return format(value, spec).replace("-", "−") if spec else spelled(value)


def layer_name(layer: int) -> str:
    """A layer, counted from 0, as readers count."""
    return f"layer {layer + 1}"


def head_name(head: Head) -> str:
    """A head as the page names it, such as "cross-attention, layer 1, head 3" for ("cross", 0, 2)."""
    return f"{ATTENTION[head.kind]}, {layer_name(head.layer)}, head {head.head + 1}"


def likeness(off: float, *, within: float) -> str:
    """What a reader is told of two computations of the same thing that are so far apart."""
    return "are the same, but for rounding" if off < within else f"differ by up to {spelled(float(off))}"


def spelled(value: Any) -> str:
    """A number for readers: about three significant digits, thousands separated, a true minus; text is unchanged."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, Estimate):
        return value.written(spelled)
    if not isinstance(value, float):
        return format(value)
    size = abs(value)
    if math.isnan(value):
        return "–"
    if size >= 100 or value == 0:
        text = f"{value:,.0f}"
    elif size < 0.0005:
        text = f"{value:.1e}"
    else:
        text = f"{value:.{2 if size >= 1 else 3}f}"
    return text.replace("-", "−")


def to_data(value: Any) -> Any:
    """Figures as JSON holds them: arrays are lists, NaN and infinity null, records objects, DIGITS digits."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return to_data(value.tolist())
    if isinstance(value, Estimate):
        return to_data(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): to_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"a lesson's figures hold a {type(value).__name__}, which has no place in JSON")
