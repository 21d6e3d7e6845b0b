"""`/v1/look`'s field `without`: a translation without some heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from seq2see.importing import IMPORTS
from ...passes.attention_kinds import Kind
from ...translate.decoding import OPTIONS, DecodingOptions
from ...translate.results import Translation
from ...translate.translator import Translator
from ..api_errors import APIError


@contextmanager
def without_heads(
    translator: Translator, text: str, heads: Sequence[tuple[Kind, int, int]], *, source: str | None,
    target: str | None, prefix: str, options: DecodingOptions,
) -> Iterator[tuple[Translator, Translation, Translation]]:
    """A translation in which the means replace some heads, and the translation with every head.

    Also returns the model, whose heads stay replaced until the end of the block.  PyTorch computes both with the same
    options, because int8 weights may give another translation with every head.
    """
    with IMPORTS:
        from ...lens.changes.interventions import ablate
        from ...lens.changes.means import head_means  # these import torch

    given = {name: getattr(options, name) for name in OPTIONS}
    with translator.by_torch() as model:
        translate = partial(model, text, source=source, target=target, prefix=prefix, **given)
        whole = translate()
        if not whole.hypotheses:
            raise APIError(400, "blank_text", "the text has no words, so no head is needed for its translation")
        means, _ = head_means(model.model, model.tokenizer, model.look(whole)[0], model.files)
        with ablate(model.model, heads, replace="mean", means=means):
            yield model, translate(), whole
