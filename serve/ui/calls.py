"""What may be sent to the page: calls of its functions, without files, which Gradio would take from anybody.

Gradio checks little, and answers its own failures and what its functions refuse with 500: calls are checked before it
sees them, and a function's refusal gets its own status.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..api_errors import APIError
from ..request_checks import PAGE, replay_body

if TYPE_CHECKING:
    import gradio as gr

POSTED = {"run", "api", "call", "queue", "cancel", "reset", "mcp"}  # Gradio's other routes take files or write code
CALLS = {"run", "api", "call", "queue"}
REFUSALS: ContextVar[list[APIError]] = ContextVar("refusals of the function that is called")


class CheckedCalls:
    """ASGI: the page's application behind a check of its requests."""

    def __init__(self, app: ASGIApp, blocks: gr.Blocks):
        self.app = app
        self.blocks = blocks
        self.functions = blocks.fns
        self.names = {str(one.api_name): one for one in blocks.fns.values()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, name = scope["path"].removeprefix(f"{PAGE}/gradio_api/").strip("/").partition("/")
        posted = scope["method"] == "POST"
        if kind.startswith("upload") or (posted and kind not in POSTED):
            raise APIError(404, "not_found", "there is no such route: the page takes no files")
        if posted:
            body: bytes = (await receive())["body"]  # all of it: `RequestChecks` has read it
            sent = _read(body)
            if kind in CALLS:
                self._check(sent, "" if kind == "queue" else name)
            receive = replay_body(body, receive)
        elif kind in ("queue", "call") and not self._waits_for(scope, name):
            raise APIError(404, "not_found", "there is no such session of the page, or its call has ended")
        refusals: list[APIError] = []

        async def send_status(message: Message) -> None:
            if refusals and message["type"] == "http.response.start" and message["status"] == 500:
                message["status"] = refusals[0].status
            await send(message)

        token = REFUSALS.set(refusals)
        try:
            await self.app(scope, receive, send_status)
        finally:
            REFUSALS.reset(token)

    def _waits_for(self, scope: Scope, name: str) -> bool:
        """Whether Gradio has results for a session, or for a call by its id; it would break off its answer if not."""
        [session] = parse_qs(scope["query_string"].decode()).get("session_hash", [name.rpartition("/")[2]])[-1:]
        return name == "status" or session in self.blocks._queue.pending_messages_per_session

    def _check(self, sent: Any, name: str) -> None:
        """APIError for a call of no function, or with another number of arguments than it has; in `call/v2/`, which
        takes them by name, Gradio fills in the rest."""
        named = name.startswith("v2/")
        if not isinstance(sent, dict) or sent.get("batched") or not (named or isinstance(sent.get("data"), list)):
            raise APIError(400, "bad_request", "data: expected a list of the function's arguments")
        number = None if named else sent.get("fn_index")
        function = self.names.get(name.removeprefix("v2/")) if number is None else (
            self.functions.get(number) if type(number) is int else None)
        if function is None:
            raise APIError(404, "not_found", "there is no such function of the page")
        count, most = len(sent.get("data", ())), len(function.inputs)
        if not named and count != most:
            raise APIError(400, "bad_request", f"data: expected {most} arguments, got {count}")


def _read(body: bytes) -> Any:
    """The value; APIError if it is not JSON, or has an object with a path: Gradio would fetch that file."""
    try:
        sent = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise APIError(400, "bad_request", f"Invalid JSON: {error}") from None
    if any(isinstance(one.get("path"), str) for one in _objects(sent)):
        raise APIError(400, "bad_request", "path: the page takes no files")
    return sent


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(one)
