"""Doubts that take further passes: unlikely words of a translation, and source words that may be missing from it.

A word of the translation is *unlikely* if it is not in the source and the product of the probabilities of its tokens is
below UNLIKELY.  A source word of at least SHORTEST letters counts as *omitted* if it is not in the translation and the
translation is at least as probable without it (contrastive conditioning: Vamvas and Sennrich 2022, arXiv:2203.01927,
who erase constituents, not words).  Terms of the glossary are neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import log
from typing import Literal

from ..tokenizer.words import Word, split_words, without
from .codec import Codec
from .results import Engine, Translation, is_mark, with_fields

UNLIKELY = 0.1
SHORTEST = 4  # letters of a word that is erased: most shorter ones have no translation of their own


def checked(parts: Sequence[Translation], codec: Codec, engine: Engine) -> list[Translation]:
    """The parts of translations between two languages, with their `unlikely_words` and `omitted_words`."""
    words = [erasable_words(part) for part in parts]
    reads = [part.as_read.source_text for part in parts]
    sources = [[read, *(without(read, word) for word in some)] for read, some in zip(reads, words, strict=True)]
    targets = [part.hypotheses[0].token_ids for part, some in zip(parts, sources, strict=True) for _ in some]
    ids = codec.encode([*chain.from_iterable(sources)], source=parts[0].source_language,
                       target=parts[0].target_language)
    scored = iter(engine.token_log_probs(ids, targets))
    found = []
    for part, some in zip(parts, words, strict=True):
        given, whole = part.hypotheses[0].given, next(scored)
        most = sum(whole[given:])
        omitted = [word.text for word in some if sum(next(scored)[given:]) >= most]
        found.append(with_fields(part, unlikely_words=unlikely_words(part, whole, codec),
                                 omitted_words=tuple(dict.fromkeys(omitted))))
    return found


def erasable_words(part: Translation) -> list[Word]:
    """The words to erase one at a time, as they are in the text; their places are those of the model's input.

    Short words, stand-ins for protected text, and the only word of a text are left out.
    """
    own = _casefolded(part.source_text, part.source_language)
    known = {*_casefolded(part.text, part.target_language), *_of_terms(part, 0)}
    words = [word for word in split_words(part.as_read.source_text, language=part.source_language)
             if not is_mark(word.text)]
    return [replace(word, text=own[word.text.casefold()]) for word in words
            if len(words) > 1 and sum(map(str.isalpha, word.text)) >= SHORTEST
            and word.text.casefold() in own.keys() - known]


def unlikely_words(part: Translation, log_probs: Sequence[float], codec: Codec) -> tuple[str, ...]:
    """The unlikely words of the best translation, given the log-probabilities of its tokens."""
    best = part.hypotheses[0]
    texts = [codec.decode(best.token_ids[:end]) for end in range(best.given, len(best.token_ids) + 1)]
    spans, blank = list[tuple[int, int, float]](), 0.0
    for before, after, log_prob in zip(texts, texts[1:], log_probs[best.given :], strict=False):
        if after[len(before) :].strip():
            spans.append((len(before), len(after), log_prob + blank))
        blank = 0.0 if after[len(before) :].strip() else blank + log_prob  # counts for the word that follows
    own = _casefolded(part.text, part.target_language)
    may_be = own.keys() - {*_casefolded(part.source_text, part.source_language), *_of_terms(part, 1)}
    found = [own[word.text.casefold()] for word in split_words(texts[-1], language=part.target_language)
             if word.text.casefold() in may_be and not is_mark(word.text) and log(UNLIKELY) > sum(
                 log_prob for start, end, log_prob in spans if start < word.end and end > word.start)]
    return tuple(dict.fromkeys(found))


def _casefolded(text: str, language: str) -> dict[str, str]:
    """The words of a text by their casefolded form."""
    return {word.text.casefold(): word.text for word in split_words(text, language=language)}


def _of_terms(part: Translation, side: Literal[0, 1]) -> set[str]:
    """The words of the glossary's terms in a part, casefolded: of the source, or of the translation."""
    language = (part.source_language, part.target_language)[side]
    return {word for term in part.terms for word in _casefolded(term[side], language)}
