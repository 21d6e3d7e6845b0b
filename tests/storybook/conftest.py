"""The sentences of the corpus and their words, as its tests count them."""

from functools import cache

import pytest

from seq2see.storybook import Storybook, StoryPair
from seq2see.tokenizer.words import split_words


@pytest.fixture(scope="module")
def pairs(stories: Storybook) -> list[StoryPair]:
    return [*stories.train, *stories.val, *stories.test]


@cache
def words(text: str, language: str = "en") -> tuple[str, ...]:
    """Cut once for all tests: of the whole of storybook this takes seconds."""
    return tuple(word.text for word in split_words(text, language=language))
