"""Checks every request before a handler sees it: body size, host, origin, and the key for the page.

A request is cancelled when its client disconnects.  Failures are logged by type only: a message may quote the user's
text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import APIError
from .service import Service

PAGE = "/ui"
# Gradio's page needs inline scripts and styles, but all from its own site: nothing else may be loaded.
PAGE_POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' "
               "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
               "object-src 'none'; base-uri 'self'; frame-ancestors ")
log = logging.getLogger("seq2see.serve")


class RequestChecks:
    """ASGI middleware; `hosts` are the accepted Host headers, `*` for any."""

    def __init__(self, app: ASGIApp, *, service: Service, hosts: Iterable[str]):
        self.app = app
        self.service = service
        self.settings = service.settings
        self.hosts = {host.lower() for host in hosts}
        self.page_policy = PAGE_POLICY + (" ".join(self.settings.frame_ancestors) or "'none'")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":  # there are no web sockets
            await self.app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        page = scope["path"] == PAGE or scope["path"].startswith(f"{PAGE}/")
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._set_headers(MutableHeaders(scope=message), page=page)
            await send(message)

        try:
            body = replay_body(await self._body(request), receive)
            self._check_sender(request, page=page)
            if page:  # Gradio handles disconnects itself
                self.service.access.authenticate(request)
                await self.app(scope, body, send_with_headers)
            else:
                await self._while_connected(scope, body, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not isinstance(error, APIError):
                log.error("a request failed: %s", type(error).__name__)
                error = APIError(500, "failed", "internal server error: the request failed; see the server's log")
            self.service.metrics.count(error)
            if error.code.startswith("key_") and (page or is_from_page(request)):  # a browser asks for the key, once
                error.status = 401
                error.headers["WWW-Authenticate"] = 'Basic realm="Seq2See: any name, and the key as password"'
            if not started:
                answer = JSONResponse({"error": error.message, "code": error.code}, error.status, error.headers)
                await answer(scope, receive, send_with_headers)

    async def _body(self, request: Request) -> bytes:
        """The whole body.  One that is too large is read and discarded: a client reads no response while sending."""
        body, most = bytearray(), self.settings.body_bytes
        async for chunk in request.stream():
            body += chunk if len(body) <= most else b""
        if len(body) > most:
            raise APIError(413, "body_too_large", f"the request body is larger than {most} bytes",
                           headers={"Connection": "close"})
        return bytes(body)

    def _check_sender(self, request: Request, *, page: bool) -> None:
        """Reject cross-site requests: browsers send simple ones (a form, or JSON as text/plain) without preflight.

        Programs other than browsers send no Origin.
        """
        host, origin = request.headers.get("host", "").lower(), request.headers.get("origin")
        name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if self.hosts.isdisjoint((name, "*")):
            raise APIError(400, "host", "Invalid Host header (setting allowed_hosts)")
        if origin is None or is_same_origin(request):
            return
        if page:
            raise APIError(403, "origin", "requests from this origin are not allowed on the page at /ui")
        if not {"*", origin} & set(self.settings.cors_origins):
            raise APIError(403, "origin", "requests from this origin are not allowed: add it to cors_origins,"
                           " or let the proxy forward the Host header")

    def _set_headers(self, headers: MutableHeaders, *, page: bool) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "no-referrer"
        if page:
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # set by Gradio: the page is for its own site only
            headers["Content-Security-Policy"] = self.page_policy
            headers.setdefault("Cache-Control", "no-store")

    async def _while_connected(self, scope: Scope, body: Receive, receive: Receive, send: Send) -> None:
        """Run the application as long as the client is connected."""
        serving = asyncio.ensure_future(self.app(scope, body, send))
        watching = asyncio.ensure_future(receive())  # the body has been read: the next message is http.disconnect
        watching.add_done_callback(lambda _: serving.cancel())
        try:
            await serving
        except asyncio.CancelledError:
            if not watching.done():
                raise
        finally:
            watching.cancel()


def is_from_page(request: HTTPConnection) -> bool:
    """Whether a script of this server's page sent the request, with an Origin, as browsers do for POST."""
    return "origin" in request.headers and is_same_origin(request)


def is_same_origin(request: HTTPConnection) -> bool:
    """Whether a page of this server sent the request.  Only browsers set these headers; scripts cannot."""
    headers = request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    return headers["origin"].lower().partition("://")[2] == headers.get("host", "").lower()


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that yields a body already read, then what follows it."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replayed() -> Message:
        return next(messages, None) or await receive()

    return replayed
