"""Progress of a long translation on stderr: how much is done, at what rate, and the time left."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from seq2see.training.progress import duration

SHOWN, SAID = 0.5, 30.0  # seconds between two reports: on a terminal, where each replaces the last, and elsewhere


class Progress:
    """Of `total` lines or texts, `done` of which were there before.

    On a terminal one line is kept up to date; a log gets a line every half minute.  The end is told of what took that
    long, or was shown.
    """

    def __init__(self, name: str, total: int, unit: str, *, done: int = 0, stream: TextIO | None = None,
                 clock: Callable[[], float] = time.monotonic):
        self.name, self.total, self.unit, self.done, self.before = name, total, unit, done, done
        self.stream, self.clock = stream or sys.stderr, clock
        self.on_terminal = self.stream.isatty()
        self.every = SHOWN if self.on_terminal else SAID
        self.began = self.last = clock()

    def advance(self, count: int) -> None:
        self.done += count
        now = self.clock()
        if now - self.last >= self.every and self.done < self.total:
            self.last = now
            left = duration((now - self.began) * (self.total - self.done) / max(1, self.done - self.before))
            self._say(f"{self.done:,} of {self.total:,} {self.unit}, {self._rate(now)}, {left} left", stays=False)

    def end(self) -> None:
        """All are done."""
        now = self.clock()
        if now - self.began >= self.every:
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
