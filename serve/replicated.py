"""A `Service` whose translators are remote: the front, and an engine behind it.

Everything they exchange can be pickled: requests, results, the functions that the page examines models with (by
cloudpickle), and errors.  Independent of the transport (`ray_app.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from ..translate.translator import Translator
from .access import AccessControl, Caller
from .service import Service
from .settings import ServerSettings

WITHIN = "the front"


def proxy_of(translator: Translator) -> SimpleNamespace:
    """A stand-in for a remote `Translator`: those of its attributes that the front reads."""
    engine = SimpleNamespace(name=translator.engine.name, precision=translator.engine.precision)
    known = translator.measurements
    measurements = SimpleNamespace(roles=known.roles, pronoun_effects=known.pronoun_effects)
    return SimpleNamespace(name=translator.name, folder=translator.folder, files=translator.files,
                           language_pairs=translator.language_pairs, engine=engine, measurements=measurements)


class Replica:
    """One engine; all behind a front are identical."""

    def __init__(self, models: Mapping[str, Translator], settings: ServerSettings):
        self.service = Service(models, settings, access=AccessControl())  # the front asks for keys and counts texts

    async def describe(self) -> dict[str, SimpleNamespace]:
        return {name: proxy_of(one) for name, one in self.service.models.items()}

    async def call(self, method: str, *arguments: Any, client: str = "", **request: Any) -> Any:
        """Call a method of the service for the client of an address; raises its APIError."""
        return await getattr(self.service, method)(*arguments, caller=Caller(WITHIN, client), **request)


class Replicated(Service):
    """The front: counts and checks requests itself; a `Replica` does the work."""

    @abstractmethod
    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        """Call a method of some replica; APIError also if none can answer."""

    async def begin(self) -> None:
        """Wait for the first replica."""
        self.models = await self.send("describe")
        self.ready = True

    def expect_looks(self) -> None:
        """Nothing: a replica loads what it needs."""

    async def _do(self, work: Callable[..., Awaitable[Any]], *arguments: Any, **request: Any) -> Any:
        return await self.send("call", work.__name__.removeprefix("_"), *arguments, **request)
