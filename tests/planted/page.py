"""Faults of the page and of pictures: what is escaped, masked and stated.  Those of JavaScript replace text."""

import unicodedata
from typing import Any

from . import fault


def text(name: str, file: str, old: str, new: str, tests: str) -> None:
    @fault(name, "lens.explorer:asset", tests)
    def _(original: Any, asset: str) -> str:
        found = original(asset)
        if asset == file and old not in found:
            raise SystemExit(f"{file} no longer has what the fault {name!r} replaces: {old!r}")
        return found.replace(old, new) if asset == file else found


PAGE = "lens/test_page.py"
text("a template's texts are markup", "markup.js", "ESCAPES[mark])", "mark)", PAGE)
text("a masked cell is a weight", "trace.js", "column.pieces[0] > row.pieces.at(-1)",
     "column.pieces[0] > row.pieces.at(-1) + 1", PAGE)  # fmt: skip


@fault("a text can end the script element", "lens.explorer:as_data", "lens/test_show.py")
def _(original: Any, value: Any) -> str:
    return original(value).replace("\\u003c", "<")


@fault("a terminal is sent marks that turn a line round", "lens.wording:printable", "lens/test_show.py")
def _(original: Any, text: str) -> str:
    return "".join(c if unicodedata.category(c) == "Cf" else original(c) for c in text)


@fault("a map is given the trust of the other rows", "lens.trust:Trust.of", "lens/test_trust.py cli/test_look.py")
def _(original: Any, self: Any, view: str, rows: str, name: Any) -> Any:
    return original(self, view, "reads" if rows == "predicts" and view != "left_out" else "predicts", name)


@fault("the slider's temperatures work upside down", "lens.probabilities:log_sums", "lens/test_calibration.py")
def _(original: Any, trace: Any) -> Any:
    return original(trace)[:, ::-1]
