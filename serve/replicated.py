"""A `Service` whose translators are elsewhere: the front of many engines, and an engine behind it.

What goes between them is made to be pickled: requests, results, what a page wants to be examined (a function, by
cloudpickle), and refusals.  Knows nothing of what carries it (`ray_app.py`).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..translate.decoding import GenerationDefaults
from ..translate.translator import Translator
from .access import Caller, read_access
from .errors import APIError
from .service import Service
from .settings import ServerSettings

if TYPE_CHECKING:
    from ..lens.trace import Trace
    from ..translate.results import Translation

WITHIN = Caller(None, "the front")


class Answer(NamedTuple):
    """What an engine says: a result, or the parts of a `APIError`, which would come as another error over the wire."""

    result: Any
    refused: tuple[int, str, str, int | None] | None = None


class EngineCard(NamedTuple):
    name: str
    precision: str


@dataclass(frozen=True)
class ModelCard:
    """What the front knows of a model, in the words of a `Translator`."""

    name: str
    folder: Path | None
    language_pairs: list[tuple[str, str]]
    defaults: GenerationDefaults
    engine: EngineCard
    words: Mapping[str, frozenset[str] | None]

    @classmethod
    def of(cls, translator: Translator) -> ModelCard:
        pairs = translator.language_pairs
        return cls(
            translator.name, translator.folder, pairs, translator.defaults,
            EngineCard(translator.engine.name, translator.engine.precision),
            {source: translator.seen_words(source) for source, _ in pairs},
        )  # fmt: skip

    def seen_words(self, language: str) -> frozenset[str] | None:
        return self.words.get(language)


class Replica:
    """One engine; all that stand behind a front are alike."""

    def __init__(self, models: Mapping[str, Translator], settings: ServerSettings):
        self.service = Service(models, settings=dataclasses.replace(settings, rate=0))  # the front has counted

    async def describe(self) -> Answer:
        return Answer({name: ModelCard.of(one) for name, one in self.service.models.items()})

    async def translate(self, texts: Sequence[str], asked: Mapping[str, Any]) -> Answer:
        return await _answer(self.service.translate(texts, caller=WITHIN, **asked))

    async def look(self, texts: Sequence[str], asked: Mapping[str, Any]) -> Answer:
        return await _answer(self.service.translate_and_look(texts, caller=WITHIN, **asked))

    async def examine(self, texts: Sequence[str], work: Callable[[Translator], Any], model: str | None) -> Answer:
        return await _answer(self.service.examine(texts, work, caller=WITHIN, model=model))


async def _answer(work: Awaitable[Any]) -> Answer:
    try:
        return Answer(await work)
    except APIError as error:
        return Answer(None, (error.status, error.code, error.message, error.retry_after))


class Replicated(Service):
    """The front.  What it counts and refuses is its own; the work is done by a `Replica`."""

    def __init__(self, settings: ServerSettings):
        super().__init__(settings=settings, access=read_access(settings))

    @abstractmethod
    async def send(self, method: str, *arguments: Any) -> Answer:
        """Have a replica do one of its methods; APIError where none can."""

    async def begin(self) -> None:
        """Wait for the first replica."""
        self.models = await self._ask("describe")
        self.ready = True

    async def translate_and_look(
        self, texts: str | Sequence[str], *, caller: Caller, **asked: Any
    ) -> tuple[list[Translation], list[Trace]]:
        texts = [texts] if isinstance(texts, str) else texts
        async with self._serving(texts, caller, seconds=self.settings.look_seconds, **asked):
            both: tuple[list[Translation], list[Trace]] = await self._ask("look", texts, asked)
            return both

    async def examine(self, texts: Sequence[str], work: Callable[[Translator], Any], *, caller: Caller,
                      model: str | None = None) -> Any:
        async with self._serving(texts, caller, seconds=self.settings.look_seconds):
            return await self._ask("examine", tuple(texts), work, model)

    async def _translate(self, texts: Sequence[str], **asked: Any) -> list[Translation]:
        translations: list[Translation] = await self._ask("translate", texts, asked)
        return translations

    async def _ask(self, method: str, *arguments: Any) -> Any:
        answer = await self.send(method, *arguments)
        if answer.refused is not None:
            status, code, message, retry_after = answer.refused
            raise APIError(status, code, message, retry_after=retry_after)
        return answer.result
