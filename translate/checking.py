"""Doubts that take further passes: improbable words of a translation, and source words that it may omit.

A word is *unlikely* if the product of the probabilities of its tokens is below UNLIKELY.  A source word is *omitted*
if the translation is at least as probable without it (contrastive conditioning: Vamvas and Sennrich 2022,
arXiv:2203.01927, who erase constituents instead of words).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from ..tokenizer.words import Word, split_words, without
from .codec import Codec
from .results import Engine, Translation, is_mark, with_fields

UNLIKELY = 0.1
SHORTEST = 4  # letters of a word that is erased: most shorter ones have no translation of their own


class Pass(NamedTuple):
    """A part to score: its source, or this without a word."""

    part: Translation
    source: str
    without: Word | None


def checked(parts: Sequence[Translation], codec: Codec, engine: Engine) -> list[Translation]:
    """The parts of translations between two languages, with their `unlikely_words` and `omitted_words`."""
    passes = [one for part in parts for one in _passes(part)]
    languages = {"source": parts[0].source_language, "target": parts[0].target_language} if parts else {}
    targets = [one.part.hypotheses[0].token_ids for one in passes]
    every = engine.token_log_probs(codec.encode([one.source for one in passes], **languages), targets)
    scored = zip(passes, every, strict=True)
    return [_checked(part, [next(scored) for _ in _passes(part)], codec) for part in parts]


def _passes(part: Translation) -> Iterator[Pass]:
    """The whole source, then it without each word that may be omitted."""
    source = part.as_read.source_text
    yield Pass(part, source, None)
    words = [word for word in split_words(source, language=part.source_language) if not is_mark(word.text)]
    own = {word.text.casefold() for word in split_words(part.source_text, language=part.source_language)}
    for word in words if len(words) > 1 else ():
        if len(word.text) >= SHORTEST and word.text.casefold() in own:  # no stand-in for protected text
            yield Pass(part, without(source, word), word)


def _checked(part: Translation, scored: Sequence[tuple[Pass, list[float]]], codec: Codec) -> Translation:
    best = part.hypotheses[0]
    (_, own), *others = scored
    most = sum(own[best.given :])
    omitted = [one.without.text for one, log_probs in others if one.without and sum(log_probs[best.given :]) >= most]
    texts = [codec.decode(best.token_ids[:end]) for end in range(best.given, len(best.token_ids) + 1)]
    spans = list(zip(map(len, texts), map(len, texts[1:]), own[best.given :], strict=False))
    known = {word.text.casefold() for word in split_words(part.source_text, language=part.source_language)}
    shown = {word.text.casefold(): word.text for word in split_words(part.text, language=part.target_language)
             if not is_mark(word.text) and word.text.casefold() not in known}  # a copied name is no doubt
    unlikely = [shown[word.text.casefold()] for word in split_words(texts[-1], language=part.target_language)
                if word.text.casefold() in shown and log(UNLIKELY) > sum(
                    log_prob for start, end, log_prob in spans if start < word.end and end > word.start)]
    return with_fields(part, unlikely_words=tuple(dict.fromkeys(unlikely)),
                       omitted_words=tuple(dict.fromkeys(omitted)))
