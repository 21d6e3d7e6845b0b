"""What a lesson is: prose in Markdown, a module beside it that measures, and the record of a run of both.

`07-many-heads.md` says what is claimed, what was done, what came out and what to try next; `prose.py` reads it and
fills its placeholders. `l07_many_heads.py` has

    SHOWN                                 functions whose source the page shows: the lines that matter
    measure(bench) -> Figures             everything measured, by name; what is random comes from bench.seed
    claims(figures) -> {key: [Check]}     what decides each claim: a claim holds if all its checks pass
    tables(figures) -> (Table, ...)
    panels(figures) -> [Panel]            the picture, side by side (`drawing.py`)

Placeholders name figures: `{off:.0e}`. `Figures` may have a `look`, the map that "look for yourself" opens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .interval import spelled

if TYPE_CHECKING:
    from .drawing import Panel
    from .workbench import Workbench

Figures = SimpleNamespace
Word = Literal["holds", "does not hold here", "not decidable here"]
Comparison = Literal["<", "≤", "=", "≥", ">"]
SENTENCE, TRANSLATION = ("The cat did not cross the street because it was too tired.",
                         "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.")


@dataclass(frozen=True)
class Check:
    """A measured value against a threshold; NaN is a value that could not be measured.

    `of` says what was measured, where a claim has several checks. `was`: the threshold before a result was seen.
    """

    value: float
    comparison: Comparison
    threshold: float
    of: str = ""
    was: float | None = None

    @property
    def passes(self) -> bool:
        value, threshold = float(self.value), self.threshold
        return {"<": value < threshold, "≤": value <= threshold, "=": value == threshold, "≥": value >= threshold,
                ">": value > threshold}[self.comparison]

    def __str__(self) -> str:
        was = "" if self.was is None else f" (set after a first result; it was {self.was:.3g})"
        what = f"{self.of} " if self.of else ""
        return f"{what}{spelled(self.value)}, required {self.comparison} {self.threshold:.3g}{was}"


@dataclass(frozen=True)
class Claim:
    """A statement, what came out, and the checks that decide it."""

    claim: str
    why: str
    checks: tuple[Check, ...]

    @property
    def word(self) -> Word:
        """It holds if every check passes; a check without a value leaves it open, unless another one fails."""
        unknown = [math.isnan(check.value) for check in self.checks]
        if any(not check.passes and not open_ for check, open_ in zip(self.checks, unknown, strict=True)):
            return "does not hold here"
        return "not decidable here" if any(unknown) else "holds"


@dataclass(frozen=True)
class Table:
    """Figures for readers. Cells are text, or numbers, which the record gives about three significant digits."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    folded: bool = False  # large: closed until the reader opens it


@dataclass(frozen=True)
class Look:
    """What "look for yourself" opens: a text and one head's map of it."""

    text: str = SENTENCE
    kind: Literal["encoder", "decoder", "cross"] = "cross"
    layer: int = 0
    head: int = 0


class Lesson(Protocol):
    """A lesson's module."""

    __name__: str
    SHOWN: tuple[Callable[..., Any], ...]

    def measure(self, bench: Workbench) -> Figures: ...

    def claims(self, figures: Figures) -> dict[str, list[Check]]: ...

    def tables(self, figures: Figures) -> tuple[Table, ...]: ...

    def panels(self, figures: Figures) -> Sequence[Panel]: ...


def count(claims: Sequence[Claim]) -> str:
    """The verdict of a lesson: how many of its claims hold."""
    holding, left = (sum(one.word == word for one in claims) for word in ("holds", "not decidable here"))
    said = f"{holding} of {len(claims)} claims hold" if len(claims) != 1 else f"{holding} of 1 claim holds"
    return said + (f", {left} not decidable" if left else "")
