"""The server process: uvicorn, which loads while it already says so, and ends when told to, whoever has a tab open."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from seq2see.errors import UserError
from seq2see.serve.access import KEYS_VARIABLE, Access, read_keys
from seq2see.serve.app import make_app
from seq2see.serve.connection import Connection
from seq2see.serve.service import Service
from seq2see.serve.settings import LOOPBACK, ServerSettings
from seq2see.serve.threads import Threads
from seq2see.serve.translator import Translator

SELF_TEST = "Hello."
SWEEP = 10  # ticks of a tenth of a second between two looks at silent connections, and at new modules
KEEP_ALIVE = 20  # seconds; clients drop an unused connection after 5 (httpx) or 15 (aiohttp), so that it is they who do
Loaders = Mapping[str, Callable[[], Translator]]
Learning = Callable[[], dict[str, Any]]  # `learning.Learning.record`


class Server(uvicorn.Server):
    """
    Args:
        service: gets the models, and is ready when each has translated.
        loaders: what makes the models, by their names; run in a thread.
        socket_: where to listen, bound already.
        learning: tells what becomes of a model that is trained still: then the page comes before the models do.
    """

    def __init__(self, service: Service, loaders: Loaders, *, settings: ServerSettings, host: str,
                 socket_: socket.socket, open_browser: bool = False, learning: Learning | None = None):
        self.app = make_app(service, settings, host=host)
        proxies = list(settings.trusted_proxies)
        super().__init__(uvicorn.Config(self.app, log_level="warning", access_log=False, ws="none", server_header=False,
                                        http=Connection,
                                        timeout_keep_alive=KEEP_ALIVE,
                                        proxy_headers=bool(proxies), forwarded_allow_ips=proxies))
        self.service = service
        self.loaders = loaders
        self.settings = settings
        self.open_browser = open_browser
        self.learning = learning
        self.socket = socket_
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{socket_.getsockname()[1]}"
        self.failure: BaseException | None = None
        self._stop_page: Callable[[], None] | None = None
        self._until = float("inf")  # when those at work must have ended
        self._silent: dict[tuple[Any, Any], float] = {}  # connection and its last request: since when no other comes
        self._unread: dict[Any, tuple[int, float]] = {}  # by connection: bytes not taken, since when
        self._imported = 0  # modules, when they were last set apart
        self._threads = Threads(1, "loading")

    def serve(self, sockets: list[socket.socket] | None = None) -> Any:  # a coroutine, as uvicorn has it
        return super().serve(sockets or [self.socket])

    # --- beginning

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loading = asyncio.create_task(self._load())

    async def _load(self) -> None:
        """Load and try each model, then show the page."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                if self.learning:
                    self._announce()  # what says that the page comes is there already
                    await self._show_page(stack)
                for name, load in self.loaders.items():
                    self.service.add(name, await self._threads.do(partial(_tried, load, name)))
                if len({source for source, _ in self.service.language_pairs}) > 1:
                    await self._threads.do(lambda: self.service.detect(SELF_TEST))  # half a second, the first time
                if self.settings.page and not self.learning:
                    await self._show_page(stack)
            except Exception as error:
                self.failure = error
                self.should_exit = True
                return
            self.service.ready = True
            if not self.learning:
                self._announce()
            await asyncio.Event().wait()  # the page lives until this task is cancelled

    def _announce(self) -> None:
        print(f"Seq2See is at {self.url}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
        if self.open_browser:
            threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    async def _show_page(self, stack: contextlib.AsyncExitStack) -> None:
        def build() -> Any:
            from seq2see.serve.ui import page

            return page, page.build_page(self.service, learning=self.learning)

        page, blocks = await self._threads.do(build)
        parent, mounted = page.mount(blocks)
        await stack.enter_async_context(parent.router.lifespan_context(parent))
        self._stop_page = mounted.stop_event.set
        self.app.state.page.app = page.CheckedCalls(mounted, blocks)

    # --- ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal lets those at work finish; the second does not."""
        if self.should_exit:
            self.force_exit = True
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        if not await super().on_tick(counter):
            if counter % SWEEP == 0:
                self._sweep()
                self._set_apart()
            return False
        if not self.service.draining:
            self.service.draining = True
            self._until = time.monotonic() + self.settings.grace_seconds
            if self._stop_page:
                self._stop_page()  # an open tab holds a request that would never end
        return self.force_exit or not self.service.running or time.monotonic() > self._until

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.timeout_graceful_shutdown = max(0, round(self._until - time.monotonic() + 0.5))
        self._loading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._loading
        if self.force_exit and self._captured_signals:
            os._exit(128 + self._captured_signals[0])
        await super().shutdown(sockets)
        self.service.close()
        self._threads.close()
        if self.service.running and self._captured_signals:  # an engine is at work still, and would be waited for
            os._exit(128 + self._captured_signals[0])

    def _sweep(self) -> None:
        """Close connections on which nothing moves for too long: no whole request comes, or an answer is not read.

        uvicorn, which has a clock for what is between two requests, waits for ever for a first one, for the end of a
        head, and for a client to take what was sent to it.
        """
        now, patience = time.monotonic(), self.settings.read_seconds
        silent, unread = {}, {}
        connection: Any
        for connection in list(self.server_state.connections):
            cycle = connection.cycle  # of the last request
            if cycle is None or (cycle.response_complete and connection.timeout_keep_alive_task is None):
                since = silent[connection, cycle] = self._silent.get((connection, cycle), now)
                if now - since > patience:
                    connection.transport.close()
            if left := connection.transport.get_write_buffer_size():
                before, since = self._unread.get(connection, (left, now))
                unread[connection] = (left, now if left != before else since)
                if now - unread[connection][1] > patience:
                    connection.transport.abort()
        self._silent, self._unread = silent, unread

    def _set_apart(self) -> None:
        """Have Python's collector pass over what the server consists of, torch after the first look too: to go through
        all of it, and nothing is garbage, takes up to 0.3 s, in which nobody gets an answer."""
        if self.service.ready and len(sys.modules) != self._imported:
            self._imported = len(sys.modules)
            gc.freeze()


def make_server(loaders: Loaders, *, host: str, port: int | None, settings: ServerSettings | None = None,
                open_browser: bool = False, learning: Learning | None = None) -> Server:
    """A server on a port of its own, bound already: a port in use is a UserError, 0 or None takes a free one."""
    settings = settings or ServerSettings()
    access = Access(read_keys(settings.keys_file), rate=settings.rate)
    if host not in LOOPBACK and not access.keys:
        print(f"WARNING: there are no API keys, so whoever reaches {host} can use this server: set {KEYS_VARIABLE} or "
              "keys_file, or listen on 127.0.0.1", file=sys.stderr, flush=True)
    service = Service(settings=settings, access=access)
    return Server(service, loaders, settings=settings, host=host, socket_=bind(host, port), open_browser=open_browser,
                  learning=learning)


def launch(loaders: Loaders, *, host: str, port: int | None, settings: ServerSettings | None = None,
           open_browser: bool = False, learning: Learning | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM; raises what the signal means, or what kept a model from loading, at the end."""
    # Few texts at a time are encoded, on the event loop: threads to share them would wait for the engine's cores.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    server = make_server(loaders, host=host, port=port, settings=settings, open_browser=open_browser, learning=learning)
    server.run()
    if server.failure is not None:
        raise server.failure


def bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":  # on Windows it would share a port that is in use
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port or 0))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise UserError(f"cannot listen on {host} port {port}: {reason}; choose another by --port") from error
    return listener


def _tried(load: Callable[[], Translator], name: str) -> Translator:
    """The translator, once it has translated something; UserError where it cannot."""
    translator = load()
    result = translator(SELF_TEST, max_new_tokens=8)
    if not result.hypotheses or not math.isfinite(result.hypotheses[0].score):
        raise UserError(f"{name} does not translate: the model's probabilities are not numbers; was it trained?")
    return translator
