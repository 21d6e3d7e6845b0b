"""What may be sent to the page: calls of its functions, without files, which Gradio would take from anybody."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import APIError
from ..request_checks import PAGE, replay_body

POSTED = {"run", "api", "call", "queue", "cancel", "reset", "mcp"}  # Gradio's other routes take files or write code


class CheckedCalls:
    """ASGI: the page's application behind a check of its requests."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["path"].removeprefix(f"{PAGE}/gradio_api/").partition("/")[0]
        posted = scope["method"] == "POST"
        if kind.startswith("upload") or (posted and kind not in POSTED):
            raise APIError(404, "not_found", "there is no such route: the page takes no files")
        if posted:
            body: bytes = (await receive())["body"]  # all of it: `RequestChecks` has read it
            _refuse_files(body)
            receive = replay_body(body, receive)
        await self.app(scope, receive, send)


def _refuse_files(body: bytes) -> None:
    """Gradio takes an object with a path for a file, wherever it occurs, and fetches it."""

    def check(value: dict[str, Any]) -> None:
        if isinstance(value.get("path"), str):
            raise APIError(400, "bad_request", "path: the page takes no files")

    with suppress(ValueError, RecursionError):  # no JSON, which Gradio refuses
        json.loads(body, object_hook=check)
