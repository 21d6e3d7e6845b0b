"""What is said on stderr before, during and after a training.  Imports nothing heavy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

Item = TypeVar("Item")
EVERY = 3  # seconds between two reports


@dataclass(frozen=True)
class Watched(Generic[Item]):
    """Items that are counted on stderr each time they are gone through, where that takes more than a few seconds.

    Whichever process does the work says so: what several of them need is made by one (cache.py).
    """

    items: Iterable[Item]
    what: str
    total: int | None = None

    def __iter__(self) -> Iterator[Item]:
        from tqdm.auto import tqdm

        yield from tqdm(self.items, self.what, self.total, leave=False, delay=EVERY, mininterval=EVERY)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 0:04:12."""
    return str(timedelta(seconds=round(seconds)))


def say(line: str) -> None:
    """A line to stderr, once where several processes train together."""
    if os.environ.get("RANK", "0") == "0":
        print(line, file=sys.stderr, flush=True)
