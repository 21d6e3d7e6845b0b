"""What the tab Look asks the server: a module a panel, with its JavaScript beside it.

Each has a question, read strictly, and a function (translator, question) that asks `lens` and gives plain data.  The
browser sends along the translation that it looks into, so that the server keeps nothing between two questions.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import gradio as gr
from pydantic import Field

from seq2see.errors import UserError
from ....lens.kinds import Kind
from ....lens.trace import Trace
from ....translate.translator import Translator
from ...service import APIError, Service
from ..adapter import Part, Shown, Strict, read
from ..files import text_of

Answer = Callable[[Any, gr.Request], Awaitable[dict[str, Any]]]


class Question(Strict):
    """About one part of the translation shown."""

    shown: Shown
    part: int = Field(default=0, ge=0)

    @property
    def chosen(self) -> Part:
        if self.part >= len(self.shown.parts):
            raise UserError(f"there is no part {self.part} of this translation", exit_code=2)
        return self.shown.parts[self.part]

    @property
    def alone(self) -> Shown:
        """The translation as if the part were all of it."""
        return self.shown.model_copy(update={"parts": (self.chosen,)})

    def trace(self, translator: Translator, *views: str) -> Trace:
        """The trace of the part; not to be called inside `translator.inside()`."""
        return self.alone.traces(translator, views=("raw", *views))[0]

    @property
    def texts(self) -> list[str]:
        """What the limits on texts are about."""
        return [self.chosen.text]


class HeadQuestion(Question):
    """About one row of one map."""

    kind: Kind
    layer: int = Field(ge=0)
    head: int = Field(ge=0)
    row: int = Field(ge=0)


def answering(service: Service, name: str, question: type[Question],
              work: Callable[[Translator, Any], dict[str, Any]]) -> Answer:
    """A function of that name for the browser to call: `work` done where looks are done, under the same limits.

    It answers with what `work` gives, or with the one line to show in its place, as `error`.
    """

    async def answer(value: Any, request: gr.Request) -> dict[str, Any]:
        return await told(lambda: examined(service, read(question, value), work, request))

    answer.__name__ = name
    return answer


async def examined(service: Service, asked: Any, work: Callable[[Translator, Any], dict[str, Any]],
                   request: gr.Request) -> dict[str, Any]:
    """What `work` finds, wherever the model is: it may know of its question alone, and is sent there by pickle."""
    return await service.examine(texts_within(service, asked), lambda translator: work(translator, asked),
                                 model=asked.shown.model, caller=service.access.caller(request))


def texts_within(service: Service, asked: Any) -> list[str]:
    """What the question is about; UserError where one is longer than a text that may be looked into."""
    longest, most = max(map(len, asked.texts)), service.settings.look_characters
    if longest > most:
        raise UserError(f"a part of {longest} characters: {most} at most can be looked into")
    return asked.texts


async def told(ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """What `ask` gives, or why not in one line."""
    try:
        return await ask()
    except APIError as error:
        return {"error": error.message}
    except UserError as error:
        return {"error": str(error)}


def asset(name: str) -> str:
    """The text of a file beside this one."""
    return text_of(name, "seq2see.serve.ui.panels")
