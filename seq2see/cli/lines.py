"""Lines of standard input for verbs that write a line per line: lines that are available together form a batch."""

import io
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, TypeVar

from seq2see.errors import UserError
from seq2see.streams import LINES_CHECKED, decoded

LONGEST_LINE = 2**20  # bytes
LINES_AT_ONCE = 256  # lines sorted by length together
LINES_AHEAD = 4 * LINES_AT_ONCE  # lines read ahead
PATIENCE = 0.3  # seconds to wait for the first line of a pipe before a model is loaded

Result = TypeVar("Result")
Line = tuple[int, str]  # its number, from 1, and its text without the line's end
Item = Line | Exception | None  # from the thread that reads; None: the end
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


def stdin() -> BinaryIO:
    """Standard input, detached from `sys.stdin`: at exit Python would abort on a reading thread's lock."""
    assert isinstance(sys.stdin, io.TextIOWrapper)
    return sys.stdin.detach()


def windows(stream: BinaryIO, check: Check) -> Iterator[list[Line]]:
    """Lines in groups of those that a reader thread has ready, at most LINES_AT_ONCE.

    UserError immediately, before iteration, if the beginning of a file is invalid, or the first line of a pipe that
    arrives within PATIENCE.
    """
    if stream.seekable() and not stream.isatty():  # otherwise it can be read only once
        start = stream.tell()
        for _ in islice(_lines(stream, check), LINES_CHECKED):
            pass
        stream.seek(start)
    ready: queue.Queue[Item] = queue.Queue(LINES_AHEAD)
    threading.Thread(target=_read, args=(_lines(stream, check), ready), daemon=True).start()
    first = []
    with suppress(queue.Empty):
        first.append(ready.get(timeout=PATIENCE))
    if first and isinstance(first[0], Exception):
        raise first[0]
    return _grouped(first, ready)


def _grouped(first: list[Item], ready: queue.Queue[Item]) -> Iterator[list[Line]]:
    item = first[0] if first else ready.get()
    while isinstance(item, tuple):
        lines = [item]
        while len(lines) < LINES_AT_ONCE and not ready.empty() and isinstance(item := ready.get(), tuple):
            lines.append(item)
        yield lines
        if isinstance(item, tuple):
            item = ready.get()
    if item is not None:
        raise item


def _read(lines: Iterator[Line], ready: queue.Queue[Item]) -> None:
    try:
        for line in lines:
            ready.put(line)
        ready.put(None)
    except Exception as error:  # raised again by the consumer
        ready.put(error)


def _lines(stream: BinaryIO, check: Check) -> Iterator[Line]:
    """UserError that names the line if one is not UTF-8, far too long, or invalid."""
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
        if len(raw) > LONGEST_LINE:
            raise UserError(f"line {number} of the input is longer than {LONGEST_LINE:,} bytes; split it")
        text = decoded(raw, f"line {number} of the input")
        try:
            check(text)
        except UserError as error:
            raise UserError(f"line {number}: {error}") from error
        yield number, text
