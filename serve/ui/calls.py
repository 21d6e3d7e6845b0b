"""Checks requests to the page before Gradio sees them: Gradio answers unexpected ones with 500."""

from __future__ import annotations

import inspect
import json
import re
from contextvars import ContextVar
from typing import Any

import gradio as gr
from gradio.data_classes import CancelBody, ComponentServerJSONBody, PredictBody, ResetBody, SimplePredictBody
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..dialects.bodies import bad_request
from ..errors import APIError
from ..request_checks import PAGE, replay_body

API = f"{PAGE}/gradio_api"
BODIES: dict[str, type[BaseModel]] = {
    **dict.fromkeys(("run", "api", "queue"), PredictBody), "call": SimplePredictBody, "cancel": CancelBody,
    "reset": ResetBody, "component_server": ComponentServerJSONBody,
}  # fmt: skip
# Gradio accepts and keeps files from anybody; the page sends none.
FILES = {"upload", "upload_progress", "process_recording"}
SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")
FIELDS = TypeAdapter(dict[str, Any])
STATUS: ContextVar[list[int]] = ContextVar("STATUS")  # of a rejected call: its handler appends it


class CheckedCalls:
    """ASGI: the page's application behind a check of its requests."""

    def __init__(self, app: ASGIApp, page: gr.Blocks):
        self.app = app
        self.page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, rest = scope["path"].removeprefix(f"{API}/").strip("/").partition("/")
        if kind in FILES:
            raise APIError(404, "not_found", "the page accepts no files")
        if scope["method"] != "POST" or kind == "mcp":
            return await self.app(scope, receive, send)
        media = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":  # Gradio would echo the whole body, or fail
            raise APIError(400, "bad_request", "Content-Type: expected application/json")
        body: bytes = (await receive())["body"]  # all of it: `RequestChecks` has read it
        self._check(kind, rest, body)
        STATUS.set(statuses := [500])

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500:
                message["status"] = statuses[-1]
            await send(message)

        await self.app(scope, replay_body(body, receive), sent)

    def _check(self, kind: str, name: str, body: bytes) -> None:
        if kind not in BODIES or (kind == "queue" and name != "join"):
            raise APIError(404, "not_found", "there is no such route")
        try:
            value = json.loads(body.decode("utf-8"), object_hook=_no_file)  # bytes would also admit UTF-16
            if kind == "call" and name.startswith("v2/"):
                return self._check_named(name.removeprefix("v2/"), FIELDS.validate_python(value))
            found: Any = BODIES[kind].model_validate(value)
        except ValidationError as error:
            raise bad_request(error) from None
        except (ValueError, RecursionError):
            raise APIError(400, "bad_request", "the body is not JSON in UTF-8") from None
        if isinstance(found, ComponentServerJSONBody):
            if found.component_id not in self.page.blocks:
                raise APIError(404, "not_found", "there is no such component")
        elif isinstance(found, PredictBody | SimplePredictBody):
            index = getattr(found, "fn_index", None)
            function = self._named(name) if index is None else self.page.fns.get(index)
            if function is None or not function.fn:
                raise APIError(404, "not_found", "there is no such function")
            if len(found.data) < len(function.inputs):  # Gradio's own message has several lines and quotes the caller
                raise APIError(400, "bad_request",
                              f"data: expected {len(function.inputs)} values, got {len(found.data)}")
            if getattr(found, "batched", None):
                raise APIError(400, "bad_request", "batched: send one call at a time")
            if not SESSION.fullmatch("none" if found.session_hash is None else found.session_hash):
                raise APIError(400, "bad_request", "session_hash: expected letters and digits, at most 100")

    def _check_named(self, name: str, fields: dict[str, Any]) -> None:
        """Arguments given by their names."""
        function = self._named(name)
        if function is None or function.api_visibility != "public":
            raise APIError(404, "not_found", "there is no such function")
        signature = inspect.signature(function.fn)
        try:
            signature.bind(**fields, request=None)
        except TypeError:
            names = ", ".join(name for name in signature.parameters if name != "request")
            raise APIError(400, "bad_request", f"arguments: expected some of {names}, and at least the first") from None

    def _named(self, name: str) -> Any:
        return next((one for one in self.page.fns.values() if one.api_name and one.api_name == name), None)


def _no_file(value: dict[str, Any]) -> dict[str, Any]:
    """Gradio takes an object with a path for a file, wherever it occurs."""
    if isinstance(value.get("path"), str):
        raise APIError(400, "bad_request", "path: the page accepts no files")
    return value
