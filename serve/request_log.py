"""The id of every request, and with the setting `request_log` one line of JSON about it on standard output.

    {"time": "2026-11-27T10:15:03.120Z", "id": "5f0c2a9be1d34a77", "method": "POST", "route": "/models/{model}",
     "status": 200, "milliseconds": 41.3, "source_tokens": 9, "target_tokens": 11, "account": "alice", "error": null}

The line never has a text, key, path, query or header.  It has an address only with `log_addresses`.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from queue import Full, Queue
from threading import Thread
from time import perf_counter
from typing import Any

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import RateLimit
from .api_errors import APIError
from .batcher import WORKER
from .current_request import CurrentRequest, begin
from .settings import ServerSettings

HEADER = "X-Request-ID"
SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")
METHODS = {"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"}  # others are a client's own words
MOST_WAITING, CLOSING = 10_000, 1  # lines until they are written, and seconds for them at the end
log = logging.getLogger("seq2see.serve")


class RequestLog:
    """ASGI middleware around all others, so that refused requests have an id too.

    Args:
        lines: writes the lines.
        routes: of the application.
        page: the path of the page; everything below it counts as one route.
    """

    def __init__(self, app: ASGIApp, *, lines: RequestLines, routes: Iterable[BaseRoute], page: str):
        self.app = app
        self.lines = lines
        self.templates = Templates(routes, page=page)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        arrived, began, status = datetime.now(UTC), perf_counter(), None
        request = begin(id_from(scope["headers"]))
        header = HEADER.lower().encode(), request.id.encode()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            request.ended = True
            request.served.clear()
            self.lines.write(request, arrived, method=scope["method"], route=self.templates.of(scope["path"]),
                             status=status, seconds=perf_counter() - began, client=scope["client"])


def id_from(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The client's id if it is harmless in a log, otherwise a new one."""
    for name, value in headers:
        if name == b"x-request-id" and SANE.fullmatch(value):
            return value.decode()
    return new_id()


def new_id() -> str:
    return secrets.token_hex(8)


class Templates:
    """The templates of routes, such as `/models/{model}`."""

    def __init__(self, routes: Iterable[BaseRoute], *, page: str):
        known = [route for route in routes if isinstance(route, Route)]
        self.plain = {route.path for route in known if not route.param_convertors}
        self.patterns = [(route.path_regex, route.path_format) for route in known if route.param_convertors]
        self.page = page

    def of(self, path: str) -> str | None:
        """The template of a path; None if no route matches."""
        if path in self.plain:
            return path
        if path.startswith(f"{self.page}/"):
            return self.page
        return next((template for regex, template in self.patterns if regex.match(path)), None)


class RequestLines:
    """Writes the lines, if the settings ask for them, in a separate thread, because the reader may stall."""

    def __init__(self, settings: ServerSettings):
        self.wanted = settings.request_log
        self.addresses = settings.log_addresses
        self._reports = RateLimit(1, code="reported", message="more than one line")
        self._waiting: Queue[str | None] = Queue(MOST_WAITING)
        self._dropped = 0
        self._writer = Thread(target=self._write_all, name=f"{WORKER}-log", daemon=True)
        if self.wanted:
            self._writer.start()

    def write(self, request: CurrentRequest, arrived: datetime, *, method: str = "", route: str | None = None,
              status: int | None, seconds: float = 0.0, client: tuple[str, int] | None) -> None:
        """Add a line; it is dropped if there is no room.

        `status` is None if the client left before the response.
        """
        if not self.wanted:
            return
        line: dict[str, Any] = {
            "time": f"{arrived.isoformat(timespec='milliseconds')[:-6]}Z", "id": request.id,
            "method": method if method in METHODS else None, "route": route, "status": status,
            "milliseconds": round(1000 * seconds, 1), "source_tokens": request.source_tokens,
            "target_tokens": request.target_tokens, "account": request.account, "error": request.error,
        }
        if self.addresses:
            line["address"] = client and client[0]
        try:
            self._waiting.put_nowait(f"{json.dumps(line, ensure_ascii=False)}\n")
        except Full:
            self._dropped += 1
            self._report("lines of the request log are dropped, as nobody reads them: %s so far", self._dropped)

    def close(self) -> None:
        """Write the waiting lines, for a second or two, and report how many were lost."""
        if self._writer.is_alive():
            with suppress(Full):
                self._waiting.put(None, timeout=CLOSING)
            self._writer.join(CLOSING)
        if self._writer.is_alive():
            self._dropped += self._waiting.qsize()
        if self._dropped:
            log.error("%s lines of the request log were dropped", self._dropped)

    def _write_all(self) -> None:
        """Write lines; a line that cannot be written is reported and stops no request."""
        while (line := self._waiting.get()) is not None:
            try:
                sys.stdout.write(line)
                sys.stdout.flush()
            except (OSError, ValueError) as error:  # a full disk, a reader that has gone, a closed stream
                self._report("the request log cannot be written to standard output: %s", type(error).__name__)

    def _report(self, message: str, what: object) -> None:
        """Log a message, at most once a minute."""
        with suppress(APIError):
            self._reports.take(message, 1)
            log.error(message, what)
