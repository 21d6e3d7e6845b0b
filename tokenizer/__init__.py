"""Subword training, language tags, and the mapping from tokens to words to characters.

The tokenizer is imported on first use, because it needs transformers.  Words need only the package regex.

Imports modeling.
Begin with `tokenization_seq2see.py`, then `encoding.py` and `words.py`.
"""

from typing import TYPE_CHECKING, Any

from .words import TokenSpan, Word, split_words, token_spans

if TYPE_CHECKING:
    from .tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer

__all__ = ["Seq2SeeTokenizer", "TokenSpan", "Word", "split_words", "token_spans", "train_tokenizer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import tokenization_seq2see

    return getattr(tokenization_seq2see, name)
