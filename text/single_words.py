"""A word alone before a colon or in brackets: a label, a speaker, a stage direction.

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

LEAST = 0.04  # mean probability
_CONTEXTS = {"en": ("{}", "{small}", "the {small}")}
_WORD = regex.compile(r"\p{L}{3,}")
_MARKS = " \u00a0\u202f.!?¿¡"


def stands_alone(segment: str, before: str, after: str, language: str) -> bool:
    """Whether a segment between these texts is one word of a language that has contexts."""
    return iso(language) in _CONTEXTS and _WORD.fullmatch(segment) is not None and (
        after.lstrip().startswith(":") or before.endswith(("(", "[")))


def contexts(word: str, language: str) -> list[str]:
    return [context.format(word, small=word.lower()) for context in _CONTEXTS[iso(language)]]


def likeliest(found: Sequence[Sequence[tuple[str, float]]], language: str) -> list[tuple[str, int, int]]:
    """The likely translations of a word, best first, each with the context and the hypothesis that wrote it.

    Args:
        found: for each context, the hypotheses with their log-probabilities, best first.
    """
    total, where = defaultdict[str, float](float), dict[str, tuple[float, str, int, int]]()
    for context, hypotheses in enumerate(found):
        for number, (text, log_prob) in enumerate(hypotheses):
            word = without_article(text.strip(_MARKS), language)
            key = word.casefold()
            total[key] += exp(log_prob) / len(found)
            where[key] = max(where.get(key, (0.0, "", 0, 0)), (exp(log_prob), word, context, number))
    ranked = sorted((key for key in total if key and total[key] >= LEAST), key=lambda key: -total[key])
    return [where[key][1:] for key in ranked]
