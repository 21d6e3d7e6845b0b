"""Subword training, language tags, and the mapping from tokens to words to characters.

Names are imported on first use: words need only the package regex, the tokenizer needs transformers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tokenization_seq2see import Seq2SeeTokenizer as Seq2SeeTokenizer
    from .tokenization_seq2see import train_tokenizer as train_tokenizer
    from .words import TokenSpan as TokenSpan
    from .words import Word as Word
    from .words import split_words as split_words
    from .words import token_spans as token_spans

_HOME_OF = {
    "Seq2SeeTokenizer": "tokenization_seq2see",
    "TokenSpan": "words",
    "Word": "words",
    "split_words": "words",
    "token_spans": "words",
    "train_tokenizer": "tokenization_seq2see",
}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'seq2see.tokenizer' has no attribute {name!r}")
    return getattr(import_module(f"seq2see.tokenizer.{_HOME_OF[name]}"), name)
