"""Plain text in UTF-8, whose line breaks and spaces the translator keeps.

A paragraph that was broken into lines only because they were full is a text of its own, without these breaks; its
translation is broken at the same width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from seq2see.errors import UserError
from seq2see.streams import UTF_16, is_utf16
from .places import MAY_BREAK, Place, document_of, filled
from .protocol import Document, FileOptions

MARK = "\ufeff"  # byte order mark
WIDTHS = range(50, 121)  # characters of a full line
_LINES = re.compile(  # of a paragraph, or blank
    r"(?P<paragraph>(?:[^\S\r\n]*+\S[^\r\n]*+(?:\r?\n|\r|\Z))++)|(?:[^\S\r\n]*+(?:\r?\n|\r))++|[^\S\r\n]*+\Z")
_PIECES = re.compile(r"(?s:.{1,10000}(?:\n|\Z))|[^\n]+\n?")
_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)]*\Z")


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """The byte order mark, or nothing, and the text; UserError for another encoding than UTF-8."""
    if is_utf16(data):
        raise UserError(f"{name} is {UTF_16}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 (byte {error.start + 1}): convert it, for example with"
                        " iconv -f LATIN1 -t UTF-8") from None
    return (MARK, text[1:]) if text.startswith(MARK) else ("", text)


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, source = decoded(data, name)
    return document_of(source, _places(source), name=name, mark=mark)


def _places(source: str) -> Iterator[Place]:
    """The paragraphs: with full lines as one text, others in pieces of whole lines, as a text may not have any length.
    """
    for paragraph in _LINES.finditer(source):
        if not paragraph["paragraph"]:
            continue
        if _are_full(_split(paragraph[0].rstrip())):
            yield _wrapped(source, paragraph.start(), paragraph.start() + len(paragraph[0].rstrip()))
            continue
        for piece in _PIECES.finditer(source, *paragraph.span()):
            yield Place(*piece.span(), (piece[0],), lambda translations: translations[0])


def _split(paragraph: str) -> list[str]:
    """The lines of a paragraph, all with words; `splitlines` would also cut at a page break inside."""
    return re.split(r"\r\n|\r|\n", paragraph)


def _are_full(lines: Sequence[str]) -> bool:
    """Whether no line had room for the first word of the next, and few end with a sentence, as lines of a list do."""
    width = max(map(len, lines))
    indents = {len(line) - len(line.lstrip()) for line in lines[1:]}
    ends = sum(_SENTENCE_END.search(line) is not None for line in lines[:-1])
    return width in WIDTHS and len(indents) == 1 and ends * 2 < len(lines) - 1 and all(
        len(line) + 1 + len(following.split(None, 1)[0]) > width
        for line, following in zip(lines, lines[1:], strict=False))


def _wrapped(source: str, start: int, end: int) -> Place:
    lines = _split(source[start:end])
    width = max(map(len, lines))
    text = " ".join(line.strip() for line in lines)
    newline = "\r\n" if "\r\n" in source[start:end] else "\n"
    first, others = (line[: len(line) - len(line.lstrip())] for line in lines[:2])

    def written(translations: Sequence[str]) -> str:
        return newline.join(filled(MAY_BREAK.split(first + translations[0].lstrip()), width, others))

    return Place(start, end, (text,), written)
