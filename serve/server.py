"""The server process: uvicorn with the page; it responds while it loads, and stops within the grace period."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from types import FrameType
from typing import Any

import uvicorn

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ..translate.translator import Translator
from .access import KEYS_VARIABLE
from .app import make_app
from .batcher import WORKER
from .last_connection import HANDSHAKES, keep_new_away, waiting
from .malformed import refusing_protocol
from .reloading import Reloading
from .service import Service
from .settings import LOOPBACK, ServerSettings
from .ui.mounting import without_gradio

SELF_TEST = "Hello."
LAST_REQUESTS = 0.5  # seconds for what clients send on open connections while the server stops
KEEP_ALIVE = 20  # seconds; clients drop an idle connection after 5 (httpx) or 15 (aiohttp), before the server does
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # hosts that mean all addresses of the machine, and one to open
OUTSIDE = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}  # reserved for documentation
HEAD_BYTES = 2**17  # that wait for the end of the headers: a text of 5,000 characters takes up to 60,000 in a URL
Loaders = Mapping[str, Callable[[], Translator]]


class Server(uvicorn.Server):
    """A server of some models.

    Args:
        loaders: functions that load the models, by name; run in a thread.
        port: the port, bound immediately; 0 or None: a free one.
        service: receives the models, and is ready when each has passed a test; None: a new one.
        hangups: SIGHUP reloads the models; the caller ignores the signal until then.

    Raises:
        UserError: the port is in use.
    """

    def __init__(self, loaders: Loaders, *, host: str, port: int | None, settings: ServerSettings | None = None,
                 open_browser: bool = False, service: Service | None = None, hangups: bool = False):
        self.loaders = loaders
        self.open_browser = open_browser
        self.hangups = hangups
        self.service = service or Service(settings=settings)
        self.settings = self.service.settings
        if host not in LOOPBACK and not self.service.access.keys:
            print(f"WARNING: there are no API keys, so anyone who reaches {host} can use the server: set "
                  f"{KEYS_VARIABLE} or keys_file, or listen on 127.0.0.1", file=sys.stderr, flush=True)
        self.app = make_app(self.service, host=host)
        proxies = list(self.settings.trusted_proxies)
        super().__init__(uvicorn.Config(
            self.app, log_level="error", access_log=False, ws="none", server_header=False,
            # httptools limits no head, and takes the body of a request with `Upgrade` for another request
            http=refusing_protocol(self.service.metrics, self.app.state.lines),
            h11_max_incomplete_event_size=HEAD_BYTES, timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=math.ceil(self.settings.grace_seconds),
            proxy_headers=bool(proxies), forwarded_allow_ips=proxies))
        self.socket = bind(host, port)
        self.host, self.port = host, self.socket.getsockname()[1]
        self.url = url_of(EVERY_ADDRESS.get(host, host), self.port)
        self.failure: BaseException | None = None
        self._signal: int | None = None
        self._close_tabs: Callable[[], None] = lambda: None
        self._threads = ThreadPoolExecutor(1, WORKER)
        self.service.reload = Reloading(self.service, loaders, self._load_model)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until Ctrl-C or SIGTERM.

        Then raises the exception of the signal, or the error from loading a model.
        """
        super().run(sockets or [self.socket])
        if self.failure is not None:
            raise self.failure

    # --- start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loading = asyncio.create_task(self._load())
        if self.hangups:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload_soon)

    async def _load(self) -> None:
        """Load the models and show the page, until this task is cancelled."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                for name in self.loaders:
                    self.service.add(name, await self._load_model(name))
                await self._in_thread(partial(self.service.detect, SELF_TEST))  # warm-up: half a second
                if self.settings.page:
                    await self._show_page(stack)
                gc.freeze()  # a full garbage collection would block every client for up to 0.3 s
                self.service.ready = True
                self._announce()
                await asyncio.Event().wait()
        except Exception as error:
            self.failure = error
            self.should_exit = True

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _load_model(self, name: str) -> Translator:
        translator: Translator = await self._in_thread(partial(tested, name, self.loaders[name]))
        return translator

    def _reload_soon(self) -> None:
        """Once the models are loaded, reload them."""
        async def reload() -> None:
            while not self.service.ready:
                await asyncio.sleep(0.1)
            assert self.service.reload is not None
            await self.service.reload()

        self._reloads = asyncio.create_task(reload())

    def _announce(self) -> None:
        also = ""
        if self.host in EVERY_ADDRESS:
            outside = outside_address(self.host)
            also = f", at {url_of(outside, self.port)}/" if outside else ""
            also += ", and at every other address of this machine"
        print(f"Seq2See is at {self.url}/{also} (Ctrl-C to stop){self._about()}", file=sys.stderr, flush=True)
        if self.open_browser:
            threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    def _about(self) -> str:
        """The models with their languages, and whether an API key is required."""
        models = [f"{name} ({one.language_pairs or 'any'})" for name, one in self.service.models.items()]
        keys = f"API keys: {'on' if self.service.access.keys else 'off'}"
        served = f"; {'models' if len(models) > 1 else 'model'}: {', '.join(models)}" if models else ""
        return f"{served}; {keys}"

    async def _show_page(self, stack: contextlib.AsyncExitStack) -> None:
        """Show Gradio's page; the explorer needs only the models."""
        if find_spec("gradio") is None:
            self.app.state.page = without_gradio
            return

        def build() -> contextlib.AbstractAsyncContextManager[Callable[[], None]]:
            from .ui import import_gradio

            with IMPORTS:
                import_gradio()
                from .ui import page

            return page.shown(self.app, page.build_page(self.service), self.service)

        self._close_tabs = await stack.enter_async_context(await self._in_thread(build))

    # --- end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal lets running requests finish; the second does not."""
        if self._signal:
            os._exit(128 + self._signal)
        self._signal = sig
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what has arrived, then close.  The last answer on a connection says that it closes, so that no client
        sends more on it, and the port closes last.
        """
        if self._signal:
            print(f"stopping: requests in progress have {self.settings.grace_seconds:g} s to finish; a second signal"
                  " stops immediately", file=sys.stderr, flush=True)
        self._close_tabs()  # an open tab holds a request that would never end
        self.service.stopping = True
        await self._answer_last_requests()
        for listener in sockets or []:
            await self._stop_listening(listener)
        await self._answer_last_requests()
        await super().shutdown(sockets)
        if cancelled := self.server_state.tasks:  # requests that exceeded the grace period
            await asyncio.wait(cancelled, timeout=1)
        self._loading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._loading
        self.service.close()
        self.app.state.lines.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._signal and _at_work():  # Python would wait for the threads at exit
            os._exit(128 + self._signal)

    async def _answer_last_requests(self) -> None:
        """Wait until no connection is open, but not long: an idle one may stay."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_REQUESTS):
                while self.server_state.connections:
                    await asyncio.sleep(0.02)

    async def _stop_listening(self, listener: socket.socket) -> None:
        """Accept every connection that has begun, and close the port."""
        keep_new_away(listener)
        await asyncio.sleep(HANDSHAKES)
        accepted = waiting(listener)
        for server in self.servers:
            server.close()
        for connection in accepted:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        return self.config.http_protocol_class(config=self.config, server_state=self.server_state,
                                               app_state=self.lifespan.state)


