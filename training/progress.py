"""What is said on stderr before, during and after a training.  Imports nothing heavy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar

Item = TypeVar("Item")
EVERY = 3  # seconds between two reports


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
