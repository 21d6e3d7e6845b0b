"""The server on many machines with Ray Serve (extra `ray`): two applications, a front and any number of engines.

    ray start --head                                       # and on each other machine: ray start --address HEAD:6379
    serve run --non-blocking docs/deploy/ray.yaml          # again, after a change there: only what changed is changed

The front is the server of `seq2see serve` without the engines: APIs, keys, limits, page.  There is only one, because
Gradio keeps its sessions in memory.  It runs on the first machine, which Ray itself cannot lose either, and stays while
engines come and go.  An engine is a `Service` with its own batches.  Ray scales the number of engines with the load and
restarts lost ones.  It refuses (503) requests over their capacity.  A request whose engine is lost is retried once,
because translations have no side effects.

Ray pickles its messages, so whoever reaches its ports can run code.  Keep all ports except the front's on a private
network.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException
from starlette.applications import Starlette

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ..translate.translator import EngineName, Translator
from .api_errors import APIError
from .app import make_app
from .batcher import busy_error
from .engines import Engines
from .replicated import Replica
from .service import Service
from .settings import ServerSettings, read_settings

AT_WORK = 64  # concurrent requests per engine, which batches them
WAITING = 256  # requests queued at the front
SCALING = {"min_replicas": 1, "max_replicas": 4, "target_ongoing_requests": 16}  # defaults for the YAML
ENGINES = "engines"  # the name of their application
ON_FIRST = {"num_cpus": 0, "resources": {"node:__internal_head__": 0.001}}  # the machine of ray start --head
DESCRIBED = 5  # seconds between looks at which models the engines have: an update replaces them one by one
METRICS_SECONDS = 2  # for the engines' metrics; without them if one does not answer


@serve.deployment(name="Engines", max_ongoing_requests=AT_WORK, max_queued_requests=WAITING,
                  autoscaling_config=SCALING)
class EngineReplica(Replica):
    """One engine, in a process of its own, with a thread for each CPU that Ray gives it."""

    def __init__(self, runs: Mapping[str, str], settings: ServerSettings, engine: EngineName, cpus: int):
        super().__init__({name: Translator.from_pretrained(run, engine=engine, threads=cpus)
                          for name, run in runs.items()}, settings)

    async def named_metrics(self) -> tuple[str, bytes]:
        return serve.get_replica_context().replica_tag, await self.metrics()


class ByRay(Engines):
    """Engines behind Ray; `handle` is Ray's."""

    def __init__(self, handle: Any):
        self._handle = handle

    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        for _ in range(2):
            response = getattr(self._handle, method).remote(*arguments, **request)
            try:
                return await response
            except asyncio.CancelledError:  # too late, or the client has gone: the engine need not go on
                response.cancel()
                raise
            except RayTaskError as error:
                raise error.cause from None
            except BackPressureError:
                raise busy_error() from None
            except (RayError, RayServeException):  # its process or machine has died
                continue
        raise APIError(503, "engine_lost", "the engine failed twice: try again in a few seconds", retry_after=5)

    async def metrics(self) -> dict[str, bytes]:
        with contextlib.suppress(TimeoutError, RayServeException):  # none runs, or one is dying
            found = await self._handle.broadcast("named_metrics").results_async(
                timeout_s=METRICS_SECONDS, return_exceptions=True)
            return dict(one for one in found if not isinstance(one, BaseException))
        return {}


ingress = Starlette()  # gets Ray's requests, one per process: made before the application is


def page_module() -> ModuleType:
    """Gradio, imported on use.  The class cannot import it, because Ray pickles its names and cannot pickle a lock."""
    with IMPORTS:
        from .ui import page

        return page


@serve.deployment(num_replicas=1, max_ongoing_requests=1_000, ray_actor_options=ON_FIRST)
@serve.ingress(lambda: ingress)
class Front:
    """The server without its engines."""

    async def __init__(self, settings: ServerSettings):  # type: ignore[misc]  # Ray awaits it
        service = Service(settings=settings, engines=ByRay(await engines_handle()))
        await service.describe_engines()
        self._describing = asyncio.create_task(keep_described(service))
        app = make_app(service, host="0.0.0.0")
        ingress.mount("/", app)
        if settings.page:
            page = page_module()
            self._open = contextlib.AsyncExitStack()
            blocks = await asyncio.to_thread(page.build_page, service)
            await self._open.enter_async_context(page.shown(app, blocks, service))


async def engines_handle() -> Any:
    """Ray's handle, as soon as the application exists: the YAML starts both at once."""
    while True:
        try:
            return await asyncio.to_thread(serve.get_deployment_handle, "Engines", ENGINES)
        except RayServeException:
            await asyncio.sleep(1)


async def keep_described(service: Service) -> None:
    """Update the front's list of models while the engines are replaced."""
    while True:
        await asyncio.sleep(DESCRIBED)
        with contextlib.suppress(APIError, RayServeException):
            await service.describe_engines()


def engines(arguments: dict[str, str]) -> serve.Application:
    """The application of the engines: `models` (comma-separated, each RUN or NAME:RUN), `engine`, `cpus` of each, and
    `config` (a YAML file of settings)."""
    check(arguments, {"models", "engine", "cpus", "config"}, "models=[NAME:]RUN[,[NAME:]RUN], and optionally"
          " engine=NAME, cpus=N, config=FILE")
    try:
        cpus = int(arguments.get("cpus", 1))
    except ValueError as error:
        raise UserError(f"cpus must be a whole number: {error}", exit_code=2) from None
    if not arguments.get("models"):
        raise UserError("there are no models: expected models=[NAME:]RUN", exit_code=2)
    many: Any = EngineReplica  # the decorator has replaced the type
    return many.options(ray_actor_options={"num_cpus": cpus}).bind(
        dict(map(named, arguments["models"].split(","))), read_settings(arguments.get("config")),
        arguments.get("engine", "auto"), cpus)


def front(arguments: dict[str, str]) -> serve.Application:
    """The application of the front, to be deployed before the engines: `config` (a YAML file of settings)."""
    check(arguments, {"config"}, "config=FILE, or nothing")
    one: Any = Front
    return one.bind(read_settings(arguments.get("config")))


def check(arguments: Mapping[str, str], known: set[str], expected: str) -> None:
    """Raises UserError for an unknown argument."""
    if unknown := sorted(set(arguments) - known):
        raise UserError(f"unknown argument {unknown[0]}: expected {expected}", exit_code=2)


def named(model: str) -> tuple[str, str]:
    """The name under which a model is served, and its run: a new version can have the old name."""
    name, _, run = model.rpartition(":")
    return name or Path(run).name, run
