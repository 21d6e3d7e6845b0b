"""The example sentences of the page, in pairs: they differ in one word, which changes the antecedent of *it*."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from ..translate.translator import Translator

PAIRS: tuple[dict[str, Any], ...] = (
    {"name": "The cat … the street … too", "before": "The cat did not cross the street because it was too ",
     "options": ["tired", "wide"], "after": ".", "agrees": ["il", "elle"]},
    {"name": "The goat … the wolf", "before": "The goat ", "options": ["chased", "fled from"],
     "after": " the wolf because it was hungry.", "agrees": ["elle", "il"]},
    {"name": "The box … the bag … too", "before": "The box did not fit in the bag because it was too ",
     "options": ["big", "small"], "after": ".", "agrees": ["elle", "il"]},
)
SOURCE, TARGET = "en", "fr"


def texts_of(pair: Mapping[str, Any]) -> list[str]:
    """Both sentences of a pair."""
    return [pair["before"] + word + pair["after"] for word in pair["options"]]


def sentences() -> list[tuple[str, str]]:
    """The six example sentences, each with the correct pronoun."""
    return [one for pair in PAIRS for one in zip(texts_of(pair), pair["agrees"], strict=True)]


def pairs_of(translator: Translator, *, is_right: bool) -> list[dict[str, Any]]:
    """The pairs that the page offers for this model: those chosen for it, else these if it gets them right."""
    own = translator.measured_files.examples
    pairs = [asdict(one) for one in own.pairs] if own else [
        {**one, "languages": [SOURCE, TARGET]} for one in PAIRS] if is_right else []
    return [{**one, "model": translator.name} for one in pairs]


@lru_cache(maxsize=16)
def all_right(translator: Translator) -> bool:
    if (SOURCE, TARGET) not in translator.language_pairs:
        return False
    texts, pronouns = zip(*sentences(), strict=True)
    found = translator(list(texts), source=SOURCE, target=TARGET)
    others = {"il": "elle", "elle": "il"}
    words = [one.text.lower().replace("'", " ").replace("’", " ").split() for one in found]
    return all(right in own and others[right] not in own for right, own in zip(pronouns, words, strict=True))


def first_text(examples: Sequence[Mapping[str, Any]], sources: Container[str]) -> str | None:
    """What a page begins with: the first example, else the first of these sentences where their language is read."""
    return texts_of(examples[0])[0] if examples else sentences()[0][0] if SOURCE in sources else None
