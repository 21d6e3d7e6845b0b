"""What became of the texts of a file: how many are doubtful or stayed as they were, and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..text.html_markup import readable
from .results import Doubted, Translation, Warned

UNKNOWN = "words not seen in training, so their translation is a guess"
INVENTED = "words in the translation that may not exist: neither seen in training nor in the source"
UNLIKELY = "words in the translation that the model finds unlikely"
OMITTED = "source words that may be missing from the translation"
CUT_OFF = "the translation reached the model's maximum length, so its end is missing"
WARNINGS: dict[Warned, str] = {
    "unchanged": "the translation is the same as its source",
    "too_short": "the translation is far shorter than its source, so some of it is missing",
    "cut_off": CUT_OFF,
}
MISSING = "terms of the glossary that the translation lacks"
KINDS: tuple[Doubted, ...] = ("unknown_word", "omitted_word", "invented_word", "unlikely_word")
WORDS_SHOWN = 60  # characters of such words
MOST_PLACES = 10_000  # of a file in a report
SAMPLE = 2_000  # characters that show the language of the texts
Term = tuple[str, str]  # of the glossary, as it is in the text, and its translation


class Doubts(NamedTuple):
    """What is doubtful of the translations of a text, and the terms of the glossary in it."""

    unknown: tuple[str, ...] = ()  # words of the source
    omitted: tuple[str, ...] = ()  # further words of the source
    invented: tuple[str, ...] = ()  # words of the translations
    unlikely: tuple[str, ...] = ()  # further words of the translations
    missing: tuple[Term, ...] = ()
    warnings: tuple[Warned, ...] = ()
    terms: tuple[Term, ...] = ()

    def __bool__(self) -> bool:
        return any((self.unknown, self.omitted, self.invented, self.unlikely, self.missing, self.warnings))

    @classmethod
    def of(cls, results: Sequence[Translation]) -> Doubts:
        """Of the translations of a text, one to each target."""
        found = dict.fromkeys(one for result in results for one in result.doubts)
        unknown, omitted, invented, unlikely = (tuple(one.word for one in found if one.kind == kind) for kind in KINDS)
        missing = tuple(term for result in results for term in result.missing_terms)
        return cls(unknown, omitted, invented, unlikely, missing,
                   tuple(dict.fromkeys(name for result in results for name in result.warnings)),
                   tuple(term for result in results for term in result.terms))

    def named(self) -> list[tuple[str, str]]:
        """Why, with the words that it is about."""
        missing = dict.fromkeys(term for term, _ in self.missing)
        kinds = ((UNKNOWN, self.unknown), (OMITTED, self.omitted), (INVENTED, self.invented),
                 (UNLIKELY, self.unlikely), (MISSING, missing))
        return [(why, ", ".join(words)) for why, words in kinds if words]

    def whys(self) -> list[str]:
        return [*(f"{why}: {words}" for why, words in self.named()), *(WARNINGS[name] for name in self.warnings)]


class Remarks:
    """Remarks on many lines, or other texts: how many each concerns, the first of them, and the places of all."""

    def __init__(self, unit: str, *, of: str = "", most_places: int = MOST_PLACES) -> None:
        self.unit, self.of, self.most_places = unit, of and f"{of}: ", most_places
        self.texts = self.left = self.doubtful = 0
        self.counts: Counter[str] = Counter()
        self.stays: Counter[str] = Counter()  # why texts stay as they are
        self.first: dict[str, str] = {}
        self.terms, self.missing = Counter[Term](), Counter[Term]()
        self.places: list[dict[str, Any]] = []
        self.sample = ""  # the beginning of all texts

    def note(self, number: int, doubts: Doubts, *, place: str = "", text: str = "", translation: str = "",
             parts: Sequence[Translation] = ()) -> None:
        """Count a text with its doubts; `place` where it stands, if its number does not say it.  `parts` are those of
        the text that are doubtful, if known."""
        self.texts = number
        if len(self.sample) < SAMPLE:
            self.sample = f"{self.sample}{text}\n"[:SAMPLE]
        self.terms.update(doubts.terms)
        self.missing.update(doubts.missing)
        if not doubts:
            return
        place = place or f"{self.unit[:-1]} {number:,}"
        for why, words in doubts.named():
            self._count(self.counts, why, f"{place}: {words[:WORDS_SHOWN]}{'…' * (len(words) > WORDS_SHOWN)}")
        for name in doubts.warnings:
            self._count(self.counts, WARNINGS[name], place)
        self.doubtful += 1
        for one, (source, target) in [(Doubts.of([part]), shown(part)) for part in parts] or [
                (doubts, (text, translation))]:
            self._list({"place": place, "doubtful": one.whys(), "text": source, "translation": target})

    def leave(self, why: str, *, place: str, text: str) -> None:
        """Count a text that stays as it is."""
        self.left += 1
        self._count(self.stays, why, place)
        self._list({"place": place, "left": why, "text": text})

    def _count(self, counts: Counter[str], what: str, first: str) -> None:
        counts[what] += 1
        self.first.setdefault(what, first)

    def _list(self, place: dict[str, Any]) -> None:
        if len(self.places) < self.most_places:
            self.places.append(place)

    def lines(self) -> Iterator[str]:
        """In a line for each kind of remark."""
        for what, count in self.counts.items():
            yield f"{self.of}{count:,} of {self.texts:,} {self.unit}: {what} (first: {self.first[what]})"
        for why, count in self.stays.items():
            yield f"{self.of}{count:,} not translated: {why} (first: {self.first[why]})"

    def record(self) -> dict[str, Any]:
        """For a report."""
        terms = [{"term": term, "translation": written, "times": times, "missing": self.missing[term, written]}
                 for (term, written), times in self.terms.items()]
        return {"texts": self.texts, "left": self.left, "doubtful": self.doubtful, "places": self.places,
                "terms": terms}

    def note_texts(self, results: Sequence[Translation], *, start: int, place: Callable[[int], str]) -> None:
        """Count texts of a document, from number `start`; `place` says where the text of a number stands."""
        for number, result in enumerate(results, start):
            (text, translation), doubts = shown(result), Doubts.of([result])
            parts = [part for part in result.segments if Doubts.of([part])] if doubts else []
            self.note(number + 1, doubts, place=place(number), text=text, translation=translation, parts=parts)


def shown(result: Translation) -> tuple[str, str]:
    """A text and its translation as a reader sees them, without markup."""
    seen = readable if result.has_markup else str
    return seen(result.source_text), seen(result.text)
