"""The server on many machines with Ray Serve (extra `ray`): one front with the page, any number of engines behind it.

    ray start --head                                       # and on each other machine: ray start --address HEAD:6379
    serve run seq2see.serve.ray_app:application models=runs/storybook least=2 most=8

The front is the server of `seq2see serve` without the engines: APIs, keys, limits, page.  There is only one, because
Gradio keeps its sessions in memory; it is on the first machine, beside what Ray itself cannot lose.  An engine is a
`Service` with its own batches; Ray scales their number with the load, restarts lost ones, and refuses (503) what
exceeds their capacity.  A request whose engine is lost is retried once: translations have no side effects.

Ray pickles its messages, so whoever reaches its ports can run code: keep all except the front's on a private network.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException
from starlette.applications import Starlette

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ..translate.translator import EngineName, Translator
from .api_errors import APIError
from .app import make_app
from .batcher import busy_error
from .replicated import Engines, Replica
from .service import Service
from .settings import ServerSettings, read_settings

AT_WORK = 64  # concurrent requests per engine, which batches them
WAITING = 256  # requests queued at the front
AIM = 16  # concurrent requests per engine that autoscaling aims for
DELAYS = {"upscale_delay_s": 30, "downscale_delay_s": 600}  # Ray's defaults
NUMBERS = {"least": 1, "most": 4, "cpus": 1}  # of engines, and of the CPUs of each
ON_FIRST = {"num_cpus": 0, "resources": {"node:__internal_head__": 0.001}}  # the machine of ray start --head
DESCRIBED = 5  # seconds between looks at which models the engines have: an update replaces them one by one
METRICS_SECONDS = 2  # for the engines' metrics; without them if one does not answer


@serve.deployment(name="Engines", max_ongoing_requests=AT_WORK, max_queued_requests=WAITING)
class Engine(Replica):
    """One engine, in a process of its own, with a thread for each CPU that Ray gives it."""

    def __init__(self, runs: Mapping[str, str], settings: ServerSettings, engine: EngineName, cpus: int):
        super().__init__({name: Translator.from_pretrained(run, engine=engine, threads=cpus)
                          for name, run in runs.items()}, settings)

    async def named_metrics(self) -> tuple[str, bytes]:
        return serve.get_replica_context().replica_tag, await self.metrics()


class ByRay(Engines):
    """`handle` is Ray's."""

    def __init__(self, handle: Any):
        self._handle = handle

    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        for _ in range(2):
            response = getattr(self._handle, method).remote(*arguments, **request)
            try:
                return await response
            except RayTaskError as error:
                raise error.cause from None
            except BackPressureError:
                raise busy_error() from None
            except RayActorError:  # its process or machine has died
                continue
            except asyncio.CancelledError:  # too late, or the client has gone: the engine need not go on
                response.cancel()
                raise
        raise APIError(503, "engine_lost", "the engine failed twice: try again in a few seconds", retry_after=5)

    async def metrics(self) -> dict[str, bytes]:
        with contextlib.suppress(TimeoutError, RayServeException):  # none runs, or one is dying
            found = await self._handle.broadcast("named_metrics").results_async(
                timeout_s=METRICS_SECONDS, return_exceptions=True)
            return dict(one for one in found if not isinstance(one, BaseException))
        return {}


ingress = Starlette()  # gets Ray's requests, one per process: made before the application is


def page_module() -> ModuleType:
    """Gradio, where it is needed.  Not imported in the class: Ray pickles what that names, and cannot pickle a lock."""
    with IMPORTS:
        from .ui import page

        return page


@serve.deployment(num_replicas=1, max_ongoing_requests=1_000, ray_actor_options=ON_FIRST)
@serve.ingress(lambda: ingress)
class Front:
    """The server without its engines."""

    async def __init__(self, engines: Any, settings: ServerSettings):  # type: ignore[misc]  # Ray awaits it
        service = Service(settings=settings, engines=ByRay(engines))
        await service.describe_engines()
        self._describing = asyncio.create_task(keep_described(service))
        app = make_app(service, host="0.0.0.0")
        ingress.mount("/", app)
        if settings.page:
            page = page_module()
            self._open = contextlib.AsyncExitStack()
            blocks = await asyncio.to_thread(page.build_page, service)
            await self._open.enter_async_context(page.shown(app, blocks, service))


async def keep_described(service: Service) -> None:
    """Notice, while the engines are replaced, which models the new ones have."""
    while True:
        await asyncio.sleep(DESCRIBED)
        with contextlib.suppress(APIError, RayServeException):
            await service.describe_engines()


def application(arguments: dict[str, str]) -> serve.Application:
    """For `serve run`: `models` (comma-separated, each RUN or NAME:RUN), `config` (a YAML file), `engine`, `least` and
    `most` (the number of engines), `cpus` (of each), and Ray's `upscale_delay_s` and `downscale_delay_s`.
    """
    unknown = set(arguments) - {"models", "config", "engine", *NUMBERS, *DELAYS}
    if unknown or not arguments.get("models"):
        raise UserError(
            "expected models=[NAME:]RUN[,[NAME:]RUN] and optionally config=FILE, engine=NAME, least=N, most=N, cpus=N,"
            " upscale_delay_s=SECONDS, downscale_delay_s=SECONDS",
            exit_code=2,
        )
    settings = read_settings(arguments.get("config"))
    try:
        least, most, cpus = (int(arguments.get(name, usual)) for name, usual in NUMBERS.items())
        delays = {name: float(arguments.get(name, usual)) for name, usual in DELAYS.items()}
    except ValueError as error:
        raise UserError(f"least, most, cpus and the delays must be numbers: {error}", exit_code=2) from None
    scaling = {"min_replicas": least, "max_replicas": max(least, most), "target_ongoing_requests": AIM, **delays}
    many: Any = Engine  # the decorator has replaced the type
    one: Any = Front
    engines = many.options(autoscaling_config=scaling, ray_actor_options={"num_cpus": cpus}).bind(
        dict(map(named, arguments["models"].split(","))), settings, arguments.get("engine", "auto"), cpus)
    return one.bind(engines, settings)


def named(model: str) -> tuple[str, str]:
    """The name under which a model is served, and its run: a new version can have the old name."""
    name, _, run = model.rpartition(":")
    return name or Path(run).name, run
