"""One sentence through two translators, for `lens.compare`: each one's translation, and its prediction of the other's.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from seq2see.errors import UserError
from ..lens.trace import Trace
from .results import Translation
from .translator import Translator


def check_one_sentence(result: Translation, name: str | None) -> None:
    """Raises UserError for a text that the model of this name translates in several parts, or that has no words."""
    if not result.parts:
        raise UserError(f"this text has no words for {name} to translate: give one sentence")
    if len(result.parts) != 1 or not result.hypotheses:
        raise UserError(f"{name} translates this text in {len(result.parts)} parts: give one sentence")


def forced(model: Translator, trace: Trace, *, views: Sequence[str] = ("raw",)) -> Trace:
    """The trace of another model's translation under this one.

    The tokens are the other model's if they are this model's too, otherwise those of this model's tokenizer.  Raises
    UserError, with the model's name, for a translation that the model cannot represent.
    """
    def looked_at(target_ids: Sequence[int] | None = None, given: int = 0) -> Trace:
        found = model.look_at(trace.source_text, trace.target_text, source=trace.source_language,
                              target=trace.target_language, views=views, target_ids=target_ids,
                              given=given)
        return replace(found, replaced=trace.replaced)

    with suppress(UserError):  # its ids spell another text
        same = looked_at(trace.target_ids, trace.given)
        if same.target == trace.target:  # special tokens too
            return same
    try:
        return looked_at()
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None
