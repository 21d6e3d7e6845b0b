"""What is written to stderr during a training and other long work: lines, and progress with the time left.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TextIO, TypeVar

Item = TypeVar("Item")
EVERY = 3  # seconds between two reports
SHOWN, SAID = 0.5, 30.0  # seconds between two reports: on a terminal, where each replaces the last, and elsewhere


def watched(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """The items, counted on stderr where that takes more than a few seconds.

    Whichever process does the work says so: what several of them need is made by one (cache.py).
    """
    from tqdm.auto import tqdm

    return tqdm(items, what, total, leave=False, delay=EVERY, mininterval=EVERY)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 0:04:12."""
    return str(timedelta(seconds=round(seconds)))


def is_first() -> bool:
    """Whether this process trains alone, or is the first of those that train together."""
    return os.environ.get("RANK", "0") == "0"


def report(line: str) -> None:
    """A line to stderr, once where several processes train together."""
    if is_first():
        print(line, file=sys.stderr, flush=True)


class Progress:
    """`total` lines or texts; `done` of them were there before.

    On a terminal one line is kept up to date; a log gets a line every half minute.  What takes less time, or less than
    `after` seconds, is not reported.
    """

    def __init__(self, name: str, total: int, unit: str, *, done: int = 0, after: float = 0,
                 stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self.name, self.total, self.unit, self.done, self.before = name, total, unit, done, done
        self.stream, self.clock = stream or sys.stderr, clock
        self.on_terminal = self.stream.isatty()
        self.every = SHOWN if self.on_terminal else SAID
        self.after = max(after, self.every)
        self.began = self.last = clock()

    def advance(self, count: int) -> None:
        self.done += count
        now = self.clock()
        if now - self.last >= self.every and now - self.began >= self.after and self.done < self.total:
            self.last = now
            left = duration((now - self.began) * (self.total - self.done) / max(1, self.done - self.before))
            self._say(f"{self.done:,} of {self.total:,} {self.unit}, {self._rate(now)}, {left} left", stays=False)

    def end(self) -> None:
        """All are done."""
        now = self.clock()
        if now - self.began >= self.after:
            self._say(f"{self.total:,} {self.unit} in {duration(now - self.began)}, {self._rate(now)}", stays=True)

    def clear(self) -> None:
        """Before another line is written, or the work is given up."""
        if self.on_terminal and self.last > self.began:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def _rate(self, now: float) -> str:
        rate = (self.done - self.before) / max(now - self.began, 1e-9)
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.1f} {self.unit}/s"

    def _say(self, what: str, *, stays: bool) -> None:
        self.clear()
        self.stream.write(f"{self.name}: {what}" + "\n" * (stays or not self.on_terminal))
        self.stream.flush()
