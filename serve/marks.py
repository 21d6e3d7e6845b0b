"""Where the marked words of a text are in its translation: those of a link, or in bold type.

Nothing says which words became which, so there are two ways.  The marked words are translated alone too, and sought in
the translation: as they are, or inflected otherwise (*blau* in *einem blauen Hemd*), and of several the nearest to
where they should be.  What is not found is marked where it should be by its place in the source.  The translation
itself is never changed.
"""

from __future__ import annotations

import html
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix

from seq2see.tokenizer.words import Word, split_words

Span = tuple[int, int]
NEAR = 16  # places that are tried for one mark, so that time grows with the text alone


@dataclass(frozen=True)
class Mark:
    """Tags about the characters `start` to `end` of a text, and the marks within.

    A tag that has no partner, or no words to be about, is a mark of no length.  `number` says which of the
    translations is that of its words alone; None where there is none.
    """

    start: int
    end: int
    before: str
    after: str = ""
    inside: tuple[Mark, ...] = ()
    number: int | None = None


class Marking:
    """Puts marks into one translation.

    Args:
        alone: translations, by the numbers of marks.
        language: the target, by whose rules the translation is cut into words.
    """

    def __init__(self, source: str, text: str, alone: Sequence[str], *, language: str):
        self.source, self.text, self.alone, self.language = source, text, alone, language
        self.words = split_words(text, language=language)
        self.starts = [word.start for word in self.words]
        self.source_starts = [word.start for word in split_words(source, language="")]
        self.like: dict[str, list[int]] = {}  # numbers of words, by how they begin
        for number, word in enumerate(self.words):
            self.like.setdefault(_beginning(word), []).append(number)

    def render(self, marks: Sequence[Mark], anchors: Sequence[Span]) -> str:
        """As HTML, the characters from the first of the anchors to the last.

        `anchors` are places in the source and where they are in the translation, both ascending.
        """
        done, end = anchors[0][1], anchors[-1][1]
        rendered = ""
        for start, stop, mark in self._places(marks, anchors):
            within = self.render(mark.inside, [(mark.start, start), (mark.end, stop)])
            rendered += escape(self.text[done:start]) + mark.before + within + mark.after
            done = stop
        return rendered + escape(self.text[done:end])

    def _places(self, marks: Sequence[Mark], anchors: Sequence[Span]) -> list[tuple[int, int, Mark]]:
        """Each mark with its own part of the translation, in the translation's order."""
        here = _Here(self, anchors)
        found: dict[int, Span] = {}
        for way in (here.whole, here.sought, here.by_place, here.no_words):
            for number, mark in enumerate(marks):
                span = way(mark) if number not in found else None
                if span is None:
                    continue
                found[number] = span
                if span[0] < span[1]:
                    insort(here.taken, span)
        return [(*found[number], marks[number]) for number in sorted(found, key=lambda one: (*found[one], one))]


