"""The data of the current request, for its log line and for the models that it started with."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger("seq2see.serve")


@dataclass(eq=False)
class CurrentRequest:
    """The data of a request: never a text, a key, or a header except the id.

    Args:
        id: sent by the client or generated.
        account: the name of its API key.
        source_tokens, target_tokens: numbers of tokens, translated for it.
        error: the code of its error.
        served: the `Service.served` of each service at its first use.  The request keeps these models, even if others
            are loaded in the meantime.
        ended: whether the response was sent; a connection or a session of the page may keep its context.
    """

    id: str = "-"
    account: str | None = None
    source_tokens: int = 0
    target_tokens: int = 0
    error: str | None = None
    served: dict[Any, Any] = field(default_factory=dict)
    ended: bool = False


_CURRENT: ContextVar[CurrentRequest] = ContextVar("the request that is being answered")


def begin(id: str) -> CurrentRequest:
    """Start a new request for this context and the tasks that it starts."""
    request = CurrentRequest(id)
    _CURRENT.set(request)
    return request


def current() -> CurrentRequest:
    """The request of this context; without one, as in a notebook or behind Ray's front, an empty one."""
    request = _CURRENT.get(None)
    return CurrentRequest() if request is None or request.ended else request


def log_failure(error: BaseException) -> None:
    """Log the type of an exception only, because a message may quote the user's text."""
    log.error("request %s failed: %s", current().id, type(error).__name__)
