"""Looks inside a model take turns: one look computes at a time, and between two passes of a model another may continue.

The client with the least time since it began to wait goes first, and of its looks the one with the least time.  So a
short text gets its result while long ones are computed, and a client with many looks waits behind clients with one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TypeVar

from ..passes.pausing import Stopped, pausing
from .batcher import WORKER, busy_error

Result = TypeVar("Result")


@dataclass(eq=False)
class Turn:
    """One look that runs or waits; `spent` is in seconds."""

    client: str
    spent: float = 0.0
    wanted: bool = True


class Turns:
    """The queue of looks, on one event loop, which also frees abandoned looks; each look has a thread.

    Args:
        most: the number of looks that may run or wait.
    """

    def __init__(self, most: int):
        self.most = most
        self._threads = ThreadPoolExecutor(most, WORKER)
        self._changed = threading.Condition()  # guards what follows
        self._present: list[Turn] = []  # in order of arrival
        self._spent: dict[str, float] = {}  # seconds of each client that is present
        self._running: Turn | None = None
        self._began = 0.0  # its present turn

    @property
    def full(self) -> bool:
        return len(self._present) >= self.most

    async def run(self, client: str, work: Callable[[], Result]) -> Result:
        """The result of the work, which stops at its next pass if this call is cancelled.

        Raises APIError (503) if the queue is full.
        """
        if self.full:
            raise busy_error()
        turn = Turn(client)
        with self._changed:
            self._present.append(turn)
            self._spent.setdefault(client, 0.0)
        future = self._threads.submit(self._work, turn, work)
        future.add_done_callback(lambda _: self._leave(turn))
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._give_up(turn)

    def close(self) -> None:
        """Stop everything at its next pass."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for turn in list(self._present):
            self._give_up(turn)

    def _work(self, turn: Turn, work: Callable[[], Result]) -> Result:
        self._begin(turn)
        try:
            with pausing(partial(self._pause, turn)):
                return work()
        finally:
            self._end(turn)

    def _pause(self, turn: Turn) -> None:
        """Let others continue if it is their turn; raises Stopped if nobody waits for this look."""
        self._end(turn)
        self._begin(turn)

    def _begin(self, turn: Turn) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not turn.wanted or (self._running is None and self._next() is turn))
            if not turn.wanted:
                raise Stopped
            self._running, self._began = turn, monotonic()

    def _end(self, turn: Turn) -> None:
        with self._changed:
            if self._running is turn:  # otherwise it was stopped while it waited
                seconds = monotonic() - self._began
                turn.spent += seconds
                self._spent[turn.client] += seconds
                self._running = None
                self._changed.notify_all()

    def _next(self) -> Turn:
        return min((one for one in self._present if one.wanted), key=lambda one: (self._spent[one.client], one.spent))

    def _give_up(self, turn: Turn) -> None:
        with self._changed:
            turn.wanted = False
            self._changed.notify_all()

    def _leave(self, turn: Turn) -> None:
        with self._changed:
            self._present.remove(turn)
            if turn.client not in {one.client for one in self._present}:
                del self._spent[turn.client]
            self._changed.notify_all()
