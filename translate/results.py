"""What engines find, `Hypothesis`, and what comes of it: a `Translation` of a source text.

There are two engines: `torch_engine.py`, for every model and every option, and `ctranslate2_engine.py`, the fast one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from ..tokenizer.protected import protected_spans
from ..tokenizer.words import Word, split_words
from .decoding import DecodingOptions

Ids = Sequence[int]
Wanted = Callable[[int], bool]  # whether anybody still waits for what becomes of source i; asked from any thread


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a source; `text` is empty as an engine returns it.

    `log_prob` is the sum of the log-probabilities of its tokens.  The first `given` ones, a language tag and a prefix,
    were forced and count 0.  `score`, by which hypotheses are ranked, is that sum divided by the number of tokens to
    the power of the length penalty, so at the usual penalty of 1 it is the mean.  `finished` is False where the limit
    of length came before `</s>`.  `calibrated_log_prob` is the log-probability by calibrated probabilities, where they
    were asked for; e to its power is how likely a reference reads exactly so.
    """

    text: str
    token_ids: tuple[int, ...]
    score: float
    log_prob: float
    finished: bool
    given: int = 0
    calibrated_log_prob: float | None = None

    @classmethod
    def found(cls, token_ids: tuple[int, ...], score: float, *, end: Collection[int],
              options: DecodingOptions) -> Hypothesis:
        """As an engine finds it, with these resolved options; `end`: the ids that finish it."""
        log_prob = score * options.normaliser(len(token_ids))
        return cls("", token_ids, score, log_prob, token_ids[-1] in end, len(options.prefix))


EngineOutput = tuple[Hypothesis, ...]  # of one source, best first


@dataclass(frozen=True)
class Translation:
    """A source text and its hypotheses, best first.

    `source_text` is what was translated: the caller's text in Unicode's composed form (NFC).  A text without words has
    no hypotheses and is its own translation; that of a blank one is empty.  Where the model writes only blanks, the
    source stands in the hypotheses.
    `segments` are the translations of the parts that a text was cut into, and empty where it was translated whole; then
    the text's first hypothesis is made of their first ones, and so on.  `one_by_one`: some sentences came out as fewer
    or more when translated together, and were translated again one by one.  Hypotheses that have lost something (a
    sentence, a number, what is protected) are left out where others have not, so there may be fewer than were asked
    for; a segment with fewer than the others has its last one repeated.  `model_input` is what the model read where
    that is not `source_text`, since something in it is protected (`tokenizer/protected.py`).
    `seen` are the source language's words of the training text; None where the checkpoint does not say.
    """

    text: str
    source_text: str
    source_language: str
    target_language: str
    hypotheses: tuple[Hypothesis, ...]
    engine: str
    precision: str
    segments: tuple[Translation, ...] = ()
    has_markup: bool = False
    one_by_one: bool = False
    model_input: str | None = None
    seen: frozenset[str] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, source_text: str, hypotheses: tuple[Hypothesis, ...], **more: Any) -> Translation:
        """Its text is that of the best hypothesis; where there is none, that of the source, or "" for a blank one."""
        text = hypotheses[0].text if hypotheses else source_text if source_text.strip() else ""
        return cls(text, source_text, hypotheses=hypotheses, **more)

    @property
    def parts(self) -> tuple[Translation, ...]:
        """What the model translated one by one: the segments, or the text itself."""
        return self.segments or ((self,) if self.hypotheses else ())

    @property
    def as_read(self) -> Translation:
        """The same with the source that the model read: what a trace is of."""
        return self if self.model_input is None else replace(self, source_text=self.model_input, model_input=None)

    @cached_property
    def unknown_words(self) -> tuple[Word, ...] | None:
        """The words of the source that the model never saw in training, apart from numbers, punctuation and what is
        protected; None where that is not known.  Of a text with markup: as they lie in its segments.
        """
        if self.seen is None:
            return None
        if self.has_markup:
            return tuple(word for one in self.segments for word in one.unknown_words or ())
        protected = {place for span in protected_spans(self.source_text) for place in range(*span)}
        words = split_words(self.source_text, language=self.source_language)
        return tuple(word for word in words if word.text.casefold() not in self.seen and not _is_mark(word.text)
                     and protected.isdisjoint(range(word.start, word.end)))


def _is_mark(word: str) -> bool:
    """A number or punctuation: nothing that has to be learnt to be translated."""
    return all(unicodedata.category(c)[0] in "NPZ" for c in word)


class Engine(Protocol):
    """Safe to call from several threads."""

    name: str
    precision: str
    threads: int  # how many calls it works on at a time

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        """The best hypotheses of each source (`</s>` included), best first and without their texts.

        The options are resolved: none but those of samples is None.  What is found for sources that are not `wanted`
        any more need not be finished, or be anything at all.
        """
