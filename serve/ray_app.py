"""The server on many machines, by Ray Serve (extra `ray`): one front with the page, any number of engines behind it.

    ray start --head                                       # and on each other machine: ray start --address HEAD:6379
    serve run seq2see.serve.ray_app:application models=runs/storybook least=2 most=8

The front is the whole server of `seq2see serve` but for the engines: dialects, keys, limits, page.  There is one, since
Gradio keeps its sessions in memory.  An engine is a `Service` of its own, with its own batches; Ray starts more of them
when each has much to do, starts a lost one anew, and refuses (503) what is too much for all.  A request whose engine is
lost goes to another, once: a translation is a function of its text.

Ray pickles its messages, and whoever reaches its ports can run code: keep all but the front's in a private network.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ray import serve
from ray.exceptions import RayActorError
from ray.serve.exceptions import BackPressureError

from seq2see.errors import UserError
from seq2see.serve.access import Access, Caller, read_keys
from seq2see.serve.app import make_app
from seq2see.serve.guard import Receive, Scope, Send
from seq2see.serve.refusal import Refusal
from seq2see.serve.service import Request, Service
from seq2see.serve.settings import ServerSettings, read_settings
from seq2see.serve.translator import EngineName, Translator

if TYPE_CHECKING:
    from seq2see.lens.trace import Trace
    from seq2see.serve.jobs import Translation

AT_WORK = 64  # requests in one engine, which batches them
WAITING = 256  # requests that wait for an engine, at the front
AIM = 16  # requests at work in each engine, which Ray starts and stops engines to keep
WITHIN = Caller(None, "the front")


class Answer(NamedTuple):
    """What an engine says: a result, or the parts of a `Refusal`, which Ray would wrap as an error of its own."""

    result: Any
    refused: tuple[int, str, str, int | None] | None = None


class EngineCard(NamedTuple):
    name: str
    precision: str


@dataclass(frozen=True)
class ModelCard:
    """What the front knows of a model, in the words of a `Translator`."""

    name: str
    language_pairs: list[tuple[str, str]]
    engine: EngineCard


@serve.deployment(max_ongoing_requests=AT_WORK, max_queued_requests=WAITING)
class Engines:
    """One engine, in a process of its own; all of its replicas are alike."""

    def __init__(self, runs: Sequence[str], settings: ServerSettings, engine: EngineName):
        models = {Path(run).name: Translator.from_pretrained(run, engine=engine) for run in runs}
        self.service = Service(models, settings=dataclasses.replace(settings, rate=0))  # the front has counted

    async def describe(self) -> dict[str, ModelCard]:
        return {
            name: ModelCard(one.name, one.language_pairs, EngineCard(one.engine.name, one.engine.precision))
            for name, one in self.service.models.items()
        }

    async def translate(self, request: Request) -> Answer:
        return await _answer(self.service.translate(request, caller=WITHIN))

    async def look(self, request: Request, alternative: int, views: Sequence[str]) -> Answer:
        return await _answer(
            self.service.translate_and_look(request, caller=WITHIN, alternative=alternative, views=views))


async def _answer(work: Awaitable[Any]) -> Answer:
    try:
        return Answer(await work)
    except Refusal as error:
        return Answer(None, (error.status, error.code, error.message, error.retry_after))


class Replicated(Service):
    """A `Service` whose translators are elsewhere: `engines` is Ray's handle of them."""

    def __init__(self, engines: Any, *, settings: ServerSettings):
        super().__init__(settings=settings, access=Access(read_keys(settings.keys_file), rate=settings.rate))
        self._engines = engines

    async def begin(self) -> None:
        """Wait for the first engine."""
        self.models = await self._engines.describe.remote()
        self.ready = True

    async def _translate(self, request: Request) -> list[Translation]:
        translations: list[Translation] = await self._ask("translate", request)
        return translations

    async def translate_and_look(
        self, request: Request, *, caller: Caller, alternative: int = 0, views: Sequence[str] = ("raw",)
    ) -> tuple[list[Translation], list[Trace]]:
        async with self._serving(request, caller, seconds=self.settings.look_seconds):
            both: tuple[list[Translation], list[Trace]] = await self._ask("look", request, alternative, tuple(views))
            return both

    async def _ask(self, method: str, *arguments: Any) -> Any:
        for _ in range(2):
            try:
                answer = await getattr(self._engines, method).remote(*arguments)
            except BackPressureError:
                raise self.refuse_busy() from None
            except RayActorError:  # its process or its machine is gone
                continue
            if answer.refused is not None:
                status, code, message, retry_after = answer.refused
                raise Refusal(status, code, message, retry_after=retry_after)
            return answer.result
        raise Refusal(503, "engine_lost", "the engine was lost twice: try again in a few seconds", retry_after=5)


class Door:
    """Where Ray brings requests in: it must be there before the application is."""

    app: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
        else:
            await self.app(scope, receive, send)


door = Door()  # one in each process


@serve.deployment(num_replicas=1, max_ongoing_requests=1_000)
@serve.ingress(lambda: door)
class Front:
    """The server without its engines."""

    async def __init__(self, engines: Any, settings: ServerSettings):  # type: ignore[misc]  # Ray awaits it
        service = Replicated(engines, settings=settings)
        await service.begin()
        door.app = make_app(service, settings, host="0.0.0.0")
        if settings.page:
            from seq2see.serve.ui import page

            parent, mounted = page.mount(await asyncio.to_thread(page.build_page, service))
            self._open = contextlib.AsyncExitStack()
            await self._open.enter_async_context(parent.router.lifespan_context(parent))
            door.app.state.page.app = mounted


def application(arguments: dict[str, str]) -> serve.Application:
    """For `serve run`: `models` (commas between), `config` (a YAML), `engine`, and how many, `least` and `most`."""
    unknown = set(arguments) - {"models", "config", "engine", "least", "most"}
    if unknown or not arguments.get("models"):
        raise UserError("expected models=RUN[,RUN] and perhaps config=FILE, engine=NAME, least=N, most=N", exit_code=2)
    settings = read_settings(arguments.get("config"))
    least = int(arguments.get("least", 1))
    scaling = {"min_replicas": least, "max_replicas": max(least, int(arguments.get("most", 4))),
               "target_ongoing_requests": AIM}  # fmt: skip
    many: Any = Engines  # the decorator has made them Ray's
    one: Any = Front
    engines = many.options(autoscaling_config=scaling).bind(
        arguments["models"].split(","), settings, arguments.get("engine", "auto"))
    return one.bind(engines, settings)
