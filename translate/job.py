"""A text on its way: cut into the segments that a model translates, and put together again from their hypotheses."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import regex

from seq2see.errors import UserError
from ..tokenizer.protected import Reading, masked
from ..tokenizer.segments import Cut, count_sentences, cut_at, cut_sentences
from ..tokenizer.words import refuse_surrogates
from .codec import Codec
from .decoding import DecodingOptions, GenerationDefaults
from .marks import Alignment
from .markup import Markup
from .results import Hypothesis

MOST_CHARACTERS = 250_000  # of a text: more would take minutes
LONGEST_WORDS = (  # characters: no word of any language has so many; other scripts may have no spaces between words
    (regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}]+"), 1_000), (regex.compile(r"[^\W_]+"), 10_000),
)  # fmt: skip
BYTE_ORDER_MARK = "\ufeff"

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Work = tuple[tuple[int, ...], DecodingOptions]  # a source and the resolved options that it is to be translated with


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
class Passage:
    """A text, or one of those of its markup: where it is cut, and a segment for each of the parts."""

    cut: Cut
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Job:
    """A text made ready: its segments, and the resolved options that they are to be translated with.

    Segments of any jobs may share a batch where their options are equal.
    """

    text: str
    source: str
    target: str
    options: DecodingOptions
    markup: Markup | None
    passages: tuple[Passage, ...]
    one_by_one: bool = False  # sentences that belonged together had to be parted

    @property
    def segments(self) -> list[Segment]:
        return [one for passage in self.passages for one in passage.segments]

    @property
    def work(self) -> list[Work]:
        """One for each segment that is still to be translated."""
        return [(one.ids, self.options.begun(one.begun)) for one in self.segments if one.hypotheses is None]

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The ids of each segment."""
        return [one.ids for one in self.segments]

    @property
    def whole(self) -> bool:
        """The text is its only segment."""
        return self.markup is None and self.passages[0].cut.whole

    @cached_property
    def marked(self) -> list[int]:
        """The segments that have markup inside them, of which one must know which word became which."""
        if self.markup is None:
            return []
        borders = [block.borders for block in self.markup.blocks]
        inside = [bisect_right(places, start) < bisect_left(places, start + len(segment))
                  for places, cut in zip(borders, (one.cut for one in self.passages), strict=True)
                  for start, segment in zip(cut.starts(cut.segments), cut.segments, strict=True)]
        return [number for number, has_borders in enumerate(inside) if has_borders]

    def join(self, texts: Sequence[str], alignments: Mapping[int, Alignment | None]) -> str:
        """The text with its segments' translations in their places, and its markup by the alignments of those `marked`.
        """
        left = enumerate(texts)
        joined, aligned = [], []
        for cut in (one.cut for one in self.passages):
            own = [next(left) for _ in cut.segments]
            joined.append(cut.join([text for _, text in own]))
            if self.markup is not None:
                parts = [(segment, text, alignments.get(number) or Alignment.whole(segment, text))
                         for segment, (number, text) in zip(cut.segments, own, strict=True)]
                between = [(text, text, Alignment.by_place(text, text)) for text in cut.between]
                aligned.append(Alignment.joined([one for pair in zip(between, parts, strict=False) for one in pair]
                                                + between[-1:]))
        return joined[0] if self.markup is None else self.markup.join(joined, aligned)

    def joined(self, parts: Sequence[Hypothesis], alignments: Mapping[int, Alignment | None]) -> Hypothesis:
        """The hypothesis of the whole text of one of each segment and the alignments of those."""
        ids = tuple(id for one in parts for id in one.token_ids)
        log_prob = sum(one.log_prob for one in parts)
        return Hypothesis(self.join([one.text for one in parts], alignments), ids,
                          log_prob / self.options.normaliser(len(ids)), log_prob, all(one.finished for one in parts))


