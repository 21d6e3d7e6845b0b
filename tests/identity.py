"""An engine that copies: what is left of a translation is everything around the model."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from seq2see.cli.translating.request import TranslationRequest
from seq2see.translate import Translator
from seq2see.translate.decoding import DecodingOptions
from seq2see.translate.results import EngineOutput, Hypothesis, Ids, Wanted


class IdentityEngine:
    """Gives each source as its only hypothesis."""

    name, precision, threads = "identity", "", 1

    def __init__(self, end: Sequence[int]):
        self.end = end

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        return [(Hypothesis.from_engine((*options.prefix, *source), 0.0, end=self.end, options=options),)
                for source in sources]


@cache
def copying_lines(name: str = "storybook") -> TranslationRequest:
    """What translates lines by copying them; for `translate_lines` and its processes."""
    return TranslationRequest(copying(name, threads=1), ("fr",),
                              {"source": None, "num_beams": None, "keep": "", "alternatives": 1})


def copying(name: str = "storybook", **how: Any) -> Translator:
    """A translator with the tokenizer and languages of a model, which copies."""
    translator = Translator.from_pretrained(name, **how)
    translator.engine = IdentityEngine(translator.defaults.end)
    return translator
