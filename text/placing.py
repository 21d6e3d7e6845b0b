"""Places inline elements (bold type, a link) in a translation by word alignment.

Each element becomes one run of words in the translation.  In this run, links to the element's own words outweigh other
links.  So elements stay nested, and none is lost or duplicated.  The translation itself never changes.
"""

from __future__ import annotations

import html
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from ..tokenizer.words import Word, split_words
from .glossary import occurrences
from .plain import plain
from .protection import DEFAULT_PROTECTION, Protection

if TYPE_CHECKING:
    import numpy as np

Span = tuple[int, int]


@dataclass(frozen=True)
class Mark:
    """An element around the characters `start` to `end` of a text, and the elements inside it.

    Markup without words (a comment, a picture, an unmatched tag, invisible white space) has length 0.
    """

    start: int
    end: int
    before: str
    after: str = ""
    inside: Sequence[Mark] = ()


class WordsOfTrace(Protocol):
    """The words that a model read and wrote, of a trace of any kind."""

    @property
    def source_text(self) -> str: ...
    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    @property
    def source_words(self) -> Sequence[Word]: ...
    @property
    def target_words(self) -> Sequence[Word]: ...


@dataclass(frozen=True)
class Alignment:
    """The links between the words of a text and those of its translation: source word, target word, strength.

    A sentence without element borders inside may count as one word.
    """

    links: Sequence[tuple[Span, Span, float]]

    @classmethod
    def whole(cls, text: str, translation: str) -> Alignment:
        return cls([((0, len(text)), (0, len(translation)), 1.0)])

    @classmethod
    def by_place(cls, text: str, translation: str, *, languages: tuple[str, str] = ("", ""),
                 protection: Protection = DEFAULT_PROTECTION) -> Alignment:
        """The fallback: link words at proportional positions."""
        copies, terms = _copies(text, translation, protection), _terms(text, translation, protection)
        taken = {span for copy in (*copies, *terms) for span in copy}
        source, target = ([span for span in _words(one, language, protection, own) if span not in taken]
                          for one, language, own in zip((text, translation), languages, _sides(terms), strict=True))
        most = max(len(source), len(target)) if source and target else 0
        return cls([*((source[k * len(source) // most], target[k * len(target) // most], 1.0) for k in range(most)),
                    *_copied(copies), *((*term, 1.0) for term in terms)])

    @classmethod
    def measured(cls, trace: WordsOfTrace, strength_JI: np.ndarray, text: str, translation: str, *,
                 protection: Protection = DEFAULT_PROTECTION) -> Alignment:
        """Links with the strengths of a trace's target words J to its source words I, for every pair of words with a
        positive strength.

        The model may have read and written stand-ins for protected text.  Identical protected text is linked character
        by character.
        """
        copies, terms = _copies(text, translation, protection), _terms(text, translation, protection)
        source_terms, target_terms = _sides(terms)
        source = _words(text, trace.source_language, protection, source_terms)
        target = _words(translation, trace.target_language, protection, target_terms)
        shown_I = _shown(trace.source_words, source)
        shown_J = _shown(trace.target_words, target)
        taken_source, taken_target = map(set, _sides([*copies, *terms]))
        links = [(shown_I[i], shown_J[j], float(strength_JI[j, i]))
                 for j, i in zip(*strength_JI.nonzero(), strict=True) if i in shown_I and j in shown_J]
        unread = {word: span for span, word in source.items() if word not in trace.source_text}
        links += [(unread[word], span, 1.0) for span, word in target.items() if word in unread]
        return cls([*(link for link in links if link[0] not in taken_source and link[1] not in taken_target),
                    *_copied(copies), *((*term, 1.0) for term in terms)])

    @classmethod
    def joined(cls, parts: Iterable[tuple[str, str, Alignment]]) -> Alignment:
        """The alignment of a whole text and its translation, from their parts."""
        links: list[tuple[Span, Span, float]] = []
        at = to = 0
        for text, translation, part in parts:
            links += [((i + at, end + at), (j + to, stop + to), strength)
                      for (i, end), (j, stop), strength in part.links]
            at, to = at + len(text), to + len(translation)
        return cls(links)


def _words(text: str, language: str, protection: Protection, terms: Sequence[Span] = ()) -> dict[Span, str]:
    """The spans of the words of a text in order, each with the model's input for it.

    Protected text and terms are one word each.
    """
    protected = [*protection.spans(text), *terms]
    inside = {place for span in protected for place in range(*span)}
    shown = plain(text)
    words = {shown.original(word.start, word.end): word.text for word in split_words(shown.text, language=language)}
    return dict(sorted([*((span, word) for span, word in words.items() if span[0] not in inside),
                        *((span, text[slice(*span)]) for span in protected)]))


def _copies(text: str, translation: str, protection: Protection) -> list[tuple[Span, Span]]:
    """Protected text of a source, and the same text in its translation."""
    left = [(span, translation[slice(*span)]) for span in reversed(protection.spans(translation))]
    copies = []
    for span in protection.spans(text):
        number = next((k for k in reversed(range(len(left))) if left[k][1] == text[slice(*span)]), None)
        if number is not None:
            copies.append((span, left.pop(number)[0]))
    return copies


def _terms(text: str, translation: str, protection: Protection) -> list[tuple[Span, Span]]:
    """The terms of the glossary in a source, and their translations, in the order of each."""
    terms = protection.terms(text)
    found = occurrences((one.written for one in terms), translation)
    each = {written: iter(spans) for written, spans in found.items()}
    pairs = ((one.span, next(each[one.written], None)) for one in terms)
    return [(source, target) for source, target in pairs if target is not None]


def _sides(pairs: Sequence[tuple[Span, Span]]) -> tuple[list[Span], list[Span]]:
    return [source for source, _ in pairs], [target for _, target in pairs]


def _copied(copies: Iterable[tuple[Span, Span]]) -> list[tuple[Span, Span, float]]:
    """Links between the characters of equal texts."""
    return [((i, i + 1), (j, j + 1), 1.0) for source, target in copies
            for i, j in zip(range(*source), range(*target), strict=True)]


def words_shown(read: Sequence[Word], text: str, *, language: str,
                protection: Protection = DEFAULT_PROTECTION) -> dict[int, Span]:
    """For each word that a model read or wrote: the span in the text that it stands for."""
    return _shown(read, _words(text, language, protection))


def _shown(read: Sequence[Word], shown: Mapping[Span, str]) -> dict[int, Span]:
    words = list(shown)
    sides = [word.text for word in read], list(shown.values())
    return {
        first + k: words[begin + k * (stop - begin) // (end - first)]
        for _, first, end, begin, stop in SequenceMatcher(None, *sides, autojunk=False).get_opcodes() if begin < stop
        for k in range(end - first)
    }


class Marking:
    """Puts marks into the translation of a text; `kept` maps placeholder characters in it to their HTML."""

    def __init__(self, source: str, text: str, alignment: Alignment, kept: Mapping[int, str]):
        self.source, self.text, self.kept = source, text, kept
        self.around = f" {text} "  # for the two characters around each place
        self.target = sorted({word for _, word, _ in alignment.links})
        numbers = {word: number for number, word in enumerate(self.target)}
        ordered = sorted(alignment.links, key=itemgetter(0))
        self.links = [(word, numbers[to], strength) for word, to, strength in ordered]
        self.total = self._strengths((0, len(source)), (0, len(text) + 1))  # total link strength of each target word

    def render(self, marks: Sequence[Mark], source: Span, target: Span) -> str:
        """The characters of `target`, the translation of `source`, as HTML with the marks in them."""
        runs = self._runs(marks, source, target)
        taken = sorted(run for run in runs if run)
        places = [run or (self._place(mark, source, target, taken),) * 2 for run, mark in zip(runs, marks, strict=True)]
        done, rendered = target[0], ""
        for number in sorted(range(len(marks)), key=places.__getitem__):
            (start, end), mark = places[number], marks[number]
            rendered += self._escaped(done, start)
            if not mark.before.isspace() or " " in self.around[start : start + 2]:  # beside a space it is invisible
                rendered += mark.before + self.render(mark.inside, (mark.start, mark.end), (start, end)) + mark.after
            done = end
        return rendered + self._escaped(done, target[1])

    def _runs(self, marks: Sequence[Mark], source: Span, target: Span) -> list[Span | None]:
        """The run of each mark that has one; runs do not overlap.

        A word that owes more than half of its strength to one mark is in this mark's run or in none.  Marks with such
        words choose first.
        """
        strengths = [self._strengths((mark.start, mark.end), target) for mark in marks]
        owner = {j: number for number, own in enumerate(strengths)
                 for j, strength in own.items() if 2 * strength > self.total[j]}
        owners = set(owner.values())
        runs: list[Span | None] = [None] * len(marks)
        for number in sorted(range(len(marks)), key=lambda number: number not in owners):
            mark = marks[number]
            own = {j: strength for j, strength in strengths[number].items() if owner.get(j, number) == number}
            if mark.start < mark.end and (mark.start, mark.end) == source:
                runs[number] = target
            elif own:
                first, last = self._run(own, {j for j in range(min(own), max(own)) if owner.get(j, number) != number})
                owner |= dict.fromkeys(range(first, last + 1), number)
                runs[number] = self.target[first][0], self.target[last][1]
        return runs

    def _strengths(self, source: Span, target: Span) -> dict[int, float]:
        """The link strength of each word of `target`, by index, to the words of `source`."""
        strengths: dict[int, float] = defaultdict(float)
        lowest, highest = (bisect_left(self.target, (place,)) for place in target)
        first = bisect_right(self.links, source[0], key=lambda link: link[0][1])
        end = bisect_left(self.links, source[1], key=lambda link: link[0][0])
        for _, number, strength in self.links[first:end] if source[0] < source[1] else ():
            if lowest <= number < highest:
                strengths[number] += strength
        return strengths

    def _run(self, own: Mapping[int, float], others: Collection[int]) -> tuple[int, int]:
        """The first and last word of the run of a mark, without any of the `others`.

        It is the run in which the mark's own strength most outweighs the rest (the maximum subarray, by Kadane's
        algorithm).  Otherwise it is the mark's strongest word.
        """
        strongest = max(own, key=own.__getitem__)
        run, best, weight, first = (strongest, strongest), 0.0, -inf, 0
        for j in range(min(own), max(own) + 1):
            gain = -inf if j in others else 2 * own.get(j, 0.0) - self.total[j]
            if weight < 0 < gain:
                weight, first = 0.0, j
            weight += gain
            if gain > 0 and weight >= best:
                run, best = (first, j), weight
        return run

    def _place(self, mark: Mark, source: Span, target: Span, taken: Sequence[Span]) -> int:
        """The position of a mark without words: after the word that it touches, or else before the next; outside other
        marks.
        """
        touches = mark.start > source[0] and not self.source[mark.start - 1].isspace()
        near = bisect_left(self.links, mark.start if touches else mark.end, key=lambda link: link[0][0]) - touches
        if mark.start <= source[0]:
            place = target[0]
        elif mark.start >= source[1] or not 0 <= near < len(self.links):
            place = target[1]
        else:
            strengths = self._strengths(self.links[near][0], (0, len(self.text) + 1))
            place = min(max(self.target[max(strengths, key=strengths.__getitem__)][touches], target[0]), target[1])
        before = bisect_left(taken, (place, place)) - 1
        inside = before >= 0 and place < taken[before][1]
        return taken[before][touches] if inside else place

    def _escaped(self, start: int, end: int) -> str:
        return html.escape(self.text[start:end], quote=False).translate(self.kept)
