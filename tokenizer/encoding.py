"""Text to ids and back with any tokenizer of transformers: Seq2See's own, or another encoder-decoder's.

Special tokens that a user types are plain text.
"""

from collections.abc import Sequence

from transformers import MarianTokenizer, PreTrainedTokenizerBase

from .tagging import Tagging, bare, first_ids
from .tokenization_seq2see import Seq2SeeTokenizer
from .words import refuse_surrogates


def encode_source(tokenizer: PreTrainedTokenizerBase, text: str, *, tagging: Tagging | None = None) -> list[int]:
    """Encode a source text to ids, `</s>` included.

    `tagging` has the language tags for a model that is not a Seq2See model; None: the tokenizer's own language setting.
    """
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.encode_source(text)
    refuse_surrogates(text)
    return tagging.encode(tokenizer, text) if tagging else tokenizer(text, split_special_tokens=True)["input_ids"]


def encode_target(tokenizer: PreTrainedTokenizerBase, text: str, *, language: str, first: int | None) -> list[int]:
    """Encode a translation to ids, up to its `</s>`.

    The ids begin with the tag of the language.  If a model has no language tags, they begin with `first`, unless it is
    None. mBART-25's tokenizer puts the language tag after `</s>`.  Generation starts from this tag, so the tag is not a
    step and is left out.
    """
    if isinstance(tokenizer, Seq2SeeTokenizer):
        return tokenizer.encode_target(text, language=language)
    refuse_surrogates(text)
    tag = first_ids(tokenizer).get(language)
    if tag is not None:  # and not by the tokenizer, which other threads use for other languages
        return [tag, *bare(tokenizer, text), tokenizer.eos_token_id]
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


def of_source(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """The tokenizer that names and decodes source ids.

    It differs only for a Marian model with two vocabularies, whose own tokenizer decodes target ids only.
    """
    if not (isinstance(tokenizer, MarianTokenizer) and tokenizer.separate_vocabs):
        return tokenizer
    source = object.__new__(MarianTokenizer)  # a copy would read its files again
    names = {id: token for token, id in tokenizer.encoder.items()}
    source.__dict__ = {**vars(tokenizer), "decoder": names, "separate_vocabs": False}
    return source
