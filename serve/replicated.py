"""What does the work of a `Service` whose `engines` are elsewhere.

Everything they exchange can be pickled: requests, results, the functions that the page examines models with (by
cloudpickle), and errors.  Independent of the transport (`ray_app.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from ..translate.translator import Translator
from .access import AccessControl
from .service import Service, as_api_error
from .settings import ServerSettings
from .ui.first import example_model


class Replica:
    """One engine.  It neither asks for keys nor counts requests: the front has."""

    def __init__(self, models: Mapping[str, Translator], settings: ServerSettings):
        self.service = Service(models, settings, access=AccessControl())

    async def describe(self) -> tuple[dict[str, SimpleNamespace], str | None]:
        """What the front has in place of each translator, and the name of the one for the page's examples."""
        example = await asyncio.to_thread(example_model, self.service)
        return {name: proxy_of(one) for name, one in self.service.models.items()}, example

    async def work(self, method: str, *arguments: Any, **request: Any) -> Any:
        """Do some of a service's work; APIError for whatever it raises, for Ray logs that, and errors quote texts."""
        try:
            return await getattr(self.service, method)(*arguments, **request)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a panic of the tokenizer is not an Exception
            raise as_api_error(error) from None

    async def metrics(self) -> bytes:
        return self.service.metrics.text()


def proxy_of(translator: Translator) -> SimpleNamespace:
    """A stand-in for a remote `Translator`: those of its attributes that the front reads."""
    engine = SimpleNamespace(name=translator.engine.name, precision=translator.engine.precision)
    known = translator.measurements
    measurements = SimpleNamespace(roles=known.roles, pronoun_effects=known.pronoun_effects)
    return SimpleNamespace(name=translator.name, folder=translator.folder, files=translator.files,
                           language_pairs=translator.language_pairs, engine=engine, measurements=measurements)