@dataclass(frozen=True)
class Cutter:
    """Makes texts ready for a model, and reads what its engine found."""

    codec: Codec
    defaults: GenerationDefaults

    def jobs(self, texts: Sequence[str], *, source: str, target: str, options: DecodingOptions,
             prefix: str | Sequence[Sequence[int]], parts: Sequence[str], html: bool) -> list[Job]:
        """As `Translator.prepare` says, with the resolved options."""
        begun = self._begun(prefix, target)
        reached = count_sentences(prefix, language=target) if isinstance(prefix, str) else 0
        longest_begun, most = max(map(len, begun), default=0), (options.max_new_tokens or 0) - len(options.prefix)
        if longest_begun > most:
            raise UserError(f"a prefix of {longest_begun} pieces: a translation has {most} at most after its tag")
        cut: list[tuple[str, Markup | None, list[Cut]]] = []
        for text in texts:
            check_text(text)
            text = text.removeprefix(BYTE_ORDER_MARK)
            markup = Markup(text) if html else None
            cuts = [cut_at(composed(text), parts)] if parts else [
                cut_sentences(part, language=source, together=self.defaults.together)
                for part in ([text] if markup is None else markup.texts)]
            cut.append((text, markup, [one.composed() for one in _holding(reached, cuts, language=source)]))
        fitting = iter(self._fitting([one for *_, cuts in cut for one in cuts]))
        return [Job(text, source, target, options, markup, self._begun_by([next(fitting) for _ in cuts], begun))
                for text, markup, cuts in cut]

    def _begun(self, prefix: str | Sequence[Sequence[int]], target: str) -> tuple[tuple[int, ...], ...]:
        """The ids that the translations of the first segments are to begin with, after their tag."""
        if isinstance(prefix, str):
            return (tuple(self.codec.begin(composed(prefix), language=target)),) if prefix else ()
        end, size = self.defaults.end, self.codec.size
        if not all(type(id) is int and 0 <= id < size and id not in end for ids in prefix for id in ids):
            raise UserError(f"a prefix in ids: expected pieces from 0 to {size - 1} that do not end it")
        return tuple(map(tuple, prefix))

    def _begun_by(self, passages: Sequence[Passage], begun: Sequence[tuple[int, ...]]) -> tuple[Passage, ...]:
        """The passages, where the translations of the first segments are to begin with these ids."""
        left = iter(begun)
        return tuple(replace(one, segments=tuple(self._beginning(segment, next(left, ())) for segment in one.segments))
                     for one in passages)

    def _beginning(self, segment: Segment, begun: tuple[int, ...]) -> Segment:
        if begun and segment.reading.spans:
            [segment] = self._read([Reading.of(segment.reading.text, begun=self.codec.decode(begun))])
        return replace(segment, begun=begun)

    def _read(self, readings: Sequence[Reading]) -> list[Segment]:
        ids = self.codec.encode([one.model_input for one in readings])
        return [Segment(one, tuple(own)) for one, own in zip(readings, ids, strict=True)]

    def _fitting(self, cuts: Sequence[Cut]) -> list[Passage]:
        """Each cut further where a segment is longer than a source should be."""
        segments = iter(self._read([Reading.of(one) for cut in cuts for one in cut.segments]))
        return [self._fit(cut, [next(segments) for _ in cut.segments]) for cut in cuts]

    def _fit(self, cut: Cut, segments: list[Segment]) -> Passage:
        longest, index = self.defaults.longest, 0
        while longest is not None and index < len(segments):
            if len(segments[index].ids) <= longest:
                index += 1
                continue
            try:
                cut = cut.halved(index)
            except ValueError:  # one character
                check_length(cut.segments[index], segments[index].ids, most=self.defaults.positions)
                index += 1
            else:
                segments[index : index + 1] = self._read([Reading.of(one) for one in cut.segments[index : index + 2]])
        return Passage(cut, tuple(segments))

    def advance(self, job: Job, outcomes: Iterator[tuple[Hypothesis, ...]]) -> Job:
        """The job with what was found for its `work`.

        It has new work where every hypothesis of a segment has lost or added something: its sentences are to be
        translated one by one, or what is protected in it is to be read another way.
        """
        passages: list[Passage] = []
        one_by_one = job.one_by_one
        for passage in job.passages:
            cut, segments = passage.cut, list[Segment]()
            for segment in passage.segments:
                if segment.hypotheses is not None:
                    segments.append(segment)
                    continue
                finer, parted = self._found(job, segment, next(outcomes))
                one_by_one |= parted
                cut = cut.replaced(len(segments), finer.cut)
                segments += finer.segments
            passages.append(Passage(cut, tuple(segments)))
        return replace(job, passages=tuple(passages), one_by_one=one_by_one)

    def _found(self, job: Job, segment: Segment, found: tuple[Hypothesis, ...]) -> tuple[Passage, bool]:
        """The segment with its hypotheses; where none is whole, others in its place still to be translated, and whether
        they are its sentences."""
        text, whole = segment.reading.text, Cut((segment.reading.text,), ("", ""))
        written = [replace(one, text=self.codec.decode(one.token_ids)) for one in found]
        restored = segment.restored(written)
        sentences = cut_sentences(text, language=job.source) if self.defaults.together > 1 or segment.begun else whole
        kept = tuple(one for one in restored if len(sentences.segments) < 2
                     or count_sentences(one.text, language=job.target) == len(sentences.segments))
        begun = self.codec.decode(segment.begun) if segment.begun else ""
        first = max(1, count_sentences(begun, language=job.target))  # sentences that the prefix reaches into
        if not kept and len(sentences.segments) > first:
            [finer] = self._begun_by(self._fitting([sentences.joined(first)]), [segment.begun])
            return finer, True
        further = None if kept or restored else segment.reading.further()
        if further is not None:
            finer = self._fit(whole, self._read([further]))
            begun_by = replace(finer.segments[0], begun=segment.begun)
            return Passage(finer.cut, (begun_by, *finer.segments[1:])), False
        left = kept or restored or tuple(replace(one, text=text) for one in written)  # all are blank: the source stays
        return Passage(whole, (replace(segment, hypotheses=left),)), False


