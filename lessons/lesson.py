"""What a lesson is: prose in Markdown, a module beside it that measures, and the record of a run of both.

`05-many-heads.md` says what is claimed, what was done, what came out and what to try next; `prose.py` reads it and
fills its placeholders. `l05_many_heads.py` has

    SHOWN                                 functions whose source the page shows: the lines that matter
    measure(bench) -> Figures             everything measured, by name; what is random comes from bench.seed
    claims(figures) -> {key: [Check]}     what decides each claim: a claim holds if all its checks pass
    exhibits(figures) -> [Table | Panel]  what the page shows: tables, and the panels of a picture (`drawing.py`)

What a reader predicts and moves on the page is `webpage/lessons/lesson_many_heads.js`; the record's figures reach it as
`lesson.result`.  Placeholders name figures: `{off:.0e}`. `Figures` may have a `look`, the map that "look for yourself"
opens.  A lesson imports from here what most lessons need.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

from ..lens.records.intervals import Estimate
from .drawing import Bars, CurvePanel, MapPanel, Panel, head_map
from .figures import columns_of, over_seeds, spelled
from .workbench import Workbench

__all__ = [
    "Bars", "Check", "Checks", "CurvePanel", "Exhibits", "Figures", "Estimate", "Look", "MapPanel", "SENTENCE",
    "TRANSLATION",
    "Table", "Workbench", "columns_of", "head_map", "over_seeds",
]

Figures = SimpleNamespace
Word = Literal["holds", "does not hold here", "not decidable here"]
Comparison = Literal["<", "≤", "=", "≥", ">"]
COMPARISONS: dict[Comparison, Callable[[float, float], bool]] = {
    "<": operator.lt, "≤": operator.le, "=": operator.eq, "≥": operator.ge, ">": operator.gt}
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
        return COMPARISONS[self.comparison](float(self.value), self.threshold)

    def __str__(self) -> str:
        was = "" if self.was is None else f" (set after a first result; the first threshold was {self.was:.3g})"
        what = f"{self.of}: " if self.of else ""
        return f"{what}{spelled(self.value)}, required {self.comparison} {self.threshold:.3g}{was}"


def word_of(checks: Sequence[Check]) -> Word:
    """A claim holds if every check passes; a check without a value leaves it open, unless another one fails."""
    known = [check for check in checks if not math.isnan(check.value)]
    if not all(check.passes for check in known):
        return "does not hold here"
    return "holds" if len(known) == len(checks) else "not decidable here"


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


Checks = dict[str, list[Check]]
Exhibits = list[Table | Panel]


def count(words: Sequence[Word]) -> str:
    """The verdict of a lesson: how many of its claims hold."""
    holding, left = words.count("holds"), words.count("not decidable here")
    verdict = f"{holding} of {len(words)} claims hold" if len(words) != 1 else f"{holding} of 1 claim holds"
    return verdict + (f", {left} not decidable" if left else "")
