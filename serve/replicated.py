"""Runs the work of a `Service` whose `engines` are remote.

Everything that they exchange can be pickled: requests, results, the functions with which the page examines models (with
cloudpickle), and errors.  Independent of the transport (`ray_app.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from ..translate.translator import Translator
from .access import AccessControl
from .service import Service, as_api_error
from .settings import ServerSettings
from .ui.first import example_model


class Replica:
    """One engine; it neither checks keys nor counts requests, because the front does."""

    def __init__(self, models: Mapping[str, Translator], settings: ServerSettings):
        self.service = Service(models, settings, access=AccessControl())

    async def describe(self) -> tuple[dict[str, SimpleNamespace], str | None]:
        """The front's stand-in for each translator, and the name of the model for the page's examples."""
        example = await asyncio.to_thread(example_model, self.service)
        return {name: proxy_of(one) for name, one in self.service.models.items()}, example

    async def work(self, method: str, *arguments: Any, **request: Any) -> Any:
        """Run a method of the service.

        Any exception becomes an APIError, because Ray logs exceptions, and they may quote texts.
        """
        try:
            return await getattr(self.service, method)(*arguments, **request)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a panic of the tokenizer is not an Exception
            raise as_api_error(error) from None

    async def metrics(self) -> bytes:
        return self.service.metrics.text()


def proxy_of(translator: Translator) -> SimpleNamespace:
    """A stand-in for a remote `Translator`, with the attributes that the front reads."""
    engine = SimpleNamespace(name=translator.engine.name, precision=translator.engine.precision)
    known = translator.measurements
    measurements = SimpleNamespace(roles=known.roles, pronoun_effects=known.pronoun_effects)
    return SimpleNamespace(name=translator.name, folder=translator.folder, files=translator.files,
                           language_pairs=translator.language_pairs, engine=engine, measurements=measurements,
                           measured_files=SimpleNamespace(files=partial(dict, translator.measured_files.files()),
                                                          examples=translator.measured_files.examples,
                                                          calibration=translator.measured_files.calibration))
