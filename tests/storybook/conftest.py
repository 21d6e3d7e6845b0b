"""Words, as the tests of the corpus count them."""

from functools import cache

from seq2see.tokenizer.words import split_words


@cache
def words(text: str, language: str = "en") -> tuple[str, ...]:
    """Cut once for all tests: of the whole of storybook this takes seconds."""
    return tuple(word.text for word in split_words(text, language=language))
