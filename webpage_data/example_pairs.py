"""The example sentences of the page, in pairs: they differ in one word, which changes the antecedent of *it*."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..translate.translator import Translator

PAIRS: tuple[dict[str, Any], ...] = (
    {"name": "The cat … the street … too", "before": "The cat did not cross the street because it was too ",
     "options": ["tired", "wide"], "after": ".", "pronouns": ["il", "elle"]},
    {"name": "The goat … the wolf", "before": "The goat ", "options": ["chased", "fled from"],
     "after": " the wolf because it was hungry.", "pronouns": ["elle", "il"]},
    {"name": "The box … the bag … too", "before": "The box did not fit in the bag because it was too ",
     "options": ["big", "small"], "after": ".", "pronouns": ["elle", "il"]},
)
SOURCE, TARGET = "en", "fr"


def sentences() -> list[tuple[str, str]]:
    """The six example sentences, each with the correct pronoun."""
    return [(one["before"] + word + one["after"], pronoun) for one in PAIRS
            for word, pronoun in zip(one["options"], one["pronouns"], strict=True)]


@lru_cache(maxsize=16)
def all_right(translator: Translator) -> bool:
    if (SOURCE, TARGET) not in translator.language_pairs:
        return False
    texts, pronouns = zip(*sentences(), strict=True)
    found = translator(list(texts), source=SOURCE, target=TARGET)
    others = {"il": "elle", "elle": "il"}
    words = [one.text.lower().replace("'", " ").replace("’", " ").split() for one in found]
    return all(right in own and others[right] not in own for right, own in zip(pronouns, words, strict=True))
