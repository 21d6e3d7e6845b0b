"""How code looks in documents of Office: fonts of one width, and styles named for code."""

from __future__ import annotations

import re

# Words in the names of fonts of one width: DejaVu Sans Mono, Source Code Pro, Courier New.
_FONT = re.compile(r"\b(?:mono|code|console|courier|consolas|inconsolata|menlo|monaco|fixedsys|sans typewriter|hack)"
                   r"(?![a-z])", re.IGNORECASE)
_STYLE = re.compile(r"(?:(?:source|inline|html|program|computer)[ _-]?)?"
                    r"(?:code|preformatted|verbatim|listing|source[ _-]?text)"
                    r"(?:[ _-]?(?:block|char|character|example|inline|style|text|zchn))*", re.IGNORECASE)
MOSTLY = 0.8  # of the letters of a file: if so many are in such fonts, it is a typescript


def is_monospaced(font: str) -> bool:
    """Whether a font of this name is one of code."""
    return _FONT.search(font) is not None


def is_named_code(style: str) -> bool:
    """Whether a style of this name is one of code."""
    return _STYLE.fullmatch(style.replace("_20_", " ")) is not None
