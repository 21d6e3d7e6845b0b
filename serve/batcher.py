"""Many requests, one engine: sources that are to be translated alike are translated together.

`Batcher.submit` is awaited by each request; threads of its own call the engine, as many at a time as it can use.  All
bookkeeping is done on the event loop, so there is nothing to lock.  A batch takes the oldest source and others of
equal options, in the order in which they came, up to a number of pieces; the engine sorts them by length.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from ..translate.checkpoint import ModelChanged
from ..translate.decoding import DecodingOptions
from ..translate.job import Work
from ..translate.results import EngineOutput, Ids, Wanted
from .errors import APIError
from .metrics import Metrics

WORKER = "seq2see-worker"  # what threads are called, so that the server finds those still at work when it ends
Translate = Callable[[list[Ids], DecodingOptions, Wanted], list[EngineOutput]]
Outcome = EngineOutput | BaseException


def busy_error() -> APIError:
    return APIError(503, "queue_full", "the server is busy: try again in a second", retry_after=1)


@dataclass(eq=False, frozen=True)
class Item:
    """One source on its way, since `arrival` on the clock of its event loop."""

    source: Ids
    options: DecodingOptions
    future: asyncio.Future[Outcome]
    arrival: float


class Batcher:
    """
    Args:
        translate: the engine's call; it blocks, and may raise anything.  It is given a `Wanted` last.
        threads: how many such calls run at a time.
        batch_tokens: pieces of the sources of one call, at most (one longer source goes alone).
        queue_tokens: pieces that may wait; over that, `submit` refuses.
        wait: seconds that the oldest item waits for company.
    """

    def __init__(self, translate: Translate, *, threads: int, batch_tokens: int, queue_tokens: int, wait: float,
                 metrics: Metrics):
        self.translate = translate
        self.free = threads
        self.batch_tokens = batch_tokens
        self.queue_tokens = queue_tokens
        self.wait = wait
        self.metrics = metrics
        self.queued = 0  # pieces
        # Of equal options, oldest first; a dict, of which any can leave at once.
        self._waiting: dict[DecodingOptions, dict[Item, None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._threads = ThreadPoolExecutor(threads, WORKER)

    async def submit(self, work: Sequence[Work]) -> list[EngineOutput]:
        """What the engine finds for each source, in order.

        Cancelling takes what still waits out of the queue, and tells the engine.  APIError (503) at once if the queue
        is full; RuntimeError if the engine fails on one of the sources, whatever it does on others.
        """
        pieces = sum(len(source) for source, _ in work)
        if self.queued and self.queued + pieces > self.queue_tokens:  # an empty queue takes anything
            raise busy_error()
        loop = asyncio.get_running_loop()
        items = [Item(source, options, loop.create_future(), loop.time()) for source, options in work]
        for item in items:
            self._waiting.setdefault(item.options, {})[item] = None
        self._count(pieces)
        self._start()
        try:
            outcomes = [await item.future for item in items]
        finally:  # it has its answer, or is gone: nobody waits for these any more
            for item in items:
                item.future.cancel()
            self._take([item for item in items if item in self._waiting.get(item.options, ())])
        for outcome in outcomes:
            if isinstance(outcome, ModelChanged):
                raise outcome
            if isinstance(outcome, BaseException):
                raise RuntimeError(type(outcome).__name__) from outcome
        return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]

    def close(self) -> None:
        """Let the threads end after what they are doing."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _count(self, pieces: int) -> None:
        self.queued += pieces
        self.metrics.queued.inc(pieces)

    def _take(self, items: Sequence[Item]) -> None:
        """They wait no longer."""
        for item in items:
            del self._waiting[item.options][item]
            if not self._waiting[item.options]:
                del self._waiting[item.options]
        self._count(-sum(len(item.source) for item in items))

    def _start(self) -> None:
        """Hand out batches, as many as there are free threads, if they are full or have waited long enough."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        while self.free and self._waiting:
            alike = min(map(list, self._waiting.values()), key=lambda items: items[0].arrival)
            ends = list(accumulate(len(item.source) for item in alike))
            left = alike[0].arrival + self.wait - loop.time()
            if left > 0 and ends[-1] < self.batch_tokens:
                self._timer = loop.call_later(left, self._start)
                return
            share = min(self.batch_tokens, -(-ends[-1] // self.free))  # other free threads have theirs
            batch = alike[: max(1, bisect_right(ends, share))]
            self._take(batch)
            self.free -= 1
            self.metrics.batch(sources=len(batch), pieces=ends[len(batch) - 1])
            loop.run_in_executor(self._threads, self._outcomes, batch).add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: Sequence[Item], done: asyncio.Future[Sequence[Outcome]]) -> None:
        self.free += 1
        for item, outcome in zip(batch, done.result(), strict=True):
            if not item.future.done():  # whoever asked is gone
                item.future.set_result(outcome)
        self._start()

    def _outcomes(self, batch: Sequence[Item]) -> Sequence[Outcome]:
        """In a thread: what the engine found for each; if it fails on the whole, it is asked for one after the other.

        Failures are values here.  A panic of the tokenizer is a BaseException and no Exception.
        """
        try:
            found = self.translate([item.source for item in batch], batch[0].options,
                                   lambda i: not batch[i].future.done())
            if len(found) != len(batch):
                raise RuntimeError(f"expected {len(batch)} results of the engine, got {len(found)}")
            return found
        except BaseException as error:
            if len(batch) == 1:
                return [error]
        return [self._outcomes([item])[0] if not item.future.done() else () for item in batch]
