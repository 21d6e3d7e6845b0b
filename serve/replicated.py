"""A `Service` whose translators are elsewhere: the front of many engines, and an engine behind it.

What goes between them can be pickled: requests, results, what a page wants to be examined (a function, by
cloudpickle), and errors.  Knows nothing of what carries it (`ray_app.py`).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from ..translate.translator import Translator
from .access import Caller, read_access
from .service import Service
from .settings import ServerSettings

WITHIN = Caller("the front")


def card(translator: Translator) -> SimpleNamespace:
    """What the front knows of a model, in the words of a `Translator`."""
    engine = SimpleNamespace(name=translator.engine.name, precision=translator.engine.precision)
    words = {source: translator.seen_words(source) for source, _ in translator.language_pairs}
    return SimpleNamespace(name=translator.name, folder=translator.folder, language_pairs=translator.language_pairs,
                           defaults=translator.defaults, engine=engine, seen_words=words.get, roles=translator.roles,
                           apart=translator.apart)


class Replica:
    """One engine; all that stand behind a front are alike."""

    def __init__(self, models: Mapping[str, Translator], settings: ServerSettings):
        self.service = Service(models, settings=dataclasses.replace(settings, rate=0))  # the front has counted

    async def describe(self) -> dict[str, SimpleNamespace]:
        return {name: card(one) for name, one in self.service.models.items()}

    async def call(self, method: str, *arguments: Any, **asked: Any) -> Any:
        """What a method of its service gives, or the APIError that it raises."""
        return await getattr(self.service, method)(*arguments, caller=WITHIN, **asked)


class Replicated(Service):
    """The front.  What it counts and refuses is its own; the work is done by a `Replica`."""

    def __init__(self, settings: ServerSettings):
        super().__init__(settings=settings, access=read_access(settings))

    @abstractmethod
    async def send(self, method: str, *arguments: Any, **asked: Any) -> Any:
        """Have a replica do one of its methods; APIError also where none can."""

    async def begin(self) -> None:
        """Wait for the first replica."""
        self.models = await self.send("describe")
        self.ready = True

    async def _do(self, work: Callable[..., Awaitable[Any]], *arguments: Any, **asked: Any) -> Any:
        return await self.send("call", work.__name__.removeprefix("_"), *arguments, **asked)
