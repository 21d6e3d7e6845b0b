"""Language codes and language detection.

Detection uses py3langid: naive Bayes over 139 languages, 5 MB, needs only numpy (Lui & Baldwin 2012).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import regex

from seq2see.importing import IMPORTS
from ..text.protection import DEFAULT_PROTECTION
from ..tokenizer.language_codes import iso
from ..translate.results import Translation

NO_LANGUAGE = "zxx"  # the detector's code for text without language
LONGEST = 2_000  # characters examined; more makes no difference
UNLIKELY = 0.005  # a text is in another language if its own is less probable than this,
DOUBTFUL = 0.1    # and less than this without its names,
FEWEST = 5        # and if so many letters are left without them
SURE = 0.5        # probability from which that other language is named
UNDETERMINED = "und"
CHINESE = {"yue": "zh", "wuu": "zh"}  # in writing the detector mistakes one for another
# LibreTranslate's own codes, and what it means by codes of several languages.
ALIASES = {"pb": "pt-BR", "zt": "zh-Hant", "zh": "zh-Hans", "ar": "arb", "fa": "pes", "no": "nb", "ku": "kmr",
           "az": "azj", "ms": "zsm", "lv": "lvs"}
_CASELESS = regex.compile(r"\p{Lo}")
_NO_NAME = regex.compile(r"(?<![\p{L}_])(?!\p{Lu})[\p{L}\p{M}'’]+")  # words that do not begin with a capital


@dataclass(frozen=True)
class Detection:
    """A language and its probability in per cent, among all languages that the detector knows."""

    confidence: float = field(
        metadata={"description": "probability in per cent, among all languages that the detector knows"})
    language: str = field(metadata={"description": "code of the language"})


def detect(text: str, served: Iterable[str]) -> list[Detection]:
    """The served languages, most probable first.  A text without letters has no language: all get 0."""
    known = dict(_identifier().rank(text[:LONGEST])) if any(map(str.isalpha, text[:LONGEST])) else {}
    codes = {one: iso(one) for one in served}  # `zh` for `zh-Hans`
    ranked = sorted(codes, key=lambda one: -known.get(codes[one], 0.0))
    return [Detection(round(100 * float(known.get(codes[one], 0.0)), 1), one) for one in ranked]


def other_language(text: str, source: str) -> str | None:
    """The language (ISO 639-1) of a text, if it differs from the source language; UNDETERMINED if it is unclear.

    None in doubt: for names, URLs and marks, which belong to no language, and if the detector does not know the source
    language.  Words that are no names must agree, because an English sentence may be full of Polish names.
    """
    whole, own = DEFAULT_PROTECTION.masked(text[:LONGEST]).replace("_", " "), iso(source)
    words = " ".join(_NO_NAME.findall(whole))
    if sum(map(str.isalpha, words)) < FEWEST and not _CASELESS.search(words):
        return None
    likeliest, probability = _identifier().classify(whole)
    if likeliest in (own, NO_LANGUAGE):
        return None
    for part, enough in ((whole, UNLIKELY), (words, DOUBTFUL)):
        if dict(_identifier().rank(part)).get(own, 1.0) >= enough:
            return None
    return CHINESE.get(likeliest, str(likeliest)) if probability >= SURE else UNDETERMINED


def other_language_of(found: Translation) -> str | None:
    """`other_language` of the text that was translated, without its markup."""
    text = " ".join(one.source_text for one in found.parts) if found.has_markup else found.source_text
    return other_language(text, found.source_language)


@cache
def _identifier() -> Any:
    with IMPORTS:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
