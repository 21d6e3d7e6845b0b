"""Lines of standard input, for the verbs that answer each with a line: those that are there at once go together."""

import io
import os
import queue
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, TypeVar

from seq2see.errors import UserError
from seq2see.streams import LINES_CHECKED, decoded

LONGEST_LINE = 2**20  # bytes: no memory is asked for what nobody would wait for
LINES_AT_ONCE = 256  # lines that are sorted by length together
LINES_AHEAD = 4 * LINES_AT_ONCE  # lines read before they are needed
PATIENCE = 0.3  # seconds that the first line of a pipe is waited for, before a model is loaded for it

Result = TypeVar("Result")
Line = tuple[int, str]  # its number, from 1, and its text without the line's end
Check = Callable[[str], object]  # UserError for a line that no model is needed to refuse


def line_by_line(work: Callable[[list[str]], list[Result]], lines: list[Line]) -> Iterator[Result]:
    """All lines in batches; if one is refused, those before it still come out, and the error names it."""
    try:
        yield from work([text for _, text in lines])
    except UserError:
        for number, text in lines:
            try:
                yield from work([text])
            except UserError as error:
                raise UserError(f"line {number}: {error}") from error


def stdin() -> BinaryIO:
    """What comes in, no longer `sys.stdin`'s: Python, as it ends, would want the lock that a thread still has which
    waits for more, and abort."""
    assert isinstance(sys.stdin, io.TextIOWrapper)
    return sys.stdin.detach()


def windows(stream: BinaryIO, check: Check) -> Iterator[list[Line]]:
    """Lines in groups: those that a reading thread has ready, LINES_AT_ONCE at most.

    UserError at once, before anything is asked of the iterator, where the beginning of a file is refused, or the first
    line of what is none, and comes soon.
    """
    if _is_file(stream):
        start = stream.tell()
        for _ in islice(_lines(stream, check), LINES_CHECKED):
            pass
        stream.seek(start)
    ready: queue.Queue[Line | Exception | None] = queue.Queue(LINES_AHEAD)
    threading.Thread(target=_read, args=(_lines(stream, check), ready), daemon=True).start()
    first = []
    with suppress(queue.Empty):
        first.append(ready.get(timeout=PATIENCE))
    if first and isinstance(first[0], Exception):
        raise first[0]
    return _grouped(first, ready)


def _is_file(stream: BinaryIO) -> bool:
    """Whether it can be read at once and again, as a pipe cannot."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:  # it is none of the system's
        return False


def _grouped(
    first: list[Line | Exception | None], ready: queue.Queue[Line | Exception | None]
) -> Iterator[list[Line]]:
    item = first[0] if first else ready.get()
    while item is not None:
        lines: list[Line] = []
        while isinstance(item, tuple):
            lines.append(item)
            if len(lines) == LINES_AT_ONCE:
                break
            try:
                item = ready.get_nowait()
            except queue.Empty:
                break
        if lines:
            yield lines
        if isinstance(item, Exception):
            raise item
        if item is not None:
            item = ready.get()


def _read(lines: Iterator[Line], ready: queue.Queue[Line | Exception | None]) -> None:
    try:
        for line in lines:
            ready.put(line)
        ready.put(None)
    except Exception as error:  # to be raised where it is seen
        ready.put(error)


def _lines(stream: BinaryIO, check: Check) -> Iterator[Line]:
    """UserError that names the line where one is not UTF-8, far too long, or refused by the check."""
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
        if len(raw) > LONGEST_LINE:
            raise UserError(f"line {number} of the input is longer than {LONGEST_LINE:,} bytes; break it up")
        text = decoded(raw, f"line {number} of the input")
        try:
            check(text)
        except UserError as error:
            raise UserError(f"line {number}: {error}") from error
        yield number, text
