"""The server on many machines with Ray Serve (extra `ray`): one front with the page, any number of engines behind it.

    ray start --head                                       # and on each other machine: ray start --address HEAD:6379
    serve run seq2see.serve.ray_app:application models=runs/storybook least=2 most=8

The front is the server of `seq2see serve` without the engines: APIs, keys, limits, page.  There is only one, because
Gradio keeps its sessions in memory.  An engine is a `Service` with its own batches; Ray scales their number with the
load, restarts lost ones, and refuses (503) what exceeds their capacity.  A request whose engine is lost is retried
once: translations have no side effects.

Ray pickles its messages, so whoever reaches its ports can run code: keep all except the front's on a private network.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError
from starlette.applications import Starlette

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ..translate.translator import EngineName, Translator
from .api_errors import APIError
from .app import make_app
from .batcher import busy_error
from .replicated import Replica, Replicated
from .settings import ServerSettings, read_settings

AT_WORK = 64  # concurrent requests per engine, which batches them
WAITING = 256  # requests queued at the front
AIM = 16  # concurrent requests per engine that autoscaling aims for
DELAYS = {"upscale_delay_s": 30, "downscale_delay_s": 600}  # Ray's defaults


@serve.deployment(max_ongoing_requests=AT_WORK, max_queued_requests=WAITING)
class Engines(Replica):
    """One engine, in a process of its own."""

    def __init__(self, runs: Sequence[str], settings: ServerSettings, engine: EngineName):
        super().__init__({Path(run).name: Translator.from_pretrained(run, engine=engine) for run in runs}, settings)


class ByRay(Replicated):
    """`engines` is Ray's handle."""

    def __init__(self, engines: Any, settings: ServerSettings):
        super().__init__(settings=settings)
        self._engines = engines

    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        for _ in range(2):
            try:
                return await getattr(self._engines, method).remote(*arguments, **request)
            except RayTaskError as error:
                raise error.cause from None
            except BackPressureError:
                raise busy_error() from None
            except RayActorError:  # its process or machine has died
                continue
        raise APIError(503, "engine_lost", "the engine failed twice: try again in a few seconds", retry_after=5)


ingress = Starlette()  # gets Ray's requests, one per process: made before the application is


def page_module() -> ModuleType:
    """Gradio, where it is needed.  Not imported in the class: Ray pickles what that names, and cannot pickle a lock."""
    with IMPORTS:
        from .ui import page

        return page


@serve.deployment(num_replicas=1, max_ongoing_requests=1_000)
@serve.ingress(lambda: ingress)
class Front:
    """The server without its engines."""

    async def __init__(self, engines: Any, settings: ServerSettings):  # type: ignore[misc]  # Ray awaits it
        service = ByRay(engines, settings)
        await service.begin()
        app = make_app(service, host="0.0.0.0")
        ingress.mount("/", app)
        if settings.page:
            page = page_module()
            self._open = contextlib.AsyncExitStack()
            blocks = await asyncio.to_thread(page.build_page, service)
            await self._open.enter_async_context(page.shown(app, blocks, service))


def application(arguments: dict[str, str]) -> serve.Application:
    """For `serve run`: `models` (comma-separated), `config` (a YAML file), `engine`, `least` and `most` (the number of
    engines), and Ray's `upscale_delay_s` and `downscale_delay_s`.
    """
    unknown = set(arguments) - {"models", "config", "engine", "least", "most", *DELAYS}
    if unknown or not arguments.get("models"):
        raise UserError(
            "expected models=RUN[,RUN] and optionally config=FILE, engine=NAME, least=N, most=N,"
            " upscale_delay_s=SECONDS, downscale_delay_s=SECONDS",
            exit_code=2,
        )
    settings = read_settings(arguments.get("config"))
    try:
        least, most = int(arguments.get("least", 1)), int(arguments.get("most", 4))
        delays = {name: float(arguments.get(name, usual)) for name, usual in DELAYS.items()}
    except ValueError as error:
        raise UserError(f"least, most and the delays must be numbers: {error}", exit_code=2) from None
    scaling = {"min_replicas": least, "max_replicas": max(least, most), "target_ongoing_requests": AIM, **delays}
    many: Any = Engines  # the decorator has replaced the type
    one: Any = Front
    engines = many.options(autoscaling_config=scaling).bind(
        arguments["models"].split(","), settings, arguments.get("engine", "auto"))
    return one.bind(engines, settings)
