"""One attention map in a terminal: a number in every cell, shaded if the terminal has colour."""

import unicodedata

import numpy as np
import regex

from ...passes.attention_kinds import Kind, Rows
from ..data.trace_data import TraceData
from ..data.view_names import VIEW, VIEWS
from .maps import Picture, facts, picture
from .wording import NAMES

LONGEST = 14  # screen columns for a label; longer labels end in an ellipsis
# xterm colours 16-255 from dark to light blue and white, of evenly rising brightness
SHADES = (234, 17, 18, 24, 25, 31, 38, 74, 110, 152, 195)
UNITS = {100: "hundredths", 10: "tenths", 1: "whole numbers"}


def to_terminal(trace: TraceData, *, view: str = "raw", kind: Kind = "cross", layer: int | None = None,
                head: int | None = None, words: bool = False, rows: Rows = "predicts", colour: bool = False,
                width: int = 80) -> str:
    """Draw one map as text for a terminal; the arguments are those of `picture`.

    Cells are in hundredths (`37` is 0.37, `.` is below 0.005, masked cells are blank).  Large numbers are in tenths or
    whole numbers.  Columns that do not fit `width` follow in another block.  Raises UserError for a map that does not
    exist.
    """
    drawn = picture(trace, view=view, kind=kind, layer=layer, head=head, words=words, rows=rows)
    names = [_fit(name) for name in drawn.rows]
    columns = [_fit(name) for name in drawn.columns]
    margin = max(map(_width, names)) + 1
    unit, room = _unit(drawn)
    most = 1.0 if VIEW[view].shares else float(np.nanmax(drawn.cells, initial=1e-9))
    sign = "" if words else "; `·` continues a word"
    lines = [
        f"{drawn.place}: {drawn.about}" if view == "raw" else f"{drawn.title}: {drawn.about}",
        f"{drawn.row_meaning}; {drawn.column_meaning}; a cell: {UNITS[unit]}{sign}",
        f"{drawn.sums} {drawn.sinks}".strip(),
        f"trust: {drawn.trust}",
    ]
    per_block = max(1, (width - margin) // room)
    for first in range(0, len(columns), per_block):
        block = range(first, min(first + per_block, len(columns)))
        lines += ["", *_header([columns[c] for c in block], margin, room)]
        for name, values in zip(names, drawn.cells, strict=True):
            cells = "".join(_cell(float(values[c]), unit, room, most if colour else None) for c in block)
            lines.append(name + " " * (margin - _width(name)) + cells.rstrip(" "))
    others = [f"--view {' | '.join(VIEWS)}", f"--kind {' | '.join(NAMES)}"]
    counts = {"--layer": drawn.layers, "--head": drawn.heads}
    others += [f"{option} 0-{count - 1}" for option, count in counts.items() if count]
    others += ["--words", "--rows predicts | reads"]
    lines += ["", facts(trace), f"Others: {', '.join(others)}; or all of them at once: --out look.html"]
    return "\n".join(lines)


def _unit(drawn: Picture) -> tuple[int, int]:
    """The fraction that cells are printed in, and their width: hundredths for shares, a fitting unit for other numbers.
    """
    largest = float(np.nanmax(np.abs(drawn.cells), initial=0))
    if VIEW[drawn.view].shares:
        return 100, 3 if largest < 9.995 else 4
    unit = next((unit for unit in (100, 10) if largest * unit < 999.5), 1)
    longest = max(len(f"{value:.0f}") for value in (np.nan_to_num(drawn.cells) * unit).flat)
    return unit, longest + 1


def _cell(value: float, unit: int, room: int, most: float | None) -> str:
    """A number, on a colour scale from 0 to `most` if it is given."""
    if np.isnan(value):
        return " " * room
    text = f"{round(value * unit) or '.':>{room}}"
    if most is None:
        return text
    shade = min(max(int(value / most * len(SHADES)), 0), len(SHADES) - 1)
    return f"\x1b[48;5;{SHADES[shade]};38;5;{255 if shade < 6 else 16}m{text}\x1b[0m"


def _header(columns: list[str], margin: int, room: int) -> list[str]:
    """Column labels written downwards, ending above their column; wide characters keep their width."""
    letters = [regex.findall(r"\X", name) for name in columns]  # graphemes: a vowel sign stays with its letter
    height = max(map(len, letters))
    lines = zip(*([" "] * (height - len(name)) + name for name in letters), strict=True)
    return [(" " * margin + "".join(" " * (room - _width(c)) + c for c in line)).rstrip() for line in lines]


def _fit(text: str) -> str:
    shown = ""
    for c in text:
        if _width(shown + c) > LONGEST - 1:
            return shown + "…"
        shown += c
    return shown


def _width(text: str) -> int:
    """The width of a text in screen columns."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
