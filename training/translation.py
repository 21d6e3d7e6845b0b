"""Translating many pairs: what evaluations and teachers use.  The search is the torch engine's, as everybody's is."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from transformers import PreTrainedModel

from seq2see.errors import UserError
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..translate.decoding import DecodingOptions, GenerationDefaults
from ..translate.torch_engine import TorchEngine
from .pairs import Pair


def translate_pairs(
    model: PreTrainedModel,
    tokenizer: Seq2SeeTokenizer,
    pairs: Sequence[Pair],
    *,
    num_beams: int | None = None,
    max_new_tokens: int | None = None,
) -> list[str]:
    """The source side of each pair in its target language, in the order given; uncut, and in evaluation mode.

    What is not given is as the model's generation_config says.

    Raises UserError for a source of more tokens than the model has positions, and for an option out of bounds.
    """
    positions = model.config.max_position_embeddings
    sources = tokenizer.encode_sources([pair.source for pair in pairs])
    for source, pair in zip(sources, pairs, strict=True):
        if len(source) > positions:
            raise UserError(
                f"a source of {len(source)} tokens, more than the model's {positions} positions, starts"
                f" {pair.source[:40]!r}; leave it out, or cut it into sentences"
            )
    try:
        options = DecodingOptions(num_beams=num_beams, max_new_tokens=max_new_tokens)
    except ValueError as error:
        raise UserError(str(error), exit_code=2) from None
    defaults = GenerationDefaults(model.generation_config.to_dict(), positions)
    engine = TorchEngine(model, end=defaults.end, lock=Lock())
    texts = [""] * len(pairs)
    for language in dict.fromkeys(pair.target_language for pair in pairs):
        mine = [index for index, pair in enumerate(pairs) if pair.target_language == language]
        asked = defaults.resolve(options, first=tokenizer.tag_id(language))
        for index, (found,) in zip(mine, engine.translate([sources[index] for index in mine], asked), strict=True):
            texts[index] = tokenizer.decode_text(found.token_ids)
    return texts
