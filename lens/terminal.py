"""One attention map in a terminal: a number in every cell, and shading behind it where the terminal has colour."""

import unicodedata

import regex

from seq2see.errors import UserError
from seq2see.lens.show import ABOUT, COLUMNS, NAMES, ROWS, facts, labels
from seq2see.lens.summary import sink_shares
from seq2see.lens.trace import Kind, Trace

LONGEST = 14  # columns of the screen for a label; a longer one ends in an ellipsis
# xterm colours 16-255 from dark to light blue and white: their brightness rises evenly, so no hue need be told apart
SHADES = (234, 17, 18, 24, 25, 31, 38, 74, 110, 152, 195)


def to_terminal(trace: Trace, *, kind: Kind = "cross", layer: int | None = None, head: int | None = None,
                colour: bool = False, width: int = 80) -> str:
    """Draw one head.  Layers and heads count from 0; the last layer and the first head unless told otherwise.

    A cell is the weight in hundredths (`37` is 0.37, `.` under 0.005, blank where the step cannot look); columns that
    do not fit `width` follow in a further block.  UserError for a layer or head that the model does not have.
    """
    layers, heads, rows, _ = trace.maps(kind).shape
    layer = _check("layer", layer if layer is not None else layers - 1, layers)
    head = _check("head", head if head is not None else 0, heads)
    weights = trace.maps(kind)[layer, head]
    names = [_fit(name) for name in labels(trace.row_pieces(kind))]
    columns = [_fit(name) for name in labels(trace.column_pieces(kind))]
    margin = max(map(_width, names)) + 1
    end, tags, punctuation = sink_shares(trace, kind)[layer, head]
    lines = [
        f"{NAMES[kind]}, layer {layer} of 0-{layers - 1}, head {head} of 0-{heads - 1}: {ABOUT[kind]}",
        f"{ROWS[kind]}; {COLUMNS[kind]}; a cell: hundredths; `·` continues a word",
        f"{end:.0%} of this head's attention is on the closing </s>, {tags:.0%} on tags and the start, "
        f"{punctuation:.0%} on punctuation",
    ]
    per_block = max(1, (width - margin) // 3)
    for first in range(0, len(columns), per_block):
        block = range(first, min(first + per_block, len(columns)))
        lines += ["", *_header([columns[c] for c in block], margin)]
        for row in range(rows):
            cells = ("   " if kind == "decoder" and c > row else _cell(float(weights[row, c]), colour) for c in block)
            lines.append(names[row] + " " * (margin - _width(names[row])) + "".join(cells).rstrip(" "))
    others = [f"--kind {' | '.join(NAMES)}", f"--layer 0-{layers - 1}", f"--head 0-{heads - 1}"]
    lines += ["", facts(trace), f"Others: {', '.join(others)}; or all of them at once: --out look.html"]
    return "\n".join(lines)


def _check(what: str, number: int, count: int) -> int:
    if not 0 <= number < count:
        raise UserError(f"there is no {what} {number} here: expected 0 to {count - 1}", exit_code=2)
    return number


def _cell(weight: float, colour: bool) -> str:
    hundredths = round(weight * 100)
    text = "  ." if hundredths == 0 else f"{hundredths:3d}"
    if not colour:
        return text
    shade = min(int(weight * len(SHADES)), len(SHADES) - 1)
    return f"\x1b[48;5;{SHADES[shade]};38;5;{255 if shade < 6 else 16}m{text}\x1b[0m"


def _header(columns: list[str], margin: int) -> list[str]:
    """Column labels written downwards, ending just above their column; wide characters keep their width."""
    letters = [regex.findall(r"\X", name) for name in columns]  # graphemes: a vowel sign stays with its letter
    tallest = max(map(len, letters))
    lines = []
    for i in range(tallest):
        line = ""
        for name in letters:
            at = i - (tallest - len(name))
            c = name[at] if at >= 0 else " "
            line += " " * (3 - _width(c)) + c
        lines.append((" " * margin + line).rstrip())
    return lines


def _fit(text: str) -> str:
    shown = ""
    for c in text:
        if _width(shown + c) > LONGEST - 1:
            return shown + "…"
        shown += c
    return shown


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
