"""What Translate shows and Look looks into: one translation, as the page keeps it between two requests.

It lives in the visitor's browser, in a hidden component, and nowhere else; so it comes back as anybody may have made
it, and is read as strictly as a request's body.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seq2see.errors import UserError
from ...translate.results import Hypothesis, Translation
from ..dialects.bodies import bad_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...lens.trace import Trace
    from ...translate.translator import Translator


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Part(Strict):
    """A part of the text, as the model translated it: `ids` are the predicted ones, tag and `</s>` among them, of
    which the first `given` were forced.  `text` is what the model read, `source` what the text has where that differs.
    """

    text: str
    source: str | None = None
    ids: tuple[int, ...] = Field(min_length=1)
    score: float
    log_prob: float
    finished: bool
    given: int = Field(ge=0)


class Start(Strict):
    """The map that Look is to open at."""

    kind: Literal["cross", "encoder", "decoder"] = "cross"
    layer: int | None = Field(default=None, ge=0)
    head: int | None = Field(default=None, ge=0)


class Shown(Strict):
    """A translation of `text`, by the model of that name.  `asked` are the settings it was asked for with.

    `link` is what a link to it says beside text and languages; None where no link can lead to it.
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
    def of(cls, result: Translation, *, model: str, alternative: int = 0, asked: dict[str, Any] | None = None,
           link: dict[str, Any] | None = None, start: Start | None = None) -> Shown:
        """One hypothesis of a translation."""
        chosen = [(part, part.hypotheses[alternative]) for part in result.parts]
        return cls(
            model=model, source=result.source_language, target=result.target_language, text=result.source_text,
            parts=tuple(Part(text=part.as_read.source_text, source=part.source_text if part.model_input else None,
                             ids=one.token_ids, score=one.score, log_prob=one.log_prob,
                             finished=one.finished, given=one.given) for part, one in chosen),
            engine=result.engine, precision=result.precision, asked=asked or {}, link=link, start=start,
        )  # fmt: skip

    @classmethod
    def read(cls, value: Any) -> Shown:
        """What came back of `plain`; APIError for anything else."""
        try:
            return cls.model_validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise bad_request(error) from None

    @property
    def ids(self) -> list[list[int]]:
        """Of each part: by these the page knows what an answer belongs to."""
        return [list(part.ids) for part in self.parts]

    @property
    def size(self) -> int:
        """Characters of all parts, or pieces of their translations where those are more: what maps of it would cost.

        `text` says nothing of it, for a browser may send any.
        """
        return max(sum(len(part.text) for part in self.parts), sum(len(part.ids) for part in self.parts))

    def plain(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def translations(self, translator: Translator) -> list[Translation]:
        """One for each part, with the one hypothesis, whose text is for the trace to decode."""
        seen = translator.seen_words(self.source)
        return [Translation("", part.text, self.source, self.target,
                            (Hypothesis("", part.ids, part.score, part.log_prob, part.finished, part.given),),
                            self.engine, self.precision, seen=seen) for part in self.parts]  # fmt: skip

    def traces(self, translator: Translator, *, views: Sequence[str] = ("raw",)) -> list[Trace]:
        """The trace of each part; to be called by `service.examine`."""
        pieces = translator.model.config.vocab_size
        if not all(0 <= id < pieces for part in self.parts for id in part.ids):
            raise UserError(f"expected ids of pieces, from 0 to {pieces - 1}")
        return translator.look(self.translations(translator), views=views)

    def at(self, **start: Any) -> Shown:
        """The same, to be opened at another map."""
        return self.model_copy(update={"start": Start(**start)})
