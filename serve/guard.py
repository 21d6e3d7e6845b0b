"""What every request must pass before a handler sees it: size and pace of the body, host, origin, a key for the page.

A request whose client goes is cancelled.  Of a failure only the type is logged: a message may hold the user's text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import APIError
from .service import Service

PAGE = "/ui"
WORTH_PACKING = 10_000  # bytes of an answer: maps are
BEHIND_PROXY = "; if it is the server's own, its proxy must pass on the host (nginx: proxy_set_header Host $http_host;)"
# Gradio's page is made of inline scripts and styles, but all of them are its own: nothing else may be loaded.
PAGE_POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' "
               "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
               "object-src 'none'; base-uri 'self'; frame-ancestors ")
log = logging.getLogger("seq2see.serve")


class Guard:
    """ASGI middleware; `hosts` are the names by which the server may be called, `*` any."""

    def __init__(self, app: ASGIApp, *, service: Service, hosts: Iterable[str]):
        self.app = app
        self.service = service
        self.settings = service.settings
        self.hosts = {host.lower() for host in hosts}
        self.api = self._shared(GZipMiddleware(app, WORTH_PACKING, compresslevel=6))
        self.page_policy = PAGE_POLICY + (" ".join(self.settings.frame_ancestors) or "'none'")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":  # there are no web sockets here
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
            if page:  # Gradio watches its own clients
                self.service.access.caller(request)
                await self.app(scope, body, send_with_headers)
            elif scope["method"] == "POST" and self.service.busy:  # at a sixth of what it costs to parse it first
                raise self.service.busy_error()
            else:
                await self._while_connected(scope, body, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not isinstance(error, APIError):
                log.error("a request failed: %s", type(error).__name__)
                error = APIError(500, "failed", "the request failed; the fault is the server's")
            self.service.metrics.count(error)
            if page and error.code.startswith("key_"):  # then a browser asks for it
                error.status = 401
                error.headers["WWW-Authenticate"] = 'Basic realm="Seq2See: any name, and the key as password"'
            if not started:
                answer = JSONResponse({"error": error.message, "code": error.code}, error.status, error.headers)
                hidden = page or scope["method"] == "OPTIONS"  # else scripts of allowed sites may read why
                await (answer if hidden else self._shared(answer))(scope, receive, send_with_headers)

    async def _body(self, request: Request) -> bytes:
        """All of it.  One too large is read on and not kept: a client that is still sending reads no answer."""
        body, most = bytearray(), self.settings.body_bytes
        try:
            async with asyncio.timeout(self.settings.read_seconds):
                async for chunk in request.stream():
                    body += chunk if len(body) <= most else b""
        except TimeoutError:
            if len(body) <= most:
                raise APIError(408, "slow_body", "the body of the request did not come in time",
                               headers={"Connection": "close"}) from None
        if len(body) > most:
            raise APIError(413, "body_too_large", f"the request is larger than {most} bytes",
                           headers={"Connection": "close"})
        return bytes(body)

    def _check_sender(self, request: Request, *, page: bool) -> None:
        """A browser sends a script's simple request (a form, or JSON as text/plain) to any site, and asks nobody first.

        Programs other than browsers send no Origin.
        """
        host, origin = request.headers.get("host", "").lower(), request.headers.get("origin")
        name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if self.hosts.isdisjoint((name, "*")):
            raise APIError(400, "host", "Invalid Host header (setting allowed_hosts)")
        if origin is None or is_same_origin(request):
            return
        if page:
            raise APIError(403, "origin", f"Requests from this origin are not allowed on the page at /ui{BEHIND_PROXY}")
        if not {"*", origin} & set(self.settings.cors_origins):
            named = origin if "://" in origin else "https://the.site"  # a browser extension has an origin too
            raise APIError(403, "origin", "Requests from this origin are not allowed; the operator can allow them with "
                          f"--set 'cors_origins=[{named}]'{BEHIND_PROXY}")

    def _set_headers(self, headers: MutableHeaders, *, page: bool) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "no-referrer"
        if page:
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # Gradio's own: the page is for its own site alone
            headers["Content-Security-Policy"] = self.page_policy
            headers.setdefault("Cache-Control", "no-store")

    def _shared(self, app: ASGIApp) -> ASGIApp:
        """An application whose answers scripts of the sites in `cors_origins` may read."""
        return CORSMiddleware(app, allow_origins=self.settings.cors_origins, allow_methods=["GET", "POST"],
                              allow_headers=["Authorization", "Content-Type", "X-API-Key"],
                              expose_headers=["Retry-After"], max_age=3600)

    async def _while_connected(self, scope: Scope, body: Receive, receive: Receive, send: Send) -> None:
        """Run the application, but no longer than the client is there."""
        serving = asyncio.ensure_future(self.api(scope, body, send))
        watching = asyncio.ensure_future(receive())  # the body is read: what comes next is http.disconnect
        watching.add_done_callback(lambda _: serving.cancel())
        try:
            await serving
        except asyncio.CancelledError:
            if not watching.done():
                raise
        finally:
            watching.cancel()


def is_same_origin(request: HTTPConnection) -> bool:
    """Whether what calls is a page of this very server, by what its browser says, which no script can change.

    A proxy may have given the request another Host, and several of them a list of those that were asked for, the
    client's first; a script of another site cannot add X-Forwarded-Host unasked.
    """
    headers = request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    scheme, _, origin = headers["origin"].lower().partition("://")
    hosts = {headers.get(name, "").partition(",")[0].strip().lower() for name in ("host", "x-forwarded-host")}
    default = {"http": ":80", "https": ":443"}.get(scheme, "")
    return bool(origin) and origin in {host.removesuffix(default) for host in hosts}  # none of `Origin: null`


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, then what comes after it."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replayed() -> Message:
        return next(messages, None) or await receive()

    return replayed
