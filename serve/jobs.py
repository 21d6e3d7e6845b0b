"""A text on its way: made ready for an engine (`Job`), and what came of it (`Translation`)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from seq2see.serve.engine import Hypothesis
from seq2see.serve.marks import Alignment
from seq2see.serve.markup import Markup
from seq2see.serve.plan import Plan
from seq2see.tokenizer.protected import Reading, protected_spans
from seq2see.tokenizer.segments import Cut
from seq2see.tokenizer.words import Word, split_words


@dataclass(frozen=True)
class Translation:
    """A source text and its hypotheses, best first.

    `source_text` is what was translated: the caller's text in Unicode's composed form (NFC).  A text without words is
    its own translation and has no hypotheses; one of which the model writes only blanks has its own text in them.
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
        if all(map(self._is_seen, self.source_text.casefold().split())):  # a twentieth of the time, and nearly always
            return ()
        protected = {place for span in protected_spans(self.source_text) for place in range(*span)}
        words = split_words(self.source_text, language=self.source_language)
        return tuple(word for word in words if word.text.casefold() not in self.seen and not _is_mark(word.text)
                     and protected.isdisjoint(range(word.start, word.end)))

    def _is_seen(self, chunk: str) -> bool:
        """Whether this, between two spaces, is certainly a word seen, or a number, with or without punctuation."""
        bare = chunk.strip(".,:;!?()\"")
        return bare.isdecimal() or (bare.isalpha() and bare in (self.seen or ()))


def _is_mark(word: str) -> bool:
    """A number or punctuation: nothing that has to be learnt to be translated."""
    return all(unicodedata.category(c)[0] in "NPZ" for c in word)


@dataclass(frozen=True)
class Segment:
    """A part of a text on its way: how the model reads it, in ids too, and what ids its translation is to begin with;
    once it is translated, its hypotheses."""

    reading: Reading
    ids: tuple[int, ...]
    begun: tuple[int, ...] = ()
    hypotheses: tuple[Hypothesis, ...] | None = None

    def restored(self, hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
        """Those that are not blank, in which everything protected has come back, with it in its place."""
        texts = [(one, self.reading.restored(one.text)) for one in hypotheses if one.text.strip()]
        return tuple(replace(one, text=text) for one, text in texts if text is not None)


@dataclass(frozen=True)
class Job:
    """A text made ready: its segments, and the plan that they are to be translated by.

    Segments of any jobs may share a batch where their plans are equal.
    """

    text: str
    source: str
    target: str
    plan: Plan
    markup: Markup | None
    cuts: tuple[Cut, ...]  # of the text, or of each text of the markup
    segments: tuple[Segment, ...]
    one_by_one: bool = False  # sentences that belonged together had to be parted

    @property
    def work(self) -> list[tuple[tuple[int, ...], Plan]]:
        """One for each segment that is still to be translated."""
        return [(one.ids, self.plan.begun(one.begun)) for one in self.segments if one.hypotheses is None]

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The ids of each segment."""
        return [one.ids for one in self.segments]

    @property
    def whole(self) -> bool:
        """The text is its only segment."""
        return self.markup is None and self.cuts[0].whole

    @cached_property
    def marked(self) -> list[int]:
        """The segments that have markup inside them, of which one must know which word became which."""
        if self.markup is None:
            return []
        borders = [block.borders for block in self.markup.blocks]
        inside = [bisect_right(places, start) < bisect_left(places, start + len(segment))
                  for places, cut in zip(borders, self.cuts, strict=True)
                  for start, segment in zip(cut.starts(cut.segments), cut.segments, strict=True)]
        return [number for number, has_borders in enumerate(inside) if has_borders]

    def join(self, texts: Sequence[str], alignments: Mapping[int, Alignment]) -> str:
        """The text with its segments' translations in their places, and its markup by the alignments of those `marked`.
        """
        left = enumerate(texts)
        joined, aligned = [], []
        for cut in self.cuts:
            own = [next(left) for _ in cut.segments]
            joined.append(cut.join([text for _, text in own]))
            if self.markup is not None:
                parts = [(segment, text, alignments.get(number) or Alignment.whole(segment, text))
                         for segment, (number, text) in zip(cut.segments, own, strict=True)]
                between = [(text, text, Alignment.same(text)) for text in cut.between]
                aligned.append(Alignment.joined([one for pair in zip(between, parts, strict=False) for one in pair]
                                                + between[-1:]))
        return joined[0] if self.markup is None else self.markup.join(joined, aligned)

    def joined(self, parts: Sequence[Sequence[Hypothesis]],
               alignments: Sequence[Mapping[int, Alignment]]) -> tuple[Hypothesis, ...]:
        """Hypotheses of the whole text, each from one of each segment and the alignments of those."""
        return tuple(
            Hypothesis(
                text=self.join([one.text for one in each], aligned),
                token_ids=(ids := tuple(id for one in each for id in one.token_ids)),
                score=(log_prob := sum(one.log_prob for one in each)) / len(ids) ** self.plan.length_penalty,
                log_prob=log_prob,
                finished=all(one.finished for one in each),
            )
            for each, aligned in zip(parts, alignments, strict=True)
        )
