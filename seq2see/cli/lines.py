"""Lines of standard input for verbs that write a line per line: lines that have arrived together form a batch."""

import io
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar, cast

from seq2see.errors import UserError
from seq2see.streams import LINES_CHECKED, decoded

LONGEST_LINE = 2**20  # bytes
LINES_AT_ONCE = 256  # lines sorted by length together

Result = TypeVar("Result")
Line = tuple[int, str]  # its number, from 1, and its text without the line's end
Check = Callable[[str], object]  # UserError for a line that is invalid for any model


def line_by_line(work: Callable[[list[str]], list[Result]], lines: list[Line]) -> Iterator[Result]:
    """All lines in one batch; if one is invalid, those before it are still processed, and the error names it."""
    try:
        yield from work([text for _, text in lines])
    except UserError:
        for number, text in lines:
            try:
                yield from work([text])
            except UserError as error:
                raise UserError(f"line {number}: {error}") from error


def stdin() -> io.BufferedReader:
    assert isinstance(sys.stdin, io.TextIOWrapper)
    return cast(io.BufferedReader, sys.stdin.buffer)


def windows(stream: io.BufferedReader, check: Check) -> Iterator[list[Line]]:
    """Lines in groups of those that have arrived, at most LINES_AT_ONCE.

    UserError immediately, before iteration, if the beginning of a file is invalid.
    """
    if stream.seekable() and not stream.isatty():  # otherwise it can be read only once
        start = stream.tell()
        for _ in islice(_grouped(stream, check), LINES_CHECKED // LINES_AT_ONCE):
            pass
        stream.seek(start)
    return _grouped(stream, check)


def _grouped(stream: io.BufferedReader, check: Check) -> Iterator[list[Line]]:
    """UserError, after the lines before it, for one that is not UTF-8, far too long, or invalid."""
    number = 0
    for arrived in _arriving(stream):
        group: list[Line] = []
        try:
            for raw in arrived:
                number += 1
                group.append((number, read_line(raw, number, check)))
                if len(group) == LINES_AT_ONCE:
                    yield group
                    group = []
        except UserError:
            if group:
                yield group
            raise
        if group:
            yield group


def _arriving(stream: io.BufferedReader) -> Iterator[list[bytes]]:
    """The lines that are there, then those that have arrived meanwhile, or the next one; the last may be too long."""
    rest = b""
    while len(rest) <= LONGEST_LINE and (arrived := stream.read1(LONGEST_LINE)):
        *lines, rest = (rest + arrived).split(b"\n")
        yield lines
    if rest:
        yield [rest]


def read_line(raw: bytes, number: int, check: Check, *, of: str = "the input") -> str:
    """The text of a line; UserError that names the line and the file if it is invalid."""
    place = f"line {number} of {of}"
    if len(raw) > LONGEST_LINE:
        raise UserError(f"{place} is longer than {LONGEST_LINE:,} bytes; split it")
    text = decoded(raw, place)
    try:
        check(text)
    except UserError as error:
        raise UserError(f"{place}: {error}") from error
    return text
