"""How the page's handlers ask the service: what they are sent, who waits for whom, and how they say no."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable
from typing import Annotated, Any, TypeVar

import gradio as gr
from pydantic import BaseModel, Field, ValidationError

from ...translate.decoding import MOST_BEAMS, OPTIONS
from ..access import Caller
from ..dialects.bodies import OptionFields, bad_request
from ..errors import APIError
from ..service import Service
from .calls import OUTCOME
from .shown import Start

Result = TypeVar("Result")
Body = TypeVar("Body", bound=BaseModel)
AT_WORK = 8  # requests of the page that are translated at a time: as many make a good batch
MOST_WAITING = 200
MOST_VISITS = 2_000  # of which is remembered what was stopped last


class Ask(OptionFields):
    """A translation that the page asks for, its `n`th; `prefix`: the ids that each of the `parts` is to begin with.

    `shown`: which of the alternatives is to be shown first.
    """

    n: int = Field(ge=0)
    text: str
    source: str | None = Field(default=None, min_length=1)
    target: str | None = Field(default=None, min_length=1)
    model: str | None = None
    prefix: tuple[Annotated[tuple[int, ...], Field(max_length=2_000)], ...] = Field(default=(), max_length=2_000)
    parts: tuple[str, ...] = Field(default=(), max_length=2_000)
    shown: int = Field(default=0, ge=0, lt=MOST_BEAMS)
    start: Start | None = None

    def request(self) -> dict[str, Any]:
        """For `Service.translate`."""
        return {"texts": [self.text.strip()], "source": self.source, "target": self.target, "options": self.options(),
                "model": self.model, "prefix": self.prefix or "", "parts": self.parts}

    def given(self) -> dict[str, Any]:
        """The options that the page names."""
        return {name: value for name in OPTIONS if (value := getattr(self, name)) is not None}


def parse(kind: type[Body], event: gr.EventData) -> Body:
    """What the page's JavaScript sent with an event; APIError for anything else, for anybody may have sent it."""
    try:
        return kind.model_validate_json(json.dumps(event._data), strict=True)
    except ValidationError as error:
        raise bad_request(error) from None
    except (TypeError, ValueError):
        raise APIError(400, "bad_request", "what was sent is not to be read") from None


def read(kind: type[Body], event: gr.EventData) -> Body:
    """The same, for an event whose page waits for nothing: what is wrong with it is shown in a corner."""
    try:
        return parse(kind, event)
    except APIError as error:
        raise page_error(error.message, status=error.status) from None


def caller_of(service: Service, request: gr.Request) -> Caller:
    try:
        return service.access.caller(request)
    except APIError as error:
        raise page_error(error.message, status=error.status) from None


def page_error(message: str, title: str = "Not translated", *, status: int = 400) -> gr.Error:
    """What a handler raises; a call that waits for the handler is answered with this status."""
    if outcome := OUTCOME.get(None):
        outcome.status = status
    return gr.Error(message, title=title, print_exception=False, duration=8)


class Line:
    """Those who wait.  `AT_WORK` are at work; everybody else is told how many stand before them."""

    def __init__(self, at_work: int = AT_WORK):
        self._free = at_work
        self._waiting: list[asyncio.Event] = []

    async def places(self) -> AsyncGenerator[int, None]:
        """How many stand before one, whenever that changes; ends when it is one's turn.  Then `leave` must follow."""
        if self._free and not self._waiting:
            self._free -= 1
            return
        if len(self._waiting) >= MOST_WAITING:
            raise APIError(503, "queue_full", "too many people wait already: try again in a minute", retry_after=60)
        mine = asyncio.Event()
        self._waiting.append(mine)
        try:
            while mine in self._waiting:
                yield self._waiting.index(mine)
                mine.clear()
                await mine.wait()
        except BaseException:
            if mine in self._waiting:
                self._waiting.remove(mine)
                self.tell()
            else:
                self.leave()  # it was one's turn, and one is gone
            raise

    def leave(self) -> None:
        """Work is done: the next one's turn."""
        if self._waiting:
            self._waiting.pop(0).set()
            self.tell()
        else:
            self._free += 1

    def tell(self) -> None:
        """Everybody where they stand, which who has stopped meanwhile leaves."""
        for one in self._waiting:
            one.set()


class Visits:
    """What each visitor's page has at work: a newer request, or a press of Stop, ends the older."""

    def __init__(self) -> None:
        self._stopped: OrderedDict[str, int] = OrderedDict()
        self._running: dict[str, tuple[int, asyncio.Future[Any]]] = {}

    def stop(self, visit: str, n: int) -> None:
        """End what a visit has asked for up to its `n`th request, also what is still in line."""
        self._stopped[visit] = max(n, self._stopped.pop(visit, -1))
        if len(self._stopped) > MOST_VISITS:
            self._stopped.popitem(last=False)
        number, running = self._running.get(visit, (n + 1, None))
        if running is not None and number <= n:
            running.cancel()

    def is_stopped(self, visit: str, n: int) -> bool:
        return n <= self._stopped.get(visit, -1)

    async def run(self, visit: str, n: int, work: Awaitable[Result]) -> Result | None:
        """What the work gives, or None if it was stopped."""
        self.stop(visit, n - 1)
        task = asyncio.ensure_future(work)
        self._running[visit] = n, task
        try:
            return await task
        except asyncio.CancelledError:
            if self.is_stopped(visit, n):
                return None
            task.cancel()
            raise
        finally:
            if self._running.get(visit, (0, None))[1] is task:
                del self._running[visit]
