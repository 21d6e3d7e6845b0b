"""Translation jobs: texts are split into segments for the model, and joined again from their hypotheses.

Every function that needs an engine is a generator: it yields its work, receives the engine's output, and returns its
result.  So a segment that lost something is retranslated in place, and all segments share batches (`together`).  Most
texts are one plain sentence that the model reads unchanged, without parts to restore.  They take a shortcut to the
engine and back (`_plainly`).
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Generic, TypeVar

import regex

from seq2see.errors import UserError
from seq2see.rules import SHORT_SOURCE, SHORTEST_SHARE
from ..passes.pausing import pause
from ..text.capitals import in_known_case, in_small_letters, in_title_case, is_short_shout
from ..text.html_markup import Html, Markup
from ..text.kept_words import KeptWords
from ..text.model_input import ModelInput
from ..text.placing import Alignment
from ..text.plain import is_paired, length
from ..text.protection import DEFAULT_PROTECTION, Protection, Span, keeping
from ..text.segments import Cut, clauses, count_sentences, cut_sentences, halves, is_plain_sentence, sentences
from ..text.single_words import contexts, likeliest, stands_alone, without_number
from ..text.warnings import is_far_shorter
from ..tokenizer.language_codes import iso
from ..tokenizer.words import refuse_surrogates
from .codec import Codec
from .decoding import DecodingOptions, GenerationDefaults
from .results import EngineOutput, Hypothesis, Ids, Translation, with_fields

MOST_CHARACTERS = 250_000  # in a text: more would take minutes
LEAST = 10  # letters from which a translation is checked for a lost clause
LONGEST_WORDS = (  # characters, beyond those of any real word; some scripts have no spaces between words
    (regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}]+"), 1_000), (regex.compile(r"[^\W_]+"), 10_000),
)

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # soft hyphen, spaces without width
_CONTINUES = regex.compile(r"[^\S\n]*(?:[-–—―:]|&[nm]dash;)[^\S\n]+|—|--")  # in a line, what a part of it stands after
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Work = tuple[Ids, DecodingOptions]  # a source and its resolved options
Translated = tuple[str, Alignment | None]  # a segment's translation, and its word alignment if needed
WorkGenerator = Generator[list[Work], list[EngineOutput], Result]  # yields work, is sent what an engine made of it


class WorkLoop(Generic[Result]):
    """Drives a generator: while there is `work`, pass the engine's output for each item to `advance`; then there is a
    `result`.
    """

    work: list[Work]
    result: Result

    def __init__(self, steps: WorkGenerator[Result]):
        self._steps = steps
        self.advance(None)

    def advance(self, found: list[EngineOutput] | None) -> None:
        pause()
        try:
            self.work = next(self._steps) if found is None else self._steps.send(found)
        except StopIteration as end:
            self.work, self.result = [], end.value


def together(many: Iterable[WorkGenerator[Result]]) -> WorkGenerator[list[Result]]:
    """The results of all generators, with their work in shared batches."""
    jobs = list(map(WorkLoop, many))
    while waiting := [job for job in jobs if job.work]:
        found = iter((yield [one for job in waiting for one in job.work]))
        for job in waiting:
            job.advance([next(found) for _ in job.work])
    return [job.result for job in jobs]


@dataclass(frozen=True)
class Passage:
    """A text translated in segments, each with its reading and its hypotheses."""

    cut: Cut
    segments: tuple[tuple[ModelInput, EngineOutput], ...]
    one_by_one: bool = False  # sentences that belong together had to be translated separately

    @property
    def best(self) -> str:
        """The best translation."""
        return self.cut.join([found[0].text for _, found in self.segments])

    def aligned(self, translations: Sequence[Translated]) -> Alignment:
        """The alignment of the whole text with these translations; one without an alignment counts as one word."""
        parts = [(segment, text, alignment or Alignment.whole(segment, text))
                 for segment, (text, alignment) in zip(self.cut.segments, translations, strict=True)]
        between = [(text, text, Alignment.by_place(text, text)) for text in self.cut.between]
        return Alignment.joined([one for pair in zip(between, parts, strict=False) for one in pair] + between[-1:])


@dataclass(frozen=True)
class TranslatedText:
    """A caller's translated text: one passage, or one for each text in its markup."""

    text: str
    markup: Markup | None
    passages: tuple[Passage, ...]

    def parts(self, make: Callable[..., Translation]) -> tuple[Translation, ...]:
        """The translations of its segments; the last hypothesis is repeated if a segment has fewer."""
        segments = [one for passage in self.passages for one in passage.segments]
        count = max((len(found) for _, found in segments), default=0)
        return tuple(make(reading.text, found + found[-1:] * (count - len(found)),
                          model_input=None if reading.model_input == reading.text else reading.model_input,
                          keep=reading.protection.keep) for reading, found in segments)

    @property
    def marked(self) -> list[bool]:
        """Whether each segment has markup inside, and so needs a word alignment."""
        borders = self.markup.borders if self.markup else [[]]
        return [bisect_right(places, start) < bisect_left(places, start + len(segment))
                for places, cut in zip(borders, (one.cut for one in self.passages), strict=True)
                for start, segment in zip(cut.starts(cut.segments), cut.segments, strict=True)]

    def translation(self, parts: Sequence[Translation], alignments: Mapping[Translation, Alignment], *,
                    options: DecodingOptions, make: Callable[..., Translation]) -> Translation:
        """The whole translation, from its parts and the alignments of the `marked` ones."""
        if self.markup is None and self.passages[0].cut.whole:
            return parts[0]
        hypotheses, marked = [], self.marked
        for each in zip(*(part.hypotheses for part in parts), strict=True):
            own = [(one.text, alignments.get(replace(part, hypotheses=(one,))) if is_marked else None)
                   for part, one, is_marked in zip(parts, each, marked, strict=True)]
            ids = tuple(id for one in each for id in one.token_ids)
            log_prob = sum(one.log_prob for one in each)
            hypotheses.append(Hypothesis(self._joined(own), ids, log_prob / options.normaliser(len(ids)), log_prob,
                                         all(one.finished for one in each)))
        return make(composed(self.text) if parts else self.text, tuple(hypotheses), segments=tuple(parts),
                    has_markup=self.markup is not None, one_by_one=any(one.one_by_one for one in self.passages))

    def _joined(self, translations: Sequence[Translated]) -> str:
        """The text with these translations of its segments."""
        left = iter(translations)
        translated = [(passage, [next(left) for _ in passage.segments]) for passage in self.passages]
        joined = [passage.cut.join([text for text, _ in each]) for passage, each in translated]
        if self.markup is None:
            return joined[0]
        return self.markup.join(joined, [passage.aligned(each) for passage, each in translated])


