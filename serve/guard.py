"""Around the whole application: what every request must pass before a handler sees it.

The host's name, the size and the pace of the body, a key for the page, and an eye on the client: when it goes, its
request is cancelled.  Nothing of a failure is logged but its type, for a message may hold the user's text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from .errors import APIError
from .service import Service
from .settings import ServerSettings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PAGE = "/ui"
# Gradio takes files from anybody and keeps them; nothing on the page sends one.
FILES = frozenset(f"{PAGE}/gradio_api/{name}" for name in ("upload", "upload_progress", "process_recording"))
BEHIND_PROXY = "; if it is the server's own, its proxy must pass on the host (nginx: proxy_set_header Host $http_host;)"
DISCARDING = 0.5  # seconds that a body too large is read on, so that its client reads the answer
log = logging.getLogger("seq2see.serve")

HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
# Gradio's page is made of inline scripts and styles, but all of them are its own: nothing else may be loaded.
PAGE_POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' "
               "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
               "object-src 'none'; base-uri 'self'; frame-ancestors ")


class Guard:
    """ASGI middleware; `hosts` are the names by which the server may be called, `*` any."""

    def __init__(self, app: Application, *, service: Service, settings: ServerSettings, hosts: list[str]):
        self.page = app
        self.api = self._shared(app, settings)
        self.service = service
        self.settings = settings
        self.hosts = {host.lower() for host in hosts}
        policy = PAGE_POLICY + (" ".join(settings.frame_ancestors) or "'none'")
        self.page_headers = [*HEADERS, (b"content-security-policy", policy.encode()), (b"cache-control", b"no-store")]

    @staticmethod
    def _shared(app: Application, settings: ServerSettings) -> Application:
        """The application for scripts of other sites, which are shown its refusals as well."""
        return CORSMiddleware(app, allow_origins=settings.cors_origins, allow_methods=["GET", "POST"],
                              allow_headers=["Authorization", "Content-Type", "X-API-Key"],
                              expose_headers=["Retry-After"], max_age=3600)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.page(scope, receive, send)
        if scope["type"] != "http":
            return None  # there are no web sockets here
        page = scope["path"] == PAGE or scope["path"].startswith(f"{PAGE}/")
        sender = Sender(send, page=page, headers=self.page_headers if page else HEADERS)
        try:
            body = await self._body(receive)
        except APIError as error:
            # The rest of the body would be taken for a request.
            return await self._send_error(error, scope, receive, sender, {"connection": "close"})
        if body is None:
            return None  # the client went
        try:
            connection = HTTPConnection(scope)
            self._check_host(connection)
            self._check_origin(connection, page=page)
            if sender.page:  # Gradio watches its own clients
                self._check_key(connection)
                if scope["path"].rstrip("/") in FILES:
                    raise APIError(404, "not_found", "the page takes no files")
                await self.page(scope, Again(body, receive).receive, sender.send)
            elif scope["method"] == "POST" and self.service.busy:  # at a sixth of what it costs to parse it first
                await self._send_error(self.service.busy_error(), scope, receive, sender)
            else:
                await self._watched(scope, body, receive, sender)
        except APIError as error:
            await self._send_error(error, scope, receive, sender)
        except Exception as error:
            log.error("a request failed: %s", type(error).__name__)
            failed = APIError(500, "failed", "the request failed; the fault is the server's")
            await self._send_error(failed, scope, receive, sender)
        return None

    async def _send_error(self, error: APIError, scope: Scope, receive: Receive, sender: Sender,
                      headers: Mapping[str, str] | None = None) -> None:
        self.service.metrics.count(error)
        if sender.begun:
            return
        told: Application = answer(error, headers)
        if not sender.page and scope["method"] != "OPTIONS":
            told = self._shared(told, self.settings)
        await told(scope, receive, sender.send)

    def _check_host(self, connection: HTTPConnection) -> None:
        if len(connection.headers.getlist("host")) > 1:
            raise APIError(400, "host", "a request has one Host header")
        host = connection.headers.get("host", "").lower()
        name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if "*" not in self.hosts and name not in self.hosts:
            raise APIError(400, "host", "Invalid Host header (setting allowed_hosts)")

    def _check_origin(self, connection: HTTPConnection, *, page: bool) -> None:
        """A browser sends a script's simple request (a form, or JSON as text/plain) to any site, and asks nobody first.

        Programs other than browsers send no Origin.
        """
        origin = connection.headers.get("origin")
        if origin is None or is_same_origin(connection):
            return
        if page:
            raise APIError(403, "origin", f"Requests from this origin are not allowed on the page at /ui{BEHIND_PROXY}")
        if not {"*", origin} & set(self.settings.cors_origins):
            named = origin if "://" in origin else "https://the.site"  # a browser extension has an origin too
            raise APIError(403, "origin", "Requests from this origin are not allowed; the operator can allow them with "
                          f"--set 'cors_origins=[{named}]'{BEHIND_PROXY}")

    def _check_key(self, connection: HTTPConnection) -> None:
        try:
            self.service.access.caller(connection)
        except APIError as error:
            status = 401 if error.status == 403 else error.status
            raise APIError(status, error.code, error.message, retry_after=error.retry_after) from None

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None where the client went before its end."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.settings.read_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    part = message.get("body", b"")
                    size += len(part)
                    if size > self.settings.body_bytes:
                        parts.clear()
                        await _discard(receive, message)
                        most = self.settings.body_bytes
                        raise APIError(413, "body_too_large", f"the request is larger than {most} bytes")
                    parts.append(part)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise APIError(408, "slow_body", "the body of the request did not come in time") from None
        return b"".join(parts)

    async def _watched(self, scope: Scope, body: bytes, receive: Receive, sender: Sender) -> None:
        """Run the application, but no longer than the client is there."""
        gone = asyncio.ensure_future(_gone(receive))
        again = Again(body, lambda: asyncio.shield(gone))
        running = asyncio.ensure_future(self.api(scope, again.receive, sender.send))
        try:
            await asyncio.wait((running, gone), return_when=asyncio.FIRST_COMPLETED)
            if not running.done() and not sender.ended:
                running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        finally:
            running.cancel()
            gone.cancel()


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether what calls is a page of this very server, by what its browser says, which no script can change.

    A proxy may have given the request another Host, and several of them a list of those that were asked for, the
    client's first; a script of another site cannot add X-Forwarded-Host unasked.
    """
    headers = connection.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    scheme, _, origin = headers["origin"].lower().partition("://")
    hosts = {headers.get(name, "").partition(",")[0].strip().lower() for name in ("host", "x-forwarded-host")}
    default = {"http": ":80", "https": ":443"}.get(scheme, "")
    return bool(origin) and origin in {host.removesuffix(default) for host in hosts}  # none of `Origin: null`


