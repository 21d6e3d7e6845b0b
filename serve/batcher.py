"""Batches requests: sources with equal decoding options are translated together.

Each request awaits `Batcher.submit`.  Worker threads call the engine, with as many calls at a time as it can use.  All
bookkeeping happens on the event loop, so there are no locks.  A batch takes the first source and others with equal
options, up to a number of tokens; the engine sorts them by length.  In one batch the oldest requests go first, in the
next the shortest: so a short one is answered soon, and none waits for ever.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import attrgetter

from ..translate.decoding import DecodingOptions
from ..translate.loaded_checkpoint import ModelChanged
from ..translate.results import EngineOutput, Ids, Wanted
from ..translate.segment_translator import Work
from .api_errors import APIError
from .server_metrics import Metrics

WORKER = "seq2see-worker"  # name of the threads, by which the server finds those still working at shutdown
Translate = Callable[[list[Ids], DecodingOptions, Wanted], list[EngineOutput]]
Outcome = EngineOutput | BaseException
SIZE = attrgetter("size")


def busy_error() -> APIError:
    return APIError(503, "queue_full", "the server is busy: try again in a second", retry_after=1)


@dataclass(eq=False, frozen=True)
class QueuedSource:
    """One source in the queue; `arrival` is on the clock of its event loop."""

    source: Ids
    options: DecodingOptions
    future: asyncio.Future[Outcome]
    arrival: float
    request: int  # those of one request have the same number
    size: int  # tokens of its request


class Batcher:
    """
    Args:
        translate: the engine's call; it blocks, and may raise anything.  Its last argument is a `Wanted`.
        threads: concurrent calls.
        batch_tokens: source tokens in one call, at most (a longer source goes alone).
        queue_tokens: tokens that may wait; beyond that, `submit` fails.
        wait: seconds that the oldest item waits for others, unless the request before it was alone.
    """

    def __init__(self, translate: Translate, *, threads: int, batch_tokens: int, queue_tokens: int, wait: float,
                 metrics: Metrics):
        self.translate = translate
        self.threads = self.free = threads
        self.batch_tokens = batch_tokens
        self.queue_tokens = queue_tokens
        self.wait = wait
        self.metrics = metrics
        self.queued = 0  # tokens
        self.next_part = asyncio.Lock()  # of a document's texts: one at a time, in turns
        self._requests = 0
        self._quiet = False  # the last batch was of one request, and there was no other: the next need not wait
        self._shortest_first = False  # in the next batch
        self._refused = False  # since the queue had much room
        self._waiting: dict[QueuedSource, None] = {}  # oldest first; a dict, so that any item can be removed quickly
        self._timer: asyncio.TimerHandle | None = None
        self._threads = ThreadPoolExecutor(threads, WORKER)

    async def submit(self, work: Sequence[Work]) -> list[EngineOutput]:
        """The engine's output for each source, in order.

        Cancelling removes waiting sources from the queue.  Raises APIError (503) immediately if the queue is full, and
        RuntimeError if the engine fails on any of the sources.
        """
        tokens = sum(len(source) for source, _ in work)
        if self.queued and self.queued + tokens > self.queue_tokens:  # an empty queue accepts anything
            self._refused = True
            raise busy_error()
        loop = asyncio.get_running_loop()
        self._requests += 1
        items = [QueuedSource(source, options, loop.create_future(), loop.time(), self._requests, tokens)
                 for source, options in work]
        self._waiting |= dict.fromkeys(items)
        self._count(tokens)
        self._start_batches()
        try:
            outcomes = [await item.future for item in items]
        finally:  # answered or cancelled: nobody waits for these any more
            for item in items:
                item.future.cancel()
            self._dequeue([item for item in items if item in self._waiting])
        for outcome in outcomes:
            if isinstance(outcome, ModelChanged):
                raise outcome
            if isinstance(outcome, BaseException):
                raise RuntimeError(type(outcome).__name__) from outcome
        return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]

    @property
    def full(self) -> bool:
        """Whether requests of any size are refused: from the first that did not fit until an eighth of the queue is
        free.
        """
        return self._refused and self.queued > self.queue_tokens * 7 / 8

    def close(self) -> None:
        """Let the threads finish their current call, then end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _count(self, tokens: int) -> None:
        self.queued += tokens
        self._refused &= tokens > 0 or self.full
        self.metrics.queued.inc(tokens)

    def _dequeue(self, items: Sequence[QueuedSource]) -> None:
        """Remove items from the queue."""
        for item in items:
            del self._waiting[item]
        self._count(-sum(len(item.source) for item in items))

    def _start_batches(self) -> None:
        """Start batches that are full or have waited long enough, while threads are free."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        while self.free and self._waiting:
            first = min(self._waiting, key=SIZE) if self._shortest_first else next(iter(self._waiting))
            left = 0 if self._quiet else first.arrival + self.wait - loop.time()
            may_wait = left > 0 and self.queued < self.batch_tokens  # then nobody need look which are alike
            same_options = [] if may_wait else [item for item in self._waiting if item.options == first.options]
            if self._shortest_first:
                same_options.sort(key=SIZE)
            ends = list(accumulate(len(item.source) for item in same_options))
            if may_wait or (left > 0 and ends[-1] < self.batch_tokens):
                self._timer = loop.call_later(left, self._start_batches)
                return
            share = min(self.batch_tokens, -(-ends[-1] // self.free))  # leave a share for other free threads
            batch = same_options[: max(1, bisect_right(ends, share))]
            self._dequeue(batch)
            self._shortest_first = not self._shortest_first
            is_one = batch[0].request == batch[-1].request
            self._quiet = is_one and not self._waiting and self.free == self.threads
            self.free -= 1
            self.metrics.batch_size.observe(len(batch))
            self.metrics.tokens.labels("source").inc(ends[len(batch) - 1])
            loop.run_in_executor(self._threads, self._outcomes, batch).add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: Sequence[QueuedSource], done: asyncio.Future[Sequence[Outcome]]) -> None:
        self.free += 1
        for item, outcome in zip(batch, done.result(), strict=True):
            if not item.future.done():  # the request was cancelled
                item.future.set_result(outcome)
        self._start_batches()

    def _outcomes(self, batch: Sequence[QueuedSource]) -> Sequence[Outcome]:
        """In a thread: the output for each item; if the engine fails on the batch, retry the items one by one.

        Failures are values here.  A panic of the tokenizer is a BaseException, not an Exception.
        """
        try:
            return self.translate([item.source for item in batch], batch[0].options,
                                  lambda i: not batch[i].future.done())
        except BaseException as error:
            if len(batch) == 1:
                return [error]
        return [self._outcomes([item])[0] if not item.future.done() else () for item in batch]
