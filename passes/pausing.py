"""A hook before each pass of a model and each step of work on texts, which does nothing unless a program divides its
time among clients."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CALL: ContextVar[Callable[[], None] | None] = ContextVar("before each pass and step", default=None)


class Stopped(Exception):
    """Nobody waits for the result any more."""


@contextmanager
def pausing(call: Callable[[], None]) -> Iterator[None]:
    """Inside, in this thread, every pass of a model and every step of work on texts begins with this call, which may
    wait, or raise `Stopped`.
    """
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)


def pause() -> None:
    """Call this before a pass or a step.  It may raise an exception, so leave the model as it was."""
    if call := _CALL.get():
        call()
