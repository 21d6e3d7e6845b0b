"""Text to ids and back with any tokenizer of transformers: Seq2See's own, or another encoder-decoder's.

Special tokens that a user types are plain text.
"""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from .tagging import Tagging, first_ids
from .tokenization_seq2see import Seq2SeeTokenizer
from .words import refuse_surrogates


def encode_source(tokenizer: PreTrainedTokenizerBase, text: str, *, tagging: Tagging | None = None) -> list[int]:
    """Source text to ids, `</s>` included, with what stands beside it."""
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.encode_source(text)
    refuse_surrogates(text)
    if tagging is not None:
        return tagging.encode(tokenizer, text)
    return tokenizer(text, split_special_tokens=True)["input_ids"]


def encode_target(tokenizer: PreTrainedTokenizerBase, text: str, *, language: str, first: int | None) -> list[int]:
    """A translation to ids, up to its `</s>`, beginning with `first` if generation must begin with it.

    mBART-25's tokenizer puts the language after `</s>`; generation starts from it, so it is not a step.
    """
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.encode_target(text, language=language)
    refuse_surrogates(text)
    ids: list[int] = tokenizer(text_target=text, split_special_tokens=True)["input_ids"]
    if tokenizer.eos_token_id in ids:
        ids = ids[: ids.index(tokenizer.eos_token_id) + 1]
    return ids if first is None or ids[0] == first else [first, *ids]


def decode_target(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Target ids to text, without tags and special tokens."""
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.decode_text(ids)
    tagged = bool(ids) and ids[0] in first_ids(tokenizer).values()  # M2M-100 does not always know it as special
    return str(tokenizer.decode(list(ids[tagged:]), skip_special_tokens=True, clean_up_tokenization_spaces=False))
