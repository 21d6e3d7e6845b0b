"""Sentence pairs in two parallel files."""

import itertools
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from seq2see.errors import UserError
from seq2see.streams import decoded
from ..translate.segment_translator import check_text

TextPair = tuple[str, str]


def read_pairs(source: str, target: str) -> Iterator[TextPair]:
    """The pairs of two files; UserError if their lengths differ, or a line is not UTF-8 or too long."""
    with Path(source).open("rb") as sources, Path(target).open("rb") as targets:
        for number, lines in enumerate(itertools.zip_longest(sources, targets), start=1):
            for path, line in zip((source, target), lines, strict=True):
                if line is None:
                    raise UserError(f"{path} has no line {number}, but the other file does; line N of one file must"
                                    " translate line N of the other")
            yield _text(source, number, lines[0]), _text(target, number, lines[1])


def _text(path: str, number: int, line: bytes) -> str:
    text = decoded(line, f"{path}, line {number}")
    try:
        check_text(text)
    except UserError as error:
        raise UserError(f"{path}, line {number}: {error}") from error
    return unicodedata.normalize("NFC", text)