class Sender:
    """Sends a response with our headers; knows whether it has begun and ended."""

    def __init__(self, send: Send, *, page: bool, headers: list[tuple[bytes, bytes]]):
        self._send = send
        self.page = page
        self.headers = headers
        self.begun = False
        self.ended = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            names = {name for name, _ in self.headers} - {b"cache-control"}
            kept = [(name, value) for name, value in message.get("headers", ())
                    if name.lower() not in names and not (self.page and name.lower().startswith(b"access-control-"))]
            has = {name.lower() for name, _ in kept}
            message["headers"] = [*kept, *(pair for pair in self.headers if pair[0] not in has)]
        elif message["type"] == "http.response.body":
            self.ended = not message.get("more_body", False)
        await self._send(message)


def answer(error: APIError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """What a client is sent."""
    asked = {"www-authenticate": 'Basic realm="Seq2See: any name, and the key as password"'}
    headers = {**error.headers, **(asked if error.status == 401 else {}), **(headers or {})}
    return JSONResponse({"error": error.message, "code": error.code}, error.status, headers)


class Again:
    """Gives a body that was read already, then what comes after it."""

    def __init__(self, body: bytes, receive: Receive):
        self._message: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def receive(self) -> Message:
        message, self._message = self._message, None
        return message or await self._receive()


async def _discard(receive: Receive, message: Message) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARDING):
            while message["type"] == "http.request" and message.get("more_body", False):
                message = await receive()


async def _gone(receive: Receive) -> Message:
    while (message := await receive())["type"] != "http.disconnect":
        pass
    return message
