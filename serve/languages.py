"""Which language a text is in, by py3langid: naive Bayes over 139 languages, 5 MB, numpy alone (Lui & Baldwin 2012)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

LONGEST = 2_000  # characters read; more changes nothing


class Detection(NamedTuple):
    """A language, and how probable it is among all that the detector knows."""

    language: str
    confidence: float


def detect(text: str, served: Iterable[str]) -> list[Detection]:
    """The served languages, most probable first.  A text without letters has no language: all get 0."""
    known = dict(_identifier().rank(text[:LONGEST])) if any(map(str.isalpha, text[:LONGEST])) else {}
    found = [Detection(one, float(known.get(_code(one), 0.0))) for one in dict.fromkeys(served)]
    return sorted(found, key=lambda one: -one.confidence)


def _code(language: str) -> str:
    """`zh` for `zh-Hans`."""
    return language.replace("_", "-").partition("-")[0].lower()


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
