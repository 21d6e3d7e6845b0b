"""Threads that the event loop hands blocking work to, and that never keep the process from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class Failure(Exception):
    """A BaseException that is no Exception, as a tokenizer's panic is one, in work handed to a thread.

    The cause is chained.  As it came, a KeyboardInterrupt in a future would end the event loop.
    """


class Threads:
    """So many threads, which take work in the order in which it came.  They survive whatever the work raises."""

    def __init__(self, count: int, name: str):
        self._work: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None] = SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._run, daemon=True, name=name).start()

    def do(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """The result, once a thread is free and done; work whose future is cancelled before is left out."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._work.put((work, future))
        return future

    def close(self) -> None:
        """Let the threads end after what they have."""
        for _ in range(self._count):
            self._work.put(None)

    def _run(self) -> None:
        while True:
            item = self._work.get()
            if item is None or not _done(*item):
                return
            del item  # or a visitor's text would stay until the next one's comes


def _done(work: Callable[[], Any], future: asyncio.Future[Any]) -> bool:
    """Do the work and deliver what comes of it; False where the loop is closed: the server has ended."""
    if future.cancelled():
        return True
    result, error = None, None
    try:
        result = work()
    except Exception as raised:
        error = raised
    except BaseException as raised:
        error = Failure(type(raised).__name__)
        error.__cause__ = raised
    try:
        future.get_loop().call_soon_threadsafe(_deliver, future, result, error)
    except RuntimeError:
        return False
    return True


def _deliver(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
