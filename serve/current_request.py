"""What is known of the request that is being answered, for its line in the log and the models that it began with."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger("seq2see.serve")


@dataclass(eq=False)
class CurrentRequest:
    """Never any text, key, or header but the id.

    Args:
        id: sent by the client or made.
        account: the name of its API key.
        source_tokens: translated for it, as target_tokens.
        error: the code of its error.
        served: `Service.served` of a service when first asked for it: it ends with that, whatever is loaded meanwhile.
        ended: it was answered; a connection or a session of the page may keep its context.
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
    """What is done in this context from now on, and in tasks that it starts, is done for a new request."""
    request = CurrentRequest(id)
    _CURRENT.set(request)
    return request


def current() -> CurrentRequest:
    """The request of this context; where there is none, as in a notebook or behind Ray's front, one for nobody."""
    request = _CURRENT.get(None)
    return CurrentRequest() if request is None or request.ended else request


def log_failure(error: BaseException) -> None:
    """By its type alone: a message may quote the user's text."""
    log.error("request %s failed: %s", current().id, type(error).__name__)
