"""What a lesson is: a module with the names of `Lesson`, and what passes between it and the page.

    compute(bench) -> Result        the figures; everything random comes from bench.seed
    judge(result)  -> Verdict       by thresholds that are named constants at the module's top, never by prose
    tables(result) -> Tables        the figures as a reader wants them
    look(result)   -> Look | None   the map to open next, of a head that was found and so is there
    draw(result)   -> Figure        one picture, drawn inside `drawing.style`

A claim of several parts has a `Finding` for each, and `overall` makes the verdict of the lesson from theirs. What these
figures cannot decide is `undecided`: it is said, and counts neither for the claim nor against it.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .workbench import Workbench

Word = Literal["holds", "holds partly", "does not hold here", "not decidable here"]
DIGITS = 6  # significant ones that are kept of a figure


@dataclass(frozen=True)
class Finding:
    """One part of a claim, and what came of it: `why` is a plain sentence with the figure and the threshold."""

    claim: str
    word: Word
    why: str


@dataclass(frozen=True)
class Verdict:
    """What came of a lesson's claim; `why` says it with the figures and the threshold, and how much is undecided."""

    word: Word
    why: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Table:
    """Figures for people: every cell is text. `Table.of` writes numbers with as many digits as they deserve."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False  # large: shut until the reader opens it

    @classmethod
    def of(
        cls, caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, folded: bool = False
    ) -> Table:
        return cls(caption, tuple(columns), tuple(tuple(spelled(cell) for cell in row) for row in rows), folded)


@dataclass(frozen=True)
class Look:
    """What "look for yourself" opens: a text and one head's map of it."""

    text: str
    kind: Literal["encoder", "decoder", "cross"] = "cross"
    layer: int = 0
    head: int = 0


class Lesson(Protocol):
    """A lesson's module. Texts may hold `code` and *words spoken of*; a blank line parts paragraphs of HOW."""

    __name__: str
    TITLE: str
    CLAIM: str  # one sentence: what the notes say, in our words
    HOW: str  # what is computed here, on what, and how to read the picture
    TRY: str  # what to try next
    SHOWN: tuple[Callable[..., Any], ...]  # functions and classes whose source the page shows: the lines that matter

    def compute(self, bench: Workbench) -> Any: ...

    def judge(self, result: Any) -> Verdict: ...

    def tables(self, result: Any) -> tuple[Table, ...]: ...

    def look(self, result: Any) -> Look | None: ...

    def draw(self, result: Any) -> Figure: ...


def found(claim: str, holds: bool | Word, why: str) -> Finding:
    """A finding from yes or no, or from a word where the truth lies between."""
    word: Word = holds if isinstance(holds, str) else "holds" if holds else "does not hold here"
    return Finding(claim, word, without_nan(why))


def undecided(claim: str, why: str) -> Finding:
    """A finding where no figure that could come out here would decide: `why` says what is missing."""
    return Finding(claim, "not decidable here", without_nan(why))


def overall(findings: Sequence[Finding], why: str) -> Verdict:
    """The lesson's verdict: it holds if every part that is decided does, not if none does, else partly."""
    left = sum(finding.word == "not decidable here" for finding in findings)
    words = {finding.word for finding in findings if finding.word != "not decidable here"}
    word: Word = words.pop() if len(words) == 1 else "holds partly" if words else "not decidable here"
    counted = f" Not decidable here: {left} of {len(findings)} parts." if left else ""
    return Verdict(word, without_nan(why) + counted, tuple(findings))


def without_nan(sentence: str) -> str:
    """A sentence with a dash for each figure that could not be measured, and what the dash means."""
    said = re.sub(r"[+−-]?\bnan\b(\s?%)?", "–", sentence)
    return sentence if said == sentence else f"{said} (–: not measurable here.)"


def spelled(value: Any) -> str:
    """A number as a reader wants it: about three significant digits, thousands parted; text stays."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if math.isnan(value):
        text = "–"
    elif size >= 100 or value == 0:
        text = f"{value:,.0f}"
    elif size < 0.0005:
        text = f"{value:.1e}"
    else:
        text = f"{value:.{2 if size >= 1 else 3}f}"
    return text.replace("-", "−")


def to_data(value: Any) -> Any:
    """A result as what JSON can hold: dataclasses as objects, arrays and tuples as lists, figures of six digits.

    NaN and infinities become null. TypeError for what is neither figure, text, dataclass nor a collection of them.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return to_data(value.tolist())
    if isinstance(value, np.generic):
        return to_data(value.item())
    if isinstance(value, dict):
        return {str(key): to_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"a lesson's result holds a {type(value).__name__}, which has no place in JSON")
