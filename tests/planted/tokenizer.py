"""Faults of the tokenizer, words, sentences, and text that must come back unchanged."""

from typing import Any

from . import fault


@fault("the language of one call stays", "tokenizer.tokenization_seq2see:Seq2SeeTokenizer.__call__",
       "tokenizer/test_tokenizer.py")  # fmt: skip
def _(original: Any, self: Any, *texts: Any, tgt_lang: str | None = None, **how: Any) -> Any:
    if tgt_lang:
        self.tgt_lang = tgt_lang
    return original(self, *texts, **how)


@fault("a text may spell special tokens", "tokenizer.tokenization_seq2see:Seq2SeeTokenizer.encode_sources",
       "tokenizer/test_any_text.py")  # fmt: skip
def _(original: Any, self: Any, texts: Any) -> Any:
    self.backend_tokenizer.encode_special_tokens = False
    return [
        [*one.ids, self.eos_token_id]
        for one in self.backend_tokenizer.encode_batch(list(texts), add_special_tokens=False)
    ]


@fault("French is split as English", "tokenizer.words:split_words", "tokenizer/test_words.py")
def _(original: Any, text: str, *, language: str) -> Any:
    return original(text, language="en")


@fault("spaces between sentences become one", "tokenizer.segments:Cut.join", "tokenizer/test_segments.py")
def _(original: Any, self: Any, translations: Any) -> str:
    return " ".join(original(self, translations).split())


@fault("a lost stand-in is overlooked", "tokenizer.protected:Reading.restored", "tokenizer/test_protected.py")
def _(original: Any, self: Any, translation: str) -> Any:
    return original(self, translation) or translation


@fault("a token's span ends one character early", "tokenizer.words:piece_spans", "tokenizer/test_spans.py")
def _(original: Any, *given: Any, **how: Any) -> Any:
    from dataclasses import replace

    return [replace(one, end=max(one.start, one.end - 1)) for one in original(*given, **how)]
