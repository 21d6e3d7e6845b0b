"""How the cost of work on a text grows with the text's length."""

import gc
from collections.abc import Callable
from time import thread_time
from typing import TypeVar

Input = TypeVar("Input")
ATTEMPTS, SLACK = 3, 0.3  # seconds, below which a cost is mostly chance


def is_linear(work: Callable[[Input], object], short: Input, long: Input, *, most: float) -> bool:
    """Whether `long` costs at most `most` times what `short` does, in one of three attempts.

    Seconds of this thread's processor, without the collection of garbage: a worker of the tests has threads and
    millions of objects of other tests."""
    return any(_cost(work, long) < most * _cost(work, short) + SLACK for _ in range(ATTEMPTS))


def _cost(work: Callable[[Input], object], given: Input) -> float:
    gc.disable()
    try:
        began = thread_time()
        work(given)
        return thread_time() - began
    finally:
        gc.enable()