@dataclass(frozen=True)
class SegmentTranslator:
    """Splits and translates texts with the languages and resolved options of a call."""

    codec: Codec
    defaults: GenerationDefaults
    source: str
    target: str
    options: DecodingOptions
    protection: Protection = DEFAULT_PROTECTION

    def texts(self, texts: Sequence[str], *, prefix: str, keep: str = "") -> WorkGenerator[list[TranslatedText]]:
        """Translate all texts; the first segment of each begins with the prefix, and has at least as many sentences.

        Matches of the pattern `keep` stay unchanged.
        """
        start = self.codec.begin(composed(prefix), language=self.target) if prefix else ()
        most = (self.options.max_new_tokens or 0) - len(self.options.prefix)
        if len(start) > most:
            raise UserError(f"the prefix has {len(start)} tokens: at most {most} fit into max_new_tokens; shorten it")
        markups = [Markup(text) if isinstance(text, Html) else None for text in map(check_text, texts)]
        bare = ["\n".join(markup.texts) if markup else text for text, markup in zip(texts, markups, strict=True)]
        kept = keeping(keep, bare) if keep else [None] * len(texts)
        alike = {(pattern, asides): replace(self, protection=replace(self.protection, keep=pattern, asides=asides,
                                                                     language=self.source, target=self.target))
                 for pattern in {*kept, None} for asides in (True, False)}
        plain = {} if prefix else self._plain(texts, kept)
        return (yield from together([
            alike[None, True]._plainly(text, plain[number]) if number in plain else
            alike[pattern, markup is None]._text(text, markup, prefix, start)
            for number, (text, markup, pattern) in enumerate(zip(texts, markups, kept, strict=True))]))

    def _plain(self, texts: Sequence[str], kept: Sequence[KeptWords | None]) -> dict[int, Ids]:
        """The ids of the texts that are one plain sentence, by index."""
        numbers = [number for number, text in enumerate(texts)
                   if kept[number] is None and not isinstance(text, Html)
                   and is_plain_sentence(text, self.protection.known) and not self.protection.terms(text)
                   and not in_title_case(text)]
        sources = self.codec.encode([texts[number] for number in numbers], source=self.source, target=self.target)
        longest = self.defaults.source_tokens
        return {number: ids for number, ids in zip(numbers, sources, strict=True)
                if longest is None or len(ids) <= longest}

    def _plainly(self, text: str, ids: Ids) -> WorkGenerator[TranslatedText]:
        """A plain sentence; an incomplete translation is `_settled` like that of any segment."""
        [written] = self._written((yield [(ids, self.options)]))
        reading = ModelInput(text, text, (), (), protection=self.protection)
        if self._is_complete(text, written):
            passage = Passage(_whole(text), ((reading, written),))
        else:
            passage = yield from self._settled(reading, written, ())
        return TranslatedText(text, None, (passage,))

    def _written(self, found: Sequence[EngineOutput]) -> list[EngineOutput]:
        """An engine's hypotheses with their texts."""
        return [tuple([with_fields(one, text=self.codec.decode(one.token_ids)) for one in each]) for each in found]

    def _is_complete(self, source: str, found: EngineOutput) -> bool:
        """Whether the hypotheses of a plain sentence differ, and none is blank or too short."""
        if not found or not all(hypothesis.text.strip() for hypothesis in found):
            return False
        least = SHORTEST_SHARE * length(source)
        return self.options.sampling or (len({visible(hypothesis.text) for hypothesis in found}) == len(found)
                                         and all(length(hypothesis.text) >= least for hypothesis in found))

    def _text(self, text: str, markup: Markup | None, prefix: str, start: Ids) -> WorkGenerator[TranslatedText]:
        passages = []
        for part in [text] if markup is None else markup.texts:
            cut = self._cut(part, together=self.defaults.source_sentences)
            if prefix and cut.segments:
                cut = cut.joined(min(max(1, count_sentences(prefix, language=self.target)), len(cut.segments)))
            passages.append(self._passage(cut, start if prefix else ()))
            prefix = "" if cut.segments else prefix  # it begins the first passage with words
        return TranslatedText(text, markup, tuple((yield from together(passages))))

    def _passage(self, cut: Cut, start: Ids) -> WorkGenerator[Passage]:
        begun = self.codec.decode(start) if start else ""
        parts = yield from together([
            self._word(segment) if self._stands_alone(cut, number) and not (start or self.options.sampling) else
            self._segment(self._reading(segment, "" if number else begun, whole=cut.whole), () if number else start)
            for number, segment in enumerate(cut.segments)])
        parts = [self._continued(part) if _CONTINUES.fullmatch(before) or before.endswith(("(", "[")) else part
                 for part, before in zip(parts, cut.between, strict=False)]
        for index in reversed(range(len(parts))):
            if not parts[index].cut.whole:
                cut = cut.replaced(index, parts[index].cut)
        return Passage(cut, tuple(segment for part in parts for segment in part.segments),
                       any(part.one_by_one for part in parts))

    def _stands_alone(self, cut: Cut, number: int) -> bool:
        """Whether a segment is a label or a note, which is read in several contexts."""
        segment, before, after = cut.segments[number], cut.between[number], cut.between[number + 1]
        return (not cut.whole and stands_alone(segment, before, after, self.source)
                and self.protection.known is not None and not self.protection.parts(segment))

    def _word(self, text: str) -> WorkGenerator[Passage]:
        """A label or a note; unchanged if no translation of it is likely."""
        words, number = without_number(text)
        reading = self._reading(words, "", whole=False)
        is_name = self._knows_better(reading.model_input.lower(), reading.model_input)
        read = [reading.model_input] if is_name else contexts(reading.model_input, self.source)
        every = replace(self.options, alternatives=self.options.num_beams)
        written = self._written((yield [(ids, every) for ids in self.codec.encode(
            read, source=self.source, target=self.target)]))
        likely = likeliest(reading.model_input, [[(one.text, one.log_prob) for one in each] for each in written],
                           self.target)
        found = [(context, with_fields(written[context][rank], text=self._cased(translation, words) + number))
                 for translation, context, rank in likely] or [(0, with_fields(written[0][0], text=text))]
        hypotheses = self._distinct(one for _, one in found)[: self.options.alternatives]
        return Passage(_whole(text), ((replace(reading, text=text, model_input=read[found[0][0]]), hypotheses),))

    def _cased(self, translation: str, source: str) -> str:
        """A translated label with a capital letter, or in capitals, if its source is so."""
        if source.isupper():
            return translation.upper()
        return _capitalised(translation) if source[0].isupper() else self._within(translation, source)

    def _cut(self, text: str, *, together: int = 1) -> Cut:
        return cut_sentences(text, language=self.source, together=together, protection=self.protection, wrapped=True)

    def _sentences(self, text: str, prefix: str) -> Cut:
        """The sentences of a segment that may have several."""
        return self._cut(text) if self.defaults.source_sentences > 1 or prefix else _whole(text)

    def _reading(self, text: str, prefix: str, *, whole: bool) -> ModelInput:
        """The reading of a segment, without the separators of its sentences; a title that is the `whole` text in small
        letters."""
        text = unicodedata.normalize("NFC", text)
        cut = self._sentences(text, prefix)
        reading = ModelInput.of(text, prefix=prefix, protection=self.protection, breaks=cut.breaks)
        if prefix:
            return reading
        if reading.is_in_capitals or is_short_shout(text):
            read = in_known_case(reading.model_input, self._knows_better)
            return replace(reading, model_input=read, shouted=read != reading.model_input)
        if not whole or not in_title_case(reading.model_input):
            return reading
        return replace(reading, model_input=in_small_letters(reading.model_input, self._knows_better))

    def _knows_better(self, word: str, small: str) -> bool:
        """Whether only the second form of a word is a token; not where the first is this token with a mark for its
        capital."""
        one, own, other = self.codec.encode(["a", word, small], source=self.source, target=self.target)
        return len(other) == len(one) < len(own) and not set(other) <= set(own)

    def _segment(self, reading: ModelInput, start: Ids) -> WorkGenerator[Passage]:
        """One segment; split in halves if it is too long.

        If every hypothesis has lost or added a sentence, or lost a clause or protected text, translate again: sentence
        by sentence, in halves, or with other stand-ins for protected text.
        """
        ids, *asides = self.codec.encode([reading.model_input, *reading.asides.values()],
                                         source=self.source, target=self.target)
        longest = self.defaults.source_tokens
        if longest is not None and len(ids) > longest:
            try:
                cut = halves(reading.text, protection=self.protection)
            except ValueError:  # one character
                check_length(reading.text, ids, most=self.defaults.positions)
            else:
                return (yield from self._passage(cut, start))
        bracketed = yield from together([
            self._passage(self._cut(reading.text[slice(*span)]), ()) for span in reading.bracketed])
        begun = replace(self.options, prefix=(*self.options.prefix, *start)) if start else self.options
        may_lose = any(reading.stand_ins) or is_paired(reading.model_input)
        if may_lose and not begun.sampling:  # any beam may have the stand-ins, or both marks of a quotation
            begun = replace(begun, alternatives=max(begun.alternatives or 1, begun.num_beams or 1))
        beams = self.options.alternatives if self.options.sampling else self.options.num_beams
        every = replace(self.options, alternatives=beams)
        written, *alone = self._written((yield [(ids, begun), *((each, every) for each in asides)]))
        known = {span: [self._within(each.text, reading.text[slice(*span)]) for each in one if each.text.strip()]
                 for span, one in zip(reading.asides, alone, strict=True)}
        known |= {span: [self._within(one.best, reading.text[slice(*span)])]
                  for span, one in zip(reading.bracketed, bracketed, strict=True)}
        return (yield from self._settled(reading, written, start, known))

    def _settled(self, reading: ModelInput, written: EngineOutput, start: Ids,
                 known: Mapping[Span, Sequence[str]] = MappingProxyType({})) -> WorkGenerator[Passage]:
        """A segment with the engine's output, restored or translated again; `known` are the translations of its asides.
        """
        first, read_first = reading.text[:1], reading.model_input[:1]
        begins = _capitalised if first != read_first == first.lower() else str
        texts = [(one, reading.restored(begins(one.text), known)) for one in written if one.text.strip()]
        restored = self._distinct(with_fields(one, text=text) for one, text in texts if text is not None)
        if is_paired(reading.model_input):
            restored = tuple(one for one in restored if is_paired(one.text)) or restored
        cut = Cut.at(reading.text, reading.breaks)
        count = len(cut.segments)
        complete = tuple(self._laid_out(one, cut) for one in restored if self._keeps_sentences(one.text, count))
        given = max(1, count_sentences(self.codec.decode(start), language=self.target) if start else 0)
        if not complete and count > given:
            again = yield from self._passage(cut.joined(given), start)
            return replace(again, one_by_one=True)
        further = None if restored else reading.further(written[0].text)
        if further is not None:
            return (yield from self._segment(further, start))
        blank = self._distinct(with_fields(one, text=reading.text) for one in written)  # all are blank: keep the source
        best = (complete or restored or blank)[: self.options.alternatives]
        result = Passage(_whole(reading.text), ((reading, best),))
        return (yield from self._complete(result, start))

    def _complete(self, whole: Passage, start: Ids) -> WorkGenerator[Passage]:
        """A translated segment without hypotheses that have lost a clause.

        If all have lost one, the segment is translated in parts, which are halves if it is long without clauses.  The
        parts are used if they lost none or, if the translation is far shorter, if they have more.
        """
        [(reading, found)] = whole.segments
        read = length(reading.model_input)
        long = tuple(one for one in found if length(one.text) >= SHORTEST_SHARE * read or self.options.sampling)
        cut, least = None, SHORTEST_SHARE * read
        if read >= LEAST and not long:
            cut = clauses(reading.text, protection=self.protection) or self._halves(reading)
            if is_far_shorter(reading.model_input, found[0].text):
                least = length(found[0].text) + 1
        if cut is None:
            return replace(whole, segments=((reading, long),)) if long and long != found else whole
        halved = yield from self._passage(cut, start)
        written = sum(length(each[0].text) for _, each in halved.segments)
        return halved if written >= least else whole

    def _halves(self, reading: ModelInput) -> Cut | None:
        """The halves of a long sentence; None for a short one."""
        [ids] = self.codec.encode([reading.model_input], source=self.source, target=self.target)
        return halves(reading.text, protection=self.protection) if len(ids) > SHORT_SOURCE else None

    def _continued(self, part: Passage) -> Passage:
        """A translated part of a line that follows a dash or a label."""
        [(reading, found), *others] = part.segments
        own = tuple(with_fields(one, text=self._within(one.text, reading.text)) for one in found)
        return replace(part, segments=((reading, own), *others))

    def _within(self, translation: str, source: str) -> str:
        """A translation as part of a sentence.

        It begins with a small letter if the source does, except for a German noun.  It has no sentence end that the
        source lacks.
        """
        if source[-1].isalnum():
            translation = translation.lstrip("¿¡").rstrip(" \u00a0\u202f.?!")
        word = translation.partition(" ")[0]
        is_capitalised = word != "I" and word[:1].isupper() and word[1:] == word[1:].lower()
        begins = source[0].islower() and is_capitalised and (iso(self.target) != "de" or len(word) <= 3)
        return translation[:1].lower() + translation[1:] if begins else translation

    def _distinct(self, hypotheses: Iterable[Hypothesis]) -> EngineOutput:
        """The best hypothesis of each text, because a search finds a text by several sequences of tokens.

        Texts that differ only in kinds of spaces or in invisible characters count as one.  Samples are independent, so
        all of them stay.
        """
        if self.options.sampling:
            return tuple(hypotheses)
        found: dict[str, Hypothesis] = {}
        for hypothesis in hypotheses:
            found.setdefault(visible(hypothesis.text), hypothesis)
        return tuple(found.values())

    def _keeps_sentences(self, translation: str, count: int) -> bool:
        """Whether a translation has as many sentences as its source; several sentences may translate a single one."""
        return count < 2 or count_sentences(translation, language=self.target) == count

    def _laid_out(self, hypothesis: Hypothesis, cut: Cut) -> Hypothesis:
        """A translation of several sentences with the separators of the source."""
        if set(cut.between[1:-1]) <= {" "}:
            return hypothesis
        return with_fields(hypothesis, text=cut.join(sentences(hypothesis.text, language=self.target)))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _whole(text: str) -> Cut:
    return Cut((text,), ("", ""))


