"""Whether a sentence has an offensive word, by the lists of offensive_words.yaml: English, French, German, Spanish."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import regex
import yaml

WORDS = Path(__file__).with_name("offensive_words.yaml")


def is_offensive(text: str, *, language: str) -> bool:
    """Whether it has a listed word of its language, in any case; never in a language without a list."""
    pattern = _patterns().get(language)
    return pattern is not None and pattern.search(text) is not None


@cache
def _patterns() -> dict[str, regex.Pattern[str]]:
    lists = yaml.safe_load(WORDS.read_text("utf-8"))
    return {language: regex.compile(rf"(?<![\w-])(?:{'|'.join(map(_pattern, words))})(?!\w)", regex.IGNORECASE)
            for language, words in lists.items()}


def _pattern(word: str) -> str:
    return regex.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "")