class _Here:
    """The part of a translation between anchors, and what of it is taken by marks: ascending."""

    def __init__(self, marking: Marking, anchors: Sequence[Span]):
        self.marking = marking
        (source, begin), (source_end, end) = anchors[0], anchors[-1]
        self.source, self.span = (source, source_end), (begin, end)
        self.taken: list[Span] = []
        starts = marking.starts
        self.first, self.end = (bisect_left(starts, place) for place in self.span)  # of its words
        self.anchors = [(bisect_left(marking.source_starts, a), bisect_left(starts, b)) for a, b in anchors]  # in words

    def whole(self, mark: Mark) -> Span | None:
        """A mark about all of the source is about all of this."""
        return self.span if mark.start < mark.end and (mark.start, mark.end) == self.source else None

    def sought(self, mark: Mark) -> Span | None:
        """The words that are most like the mark's translation, and of those the nearest to its place."""
        if mark.number is None:
            return None
        marking = self.marking
        wanted = _told_once(split_words(marking.alone[mark.number], language=marking.language))
        if not wanted:
            return None
        middle = sum(self._place(mark)) / 2 - len(wanted) / 2
        same = marking.like.get(_beginning(wanted[0]), [])
        centre = bisect_left(same, middle)
        best: tuple[bool, float, Span] | None = None
        for first in same[max(centre - NEAR, 0) : centre + NEAR]:
            words = marking.words[first : first + len(wanted)]
            if first < self.first or first + len(wanted) > self.end or not all(map(_alike, words, wanted)):
                continue
            span = words[0].start, words[-1].end
            if self._is_free(span):
                other = any(a.text.casefold() != b.text.casefold() for a, b in zip(words, wanted, strict=True))
                found = other, abs(first - middle), span
                best = found if best is None else min(best, found)
        return best[-1] if best else None

    def by_place(self, mark: Mark) -> Span | None:
        """The free words at the mark's place, or the nearest one; for punctuation, punctuation.  None where there is
        none near it."""
        if mark.start == mark.end:
            return None
        begin, end = self._place(mark)
        middle = (begin + end) / 2 - 0.5
        near = range(max(self.first, round(middle) - NEAR), min(self.end, round(middle) + NEAR))
        spoken = _is_spoken(self.marking.source[mark.start : mark.end])
        free = [number for number in near if self._is_free(self._words(number, number))
                and _is_spoken(self.marking.words[number].text) == spoken]
        if not free:
            return None
        first = last = nearest = min(free, key=lambda number: abs(number - middle))
        for number in range(nearest - 1, max(math.ceil(begin - 0.5), self.first) - 1, -1):
            if not self._is_free(self._words(number, last)):
                break
            first = number if _is_spoken(self.marking.words[number].text) == spoken else first
        for number in range(nearest + 1, min(math.floor(end - 0.5) + 1, self.end)):
            if not self._is_free(self._words(first, number)):
                break
            last = number if _is_spoken(self.marking.words[number].text) == spoken else last
        return self._words(first, last)

    def no_words(self, mark: Mark) -> Span:
        """Between two words and outside of the other marks: before a word, or after one that the tag touches."""
        touches = mark.start > self.source[0] and not self.marking.source[mark.start - 1].isspace()
        number = round(self._place(mark)[0])
        if mark.start == self.source[0] or self.first == self.end:
            place = self.span[0]
        elif mark.start == self.source[1] or (number >= self.end and not touches):
            place = self.span[1]
        else:
            place = self.marking.words[max(number - 1, self.first)].end if touches else self.marking.starts[number]
        before = bisect_left(self.taken, (place, place)) - 1
        if before >= 0 and self.taken[before][1] > place:
            place = self.taken[before][1]
        return place, place

    def _place(self, mark: Mark) -> tuple[float, float]:
        """Where the mark should be, in words: in a straight line between two anchors."""
        begin, end = (bisect_left(self.marking.source_starts, place) for place in (mark.start, mark.end))
        return self._along(begin), self._along(end)

    def _along(self, count: int) -> float:
        number = min(max(bisect_right(self.anchors, count, key=lambda one: one[0]), 1), len(self.anchors) - 1)
        (a, c), (b, d) = self.anchors[number - 1], self.anchors[number]
        return c + (min(max(count, a), b) - a) / max(b - a, 1) * (d - c)

    def _words(self, first: int, last: int) -> Span:
        return self.marking.words[first].start, self.marking.words[last].end

    def _is_free(self, span: Span) -> bool:
        place = bisect_left(self.taken, span)
        return all(end <= span[0] or span[1] <= start for start, end in self.taken[max(place - 1, 0) : place + 1])


def escape(text: str) -> str:
    return html.escape(text, quote=False)


def _is_spoken(text: str) -> bool:
    """Whether it is more than punctuation."""
    return any(map(str.isalnum, text))


def _told_once(words: Sequence[Word]) -> list[Word]:
    """Without punctuation at the ends and without repetitions: many a model repeats a word that is all there is, and
    ends it with a full stop."""
    spoken = [number for number, word in enumerate(words) if _is_spoken(word.text)]
    words = words[spoken[0] : spoken[-1] + 1] if spoken else words
    return [word for number, word in enumerate(words) if not number or not _alike(word, words[number - 1])]


def _beginning(word: Word) -> str:
    return word.text.casefold()[:3]


def _alike(a: Word, b: Word) -> bool:
    """The same, or one word with two endings."""
    one, other = a.text.casefold(), b.text.casefold()
    return one == other or len(commonprefix((one, other))) >= max(3, 0.6 * max(len(one), len(other)))
