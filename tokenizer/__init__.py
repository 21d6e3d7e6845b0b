"""Subword training, language tags, and the way from pieces to words to characters."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.tokenizer, not tokenizer: under the bare name every class would exist twice")

from seq2see.tokenizer.words import Word, split_words

__all__ = ["Word", "split_words"]
