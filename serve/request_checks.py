"""Checks every request before its handler: body size, host, origin, and the key for the page.

A request is cancelled when its client disconnects.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .api_errors import APIError
from .batcher import busy_error
from .current_request import log_failure
from .service import Service

PAGE = "/ui"  # Gradio's; the explorer is at /
HOST = re.compile(rb"(?P<name>\[[0-9a-f:.]+\]|[0-9a-z._-]+)(:[0-9]{0,5})?")  # and a port
FILES = "/translate_file"  # whose body is read by its route, as it arrives
FIELDS_BYTES = 100_000  # of a form, beside its file
KEY_IN_BODY = ("/translate", "/detect", "/suggest", FILES)  # of LibreTranslate's clients
LOOKS = ("/v1/look", "/v1/inside")
WORK = ("/", "/translate", "/v1/translate", *LOOKS)  # what waits in queues
SILENCE_SECONDS = 10  # after which a body that does not arrive is given up
LINGER_BYTES, LINGER_SECONDS = 2**26, 10  # of a body that is too large, after the answer
# Gradio's page needs inline scripts and styles, but all from its own site: nothing else may be loaded.
GRADIO_POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' "
               "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
               "object-src 'none'; base-uri 'self'; frame-ancestors ")
# The explorer loads its answers alone.
EXPLORER_POLICY = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: "
                   "blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ")
CLOSE = (b"connection", b"close")
ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))  # headers of every answer


class RequestChecks:
    """ASGI middleware; `hosts` are the accepted Host headers, `*` for any."""

    def __init__(self, app: ASGIApp, *, service: Service, hosts: Iterable[str]):
        self.app = app
        self.service = service
        self.settings = service.settings
        self.hosts = {host.lower() for host in hosts}
        self.guarded = self.settings.guarded
        self.ancestors = " ".join(self.settings.frame_ancestors) or "'none'"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":  # there are no web sockets
            await self.app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, body = Request(scope), UnreadBody(receive, self._most_bytes(scope["path"]))
        gradio = scope["path"] == PAGE or scope["path"].startswith(f"{PAGE}/")
        page = gradio or (scope["path"] == "/" and scope["method"] in ("GET", "HEAD"))
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                last = [CLOSE] if self.service.stopping else []
                message["headers"] = [*message.get("headers", ()), *ALWAYS, *last]
                if page:
                    self._protect(MutableHeaders(scope=message), GRADIO_POLICY if gradio else EXPLORER_POLICY)
            await send(message)

        try:
            self._check_head(request, page=page, most=body.most)
            read = body.stream if scope["path"] == FILES else replay_body(await body.whole(), receive)
            if gradio:  # which handles disconnects itself
                await self.app(scope, read, send_with_headers)
            else:
                if request.method == "HEAD" and not page:  # is GET: of the answer, uvicorn sends the head alone
                    scope = {**scope, "method": "GET"}
                await self._while_connected(scope, read, body, send_with_headers)
        except ClientDisconnect:
            pass
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError):  # not by its client: the time to end it is over
                error = APIError(503, "stopping", "the server is stopping: try again soon", retry_after=5)
            elif not isinstance(error, APIError):
                log_failure(error)
                error = APIError(500, "failed", "internal server error: the request failed; see the server's log")
            self.service.metrics.count(error)
            if (error.code.startswith("key_") and (page or scope["path"] in self.guarded or is_from_page(request))) or (
                    error.code == "wrong_keys" and page and request.method == "GET"):  # the right one is still accepted
                error.status = 401
                # A browser asks for the key, once.
                error.headers["WWW-Authenticate"] = 'Basic realm="Seq2See: any name, and the key as password"'
            if not started:
                await self._refuse(request, body, error, send_with_headers)

    async def _refuse(self, request: Request, body: UnreadBody, error: APIError, send: Send) -> None:
        """Send an error at once.

        If the body is larger than allowed, or may become so, some more of it is read before the connection closes.
        Otherwise a client that is still sending would not read the response.
        """
        length = request.headers.get("content-length", "" if "transfer-encoding" in request.headers else "0")
        ends = body.ended or (length.isdecimal() and int(length) <= body.most)
        # "identity": compressed, the answer would only end when the body does
        more = {} if ends else {"Connection": "close", "Content-Encoding": "identity"}
        answer = JSONResponse({"error": error.message, "code": error.code}, error.status, error.headers | more)
        await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": not ends})
        if not ends:
            with suppress(ClientDisconnect, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(LINGER_SECONDS):
                    left = LINGER_BYTES
                    while left > 0 and not body.ended:
                        left -= len(await body.next())
            await send({"type": "http.response.body", "body": b""})

    def _most_bytes(self, path: str) -> int:
        """The maximum size of a body; files have their own limit."""
        return self.settings.file_bytes + FIELDS_BYTES if path == FILES else self.settings.body_bytes

    def _check_head(self, request: Request, *, page: bool, most: int) -> None:
        """The checks before the body is read, because reading costs more than all of them.

        They reject two lengths, other sites, a compressed body, a wrong key, a body that is too large, and work without
        room in the queue.
        A missing key is rejected unless the body may hold it.
        """
        if {"content-length", "transfer-encoding"} <= set(request.headers):  # a proxy may believe the other one
            raise APIError(400, "malformed", "the request has a Content-Length and a Transfer-Encoding",
                           headers={"Connection": "close"})
        self._check_sender(request, page=page)
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise APIError(415, "compressed", "the request body is compressed: send it without Content-Encoding")
        path, posted = request.scope["path"], request.method == "POST"
        if page or path in self.guarded or (posted and (path not in KEY_IN_BODY or has_key(request))):
            self.service.access.authenticate(request)
        if int(request.headers.get("content-length", 0)) > most:
            raise too_large(most)
        if posted and (path in WORK or path.startswith("/models/")) and self.service.is_full(looks=path in LOOKS):
            raise busy_error()

    def _check_sender(self, request: Request, *, page: bool) -> None:
        """Reject cross-site requests: browsers send simple ones (a form, or JSON as text/plain) without preflight.

        Programs other than browsers send no Origin.
        """
        self._check_host(request.scope)
        origin = request.headers.get("origin")
        if origin is None or is_same_origin(request):
            return
        if page:
            raise APIError(403, "origin", "requests from this origin are not allowed on the page")
        if not {"*", origin} & set(self.settings.cors_origins):
            raise APIError(403, "origin", "requests from this origin are not allowed: add it to cors_origins,"
                           " or let the proxy forward the Host header")

    def _check_host(self, scope: Scope) -> None:
        """One well-formed Host header, whichever names are allowed, because a proxy may have checked the other of two.

        Only HTTP/1.0 may leave it out, if any name is allowed.
        """
        found = [value.lower() for name, value in scope["headers"] if name == b"host"]
        if "*" in self.hosts and not found and scope["http_version"] == "1.0":
            return
        if len(found) != 1:
            raise APIError(400, "host", f"expected one Host header, got {len(found)}")
        host = HOST.fullmatch(found[0])
        if host is None or self.hosts.isdisjoint((host["name"].decode(), "*")):
            raise APIError(400, "host", "Invalid Host header (setting allowed_hosts)")

    def _protect(self, headers: MutableHeaders, policy: str) -> None:
        """Restricts a page to its own site, whatever Gradio or our CORS settings allow."""
        for name in [name for name in headers if name.startswith("access-control-")]:
            del headers[name]
        headers["Content-Security-Policy"] = policy + self.ancestors
        headers.setdefault("Cache-Control", "no-store")

    async def _while_connected(self, scope: Scope, read: Receive, body: UnreadBody, send: Send) -> None:
        """Run the application as long as the client is connected."""
        serving, answered, gone = asyncio.current_task(), False, False

        def leave(_: asyncio.Future[None]) -> None:
            nonlocal gone
            if serving and not answered:
                gone = serving.cancel()

        watching = asyncio.ensure_future(body.disconnected())
        watching.add_done_callback(leave)
        try:
            await self.app(scope, read, send)
        except asyncio.CancelledError:
            if not gone or (serving and serving.uncancel()):  # somebody else has cancelled it, too
                raise
        finally:
            answered = True
            watching.cancel()


class UnreadBody:
    """The body of a request, chunk by chunk, up to a maximum size."""

    def __init__(self, receive: Receive, most: int):
        self.receive = receive
        self.most = most
        self.read = 0
        self._end = asyncio.Event()

    @property
    def ended(self) -> bool:
        return self._end.is_set()

    async def next(self) -> bytes:
        """The next chunk.

        Raises ClientDisconnect if the client has disconnected, and APIError (408) if it sends nothing.
        """
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                message = await self.receive()
        except TimeoutError:
            raise APIError(408, "too_slow", f"nothing of the body arrived for {SILENCE_SECONDS} seconds: send it again",
                           headers={"Connection": "close"}) from None
        if not message.get("more_body", False):
            self._end.set()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        return bytes(message.get("body", b""))

    async def stream(self) -> Message:
        """A `receive` that yields the body as it arrives; raises APIError (413) at its limit."""
        if self.ended:
            return await self.receive()
        body = await self.next()
        self.read += len(body)
        if self.read > self.most:
            raise too_large(self.most)
        return {"type": "http.request", "body": body, "more_body": not self.ended}

    async def whole(self) -> bytes:
        """The whole body; raises APIError (413) if it is larger than allowed."""
        read = bytearray()
        while not self.ended:
            read += (await self.stream())["body"]
        return bytes(read)

    async def disconnected(self) -> None:
        """Returns when the client has disconnected: after the body, the next message is http.disconnect."""
        await self._end.wait()
        await self.receive()


def too_large(most: int) -> APIError:
    return APIError(413, "body_too_large", f"the request body is larger than {most} bytes")


def has_key(request: Request) -> bool:
    """Whether its headers hold a key; a name and password may be meant for a proxy, with the key in the body."""
    headers = request.headers
    return "x-api-key" in headers or headers.get("authorization", "").lower().startswith("bearer ")


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