def tested(name: str, load: Callable[[], Translator]) -> Translator:
    """The model, pinned to its present files.

    Raises UserError if it cannot translate.
    """
    translator = load()
    source, target = translator.language_pairs.fitting(None, None) or (None, None)
    result = translator(SELF_TEST, source=source, target=target, max_new_tokens=8)
    if not result.hypotheses or not math.isfinite(result.hypotheses[0].score):
        raise UserError(f"{name} cannot translate: its probabilities are NaN or infinite; check that it was trained")
    translator.pin()
    return translator


def _at_work() -> bool:
    """Whether a thread is still working shortly after shutdown."""
    workers = [one for one in threading.enumerate() if one.name.startswith(WORKER)]
    for one in workers:
        one.join(0.2)
    return any(one.is_alive() for one in workers)


def url_of(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def outside_address(host: str) -> str | None:
    """The address of this machine towards other machines, for a host of EVERY_ADDRESS; None without a network."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET,
                                                     socket.SOCK_DGRAM) as probe:
        probe.connect((OUTSIDE[host], 9))  # chooses the route; UDP sends nothing yet
        address: str = probe.getsockname()[0]
        return None if address in LOOPBACK else address
    return None


def bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":  # on Windows this would share a port in use
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port or 0))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise UserError(f"cannot listen on {host} port {port}: {reason}; choose another with --port") from error
    return listener