def check_text(text: str) -> None:
    """UserError for what no model is given: a text that is far too long, or none at all."""
    if not isinstance(text, str):
        raise UserError(f"expected text, got {type(text).__name__}", exit_code=2)
    refuse_surrogates(text)
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"a text of {len(text):,} characters: at most {MOST_CHARACTERS:,} are taken; send it in parts")
    for word, most in LONGEST_WORDS:
        if len(text) > most and _longest(word, text) > most and (longest := _longest(word, masked(text))) > most:
            raise UserError(f"a word of {longest:,} characters, {most:,} at most are taken: is this text?")


def _longest(word: regex.Pattern[str], text: str) -> int:
    return max(map(len, word.findall(text)), default=0)


def check_length(text: str, ids: Sequence[int], *, most: int | None) -> None:
    """UserError for more ids than the model has positions."""
    if most is not None and len(ids) > most:
        size = f"it has {len(ids)} pieces, the model takes {most}"
        raise UserError(f"the text {text[:30] + '…'!r} is too long: {size}; translate it sentence by sentence")


def _holding(sentences: int, cuts: Sequence[Cut], *, language: str) -> list[Cut]:
    """With the first segments joined that hold so many sentences."""
    first = next((index for index, cut in enumerate(cuts) if cut.segments), None)
    if sentences < 2 or first is None:
        return list(cuts)
    counts = accumulate(count_sentences(one, language=language) for one in cuts[first].segments)
    most = len(cuts[first].segments)
    joined = cuts[first].joined(next((number for number, count in enumerate(counts, 1) if count >= sentences), most))
    return [*cuts[:first], joined, *cuts[first + 1 :]]


def by_group(items: Sequence[Item], key: Callable[[Item], Key],
             work: Callable[[Key, list[Item]], Sequence[Result]]) -> list[Result]:
    """What `work` makes of the items of each key together, in the order of the items."""
    groups: dict[Key, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(key(item), []).append(place)
    found: dict[int, Result] = {}
    for each, places in groups.items():
        found |= zip(places, work(each, [items[place] for place in places]), strict=True)
    return [found[place] for place in range(len(items))]


def bare_pair(text: str, translation: str) -> tuple[str, str]:
    """A text and its translation as they are scored; UserError where one of them is blank."""
    text, translation = composed(text).strip(), composed(translation).strip()
    if not text or not translation:
        raise UserError(f"the {'translation' if text else 'source'} is blank")
    return text, translation


def composed(text: str) -> str:
    check_text(text)
    return unicodedata.normalize("NFC", text.removeprefix(BYTE_ORDER_MARK))
