"""Language codes and language detection.

Detection uses py3langid: naive Bayes over 139 languages, 5 MB, needs only numpy (Lui & Baldwin 2012).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from seq2see.importing import IMPORTS
from .errors import APIError

LONGEST = 2_000  # characters examined; more makes no difference
ALIASES = {"pb": "pt-BR", "zt": "zh-Hant"}  # LibreTranslate's own codes


@dataclass(frozen=True)
class Detection:
    """A language and its probability among all that the detector knows, in per cent."""

    confidence: float
    language: str


def detect(text: str, served: Iterable[str]) -> list[Detection]:
    """The served languages, most probable first.  A text without letters has no language: all get 0."""
    known = dict(_identifier().rank(text[:LONGEST])) if any(map(str.isalpha, text[:LONGEST])) else {}
    codes = {one: re.split("[-_]", one)[0].lower() for one in served}  # `zh` for `zh-Hans`
    ranked = sorted(codes, key=lambda one: -known.get(codes[one], 0.0))
    return [Detection(round(100 * float(known.get(codes[one], 0.0)), 1), one) for one in ranked]


def find_language(code: str, known: Iterable[str]) -> str:
    """The known language for a code: `EN`, `en-US` and `en_XX` are `en`; any code if the models name no languages.
    APIError (400) for an unsupported one."""
    languages = {one.casefold().replace("_", "-"): one for one in known}
    normal = ALIASES.get(code.casefold(), code).casefold().replace("_", "-")
    found = languages.get(normal) or languages.get(normal.partition("-")[0]) if languages else code
    if found is None:
        raise APIError(400, "unknown_language",
                      f"{code[:20]} is not supported; choose {', '.join(languages.values())}")
    return found


@cache
def _identifier() -> Any:
    with IMPORTS:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
