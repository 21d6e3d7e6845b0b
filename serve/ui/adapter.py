"""All that stands between the page and `/v1`.

What the page's JavaScript sends is read as a body of `/v1` is, and what it shows is what `/v1` answers.  The browser
keeps all of it, the server nothing: a translation comes back as anybody may have made it, and is read as strictly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar

import gradio as gr
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from seq2see.errors import UserError
from ...lens.trace import Trace
from ...translate.decoding import MOST_BEAMS, OPTIONS
from ...translate.results import Hypothesis, Translation
from ...translate.translator import Translator
from ..dialects.bodies import bad_request
from ..dialects.v1 import RequestBody
from ..errors import APIError
from .calls import OUTCOME

Body = TypeVar("Body", bound=BaseModel)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Start(Strict):
    """The map that Look is to open at."""

    kind: Literal["cross", "encoder", "decoder"] = "cross"
    layer: int | None = Field(default=None, ge=0)
    head: int | None = Field(default=None, ge=0)


class Ask(RequestBody):
    """The page's `n`th request; `shown`: which of the alternatives is to be shown first."""

    n: int = Field(ge=0, lt=2**53)
    text: str
    shown: int = Field(default=0, ge=0, lt=MOST_BEAMS)
    start: Start | None = None

    def given(self) -> dict[str, Any]:
        """The options that the page names."""
        return self.model_dump(include=set(OPTIONS), exclude_none=True)


def _begun(one: Hypothesis) -> Hypothesis:
    if one.given < 0:
        raise ValueError("given: expected no fewer than 0")
    return one


class Part(Strict):
    """A part of the text, as the model translated it: `text` is what it read, `source` what the text has if another."""

    text: str
    source: str | None = None
    hypothesis: Annotated[Hypothesis, AfterValidator(_begun)]


class Shown(Strict):
    """What Translate shows and Look looks into: a translation of `text`, by the model of that name.

    `asked` are the options of the request; `link`: what a link says beside text and languages (None: there is none).
    """

    model: str
    source: str
    target: str
    text: str
    parts: tuple[Part, ...] = Field(min_length=1)
    engine: str
    precision: str
    asked: dict[str, int | float] = {}
    link: dict[str, int | float | str] | None = None
    start: Start | None = None

    @classmethod
    def of(cls, result: Translation, *, alternative: int = 0, **more: Any) -> Shown:
        """One hypothesis of a translation."""
        parts = tuple(Part(text=part.as_read.source_text, source=part.source_text if part.model_input else None,
                           hypothesis=part.hypotheses[alternative]) for part in result.parts)
        return cls(source=result.source_language, target=result.target_language, text=result.source_text, parts=parts,
                   engine=result.engine, precision=result.precision, **more)

    @property
    def ids(self) -> list[list[int]]:
        """Of each part: by these the page knows what an answer belongs to."""
        return [list(part.hypothesis.token_ids) for part in self.parts]

    def translations(self, translator: Translator) -> list[Translation]:
        """One for each part, with the one hypothesis."""
        return [Translation("", part.text, self.source, self.target, (part.hypothesis,), self.engine, self.precision,
                            seen=translator.seen_words(self.source)) for part in self.parts]

    def traces(self, translator: Translator, *, views: Sequence[str] = ("raw",)) -> list[Trace]:
        """The trace of each part; to be called by `service.examine`."""
        pieces = translator.model.config.vocab_size
        if not all(ids and min(ids) >= 0 and max(ids) < pieces for ids in self.ids):
            raise UserError(f"expected ids of pieces, from 0 to {pieces - 1}")
        return translator.look(self.translations(translator), views=views)


def read(kind: type[Body], value: Any) -> Body:
    """What a browser sent; APIError for anything else, for anybody may have sent it."""
    try:
        return kind.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise bad_request(error) from None


@contextmanager
def page_errors(title: str = "Not translated") -> Iterator[None]:
    """Around a handler: an APIError is shown in a corner, and a call that waits is answered with its status."""
    try:
        yield
    except APIError as error:
        if outcome := OUTCOME.get(None):
            outcome.status = error.status
        raise gr.Error(error.message, title=title, print_exception=False, duration=8) from None
