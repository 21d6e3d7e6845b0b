"""A word or two before a colon, or a word in brackets: a label, a speaker, a stage direction.

A model that learned from sentences may take such a word for a command, or invent one.  So it reads the word in several
contexts.  The translation with the highest mean probability wins, without its article.  If none is likely, the word
stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp

import regex

from ..tokenizer.language_codes import iso
from .agreement import without_article

LEAST = 0.04  # mean probability of the translation of a word; half for two words
_CONTEXTS = {"en": ("{}", "{small}", "the {small}")}
_LABEL = regex.compile(r"(?P<words>\p{L}{3,}|\p{L}{2,}\ \p{L}{2,})(?P<number>\ \p{Nd}+)?")
_NOTE = regex.compile(r"\p{L}{3,}")
_MARKS = " \u00a0\u202f.!?¿¡"


def stands_alone(segment: str, before: str, after: str, language: str) -> bool:
    """Whether a segment between these texts is a label or a note in a language that has contexts."""
    pattern = _LABEL if after.lstrip().startswith(":") else _NOTE if before.endswith(("(", "[")) else None
    return iso(language) in _CONTEXTS and pattern is not None and pattern.fullmatch(segment) is not None


def without_number(label: str) -> tuple[str, str]:
    """The words of a label, and the number after them."""
    found = _LABEL.fullmatch(label)
    return (found["words"], found["number"] or "") if found else (label, "")


def contexts(word: str, language: str) -> list[str]:
    return [context.format(word, small=word.lower()) for context in _CONTEXTS[iso(language)]]


def likeliest(word: str, found: Sequence[Sequence[tuple[str, float]]], language: str) -> list[tuple[str, int, int]]:
    """The likely translations of a word, best first, each with the context and the hypothesis that wrote it.

    Args:
        found: for each context, the hypotheses with their log-probabilities, best first.
    """
    several = " " in word
    if several and found[0][0][0].casefold() == word.casefold():  # the name of a person
        found = found[:1]
    total, where = defaultdict[str, float](float), dict[str, tuple[float, str, int, int]]()
    for context, hypotheses in enumerate(found):
        for number, (text, log_prob) in enumerate(hypotheses):
            written = without_article(text.strip(_MARKS), language)
            key = written.casefold()
            total[key] += exp(log_prob) / len(found)
            where[key] = max(where.get(key, (0.0, "", 0, 0)), (exp(log_prob), written, context, number))
    ranked = sorted((key for key in total if key and total[key] >= LEAST / (1 + several)), key=lambda key: -total[key])
    return [where[key][1:] for key in ranked]