def visible(text: str) -> str:
    """The text as a reader sees it: with ordinary spaces, and without characters that have no width."""
    return " ".join(text.translate(_INVISIBLE).split())


def check_text(text: str) -> str:
    """The text.

    Raises UserError for anything but valid Unicode text.
    """
    if not isinstance(text, str):
        raise UserError(f"expected text, got {type(text).__name__}", exit_code=2)
    refuse_surrogates(text)
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"a text has {len(text):,} characters: at most {MOST_CHARACTERS:,} are allowed; split it")
    for word, most in LONGEST_WORDS:
        if len(text) > most and len(
                _longest(word, text)) > most < len(longest := _longest(word, DEFAULT_PROTECTION.masked(text))):
            raise UserError(f"a word has {len(longest):,} characters: at most {most:,} are allowed; remove what is not"
                            f" text ({longest[:20]}...)")
    return text


def _longest(word: regex.Pattern[str], text: str) -> str:
    return max(word.findall(text), key=len, default="")


def check_length(text: str, ids: Sequence[int], *, most: int | None) -> None:
    """Raises UserError for more tokens than the model has positions."""
    if most is not None and len(ids) > most:
        size = f"it has {len(ids)} tokens, and the model takes at most {most}"
        raise UserError(f"the text {text[:30] + '…'!r} is too long: {size}; translate it sentence by sentence")


def by_group(items: Sequence[Item], key: Callable[[Item], Key],
             work: Callable[[Key, list[Item]], Sequence[Result]]) -> list[Result]:
    """Apply `work` to the items of each key together; results in the order of the items."""
    groups: dict[Key, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(key(item), []).append(place)
    found: dict[int, Result] = {}
    for each, places in groups.items():
        found |= zip(places, work(each, [items[place] for place in places]), strict=True)
    return [found[place] for place in range(len(items))]


def bare_pair(text: str, translation: str) -> tuple[str, str]:
    """A text and its translation, normalised for scoring.

    Raises UserError if one of them is blank.
    """
    text, translation = composed(text).strip(), composed(translation).strip()
    if not text or not translation:
        raise UserError(f"the {'translation' if text else 'source'} is blank")
    return text, translation


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", check_text(text))
