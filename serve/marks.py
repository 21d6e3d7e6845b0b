"""Where the elements about a text's words (bold type, a link) are in its translation, by their word alignment.

Each element becomes one run of the translation: the run in which the words linked to the element's own outweigh the
others.  So elements stay nested, and none is lost or comes twice.  The translation itself is never changed.
"""

from __future__ import annotations

import html
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import inf
from typing import TYPE_CHECKING

from seq2see.tokenizer.protected import protected_spans
from seq2see.tokenizer.words import Word, split_words

if TYPE_CHECKING:
    from seq2see.lens.alignment import AlignmentChoice
    from seq2see.lens.trace import Trace

Span = tuple[int, int]


@dataclass(frozen=True)
class Mark:
    """An element about the characters `start` to `end` of a text, and those inside it.

    What is about no words (a comment, a picture, a tag without its partner) has no length; with `spaced`, white space
    stands on both sides of it, of which the text has one.
    """

    start: int
    end: int
    before: str
    after: str = ""
    inside: tuple[Mark, ...] = ()
    spaced: bool = False


@dataclass(frozen=True)
class Alignment:
    """The words of a text and of its translation, in order, and their links: source word, target word, strength.

    A sentence that has no element's border inside may stand for its words.
    """

    source: tuple[Span, ...]
    target: tuple[Span, ...]
    links: tuple[tuple[int, int, float], ...]

    @classmethod
    def whole(cls, text: str, translation: str) -> Alignment:
        return cls(((0, len(text)),), ((0, len(translation)),), ((0, 0, 1.0),))

    @classmethod
    def same(cls, text: str) -> Alignment:
        """Of what is not translated."""
        words = _words(text, "")
        return cls(words, words, tuple((number, number, 1.0) for number in range(len(words))))

    @classmethod
    def by_place(cls, text: str, translation: str, *, languages: tuple[str, str]) -> Alignment:
        """Where nothing else is known: the words at the same part of the way."""
        source, target = map(_words, (text, translation), languages)
        most = max(len(source), len(target)) if source and target else 0
        return cls(source, target, tuple((k * len(source) // most, k * len(target) // most, 1.0) for k in range(most)))

    @classmethod
    def measured(cls, trace: Trace, choice: AlignmentChoice, text: str, translation: str) -> Alignment:
        """As strong as the choice reads it off a trace: every pair of words that it sees anything of.

        The model may have read and written other words in places than the `text` and the `translation` have, for what
        is protected: of that, what is the same belongs together.
        """
        strength_JI = choice.strengths(trace)
        source, target = _words(text, trace.source_language), _words(translation, trace.target_language)
        shown_I = _shown(trace.source_words, text, source)
        shown_J = _shown(trace.target_words, translation, target)
        links = [(shown_I[i], shown_J[j], float(strength_JI[j, i]))
                 for j, i in zip(*strength_JI.nonzero(), strict=True) if i in shown_I and j in shown_J]
        unread = {text[slice(*span)]: number for number, span in enumerate(source)
                  if text[slice(*span)] not in trace.source_text}
        copies = [(translation[slice(*span)], number) for number, span in enumerate(target)]
        links += [(unread[copy], number, 1.0) for copy, number in copies if copy in unread]
        return cls(source, target, tuple(links))

    @classmethod
    def joined(cls, parts: Iterable[tuple[str, str, Alignment]]) -> Alignment:
        """Of a whole text and its translation, from their parts."""
        source: list[Span] = []
        target: list[Span] = []
        links: list[tuple[int, int, float]] = []
        at = to = 0
        for text, translation, part in parts:
            links += [(i + len(source), j + len(target), strength) for i, j, strength in part.links]
            source += [(start + at, end + at) for start, end in part.source]
            target += [(start + to, end + to) for start, end in part.target]
            at, to = at + len(text), to + len(translation)
        return cls(tuple(source), tuple(target), tuple(links))


def _words(text: str, language: str) -> tuple[Span, ...]:
    """What is protected is one word."""
    protected = protected_spans(text)
    inside = {place for span in protected for place in range(*span)}
    words = [(word.start, word.end) for word in split_words(text, language=language)]
    return tuple(sorted([*(word for word in words if word[0] not in inside), *protected]))


def _shown(read: Sequence[Word], text: str, words: Sequence[Span]) -> dict[int, int]:
    """By the number of each word that a model read or wrote, that of the word of the text that it is, or stands for."""
    sides = [word.text for word in read], [text[slice(*word)] for word in words]
    return {
        first + k: begin + k * (stop - begin) // (end - first)
        for _, first, end, begin, stop in SequenceMatcher(None, *sides, autojunk=False).get_opcodes() if begin < stop
        for k in range(end - first)
    }


class Marking:
    """Puts marks into the translation of a text; `kept` is what single characters of it stand for, as HTML."""

    def __init__(self, source: str, text: str, alignment: Alignment, kept: Mapping[int, str]):
        self.source, self.text, self.kept = source, text, kept
        self.source_starts = [start for start, _ in alignment.source]
        self.source_ends = [end for _, end in alignment.source]
        self.target = alignment.target
        self.target_starts = [start for start, _ in alignment.target]
        self.linked: list[list[tuple[int, float]]] = [[] for _ in alignment.source]  # to each source word
        self.total = [0.0] * len(alignment.target)  # strength of all links of each target word
        for i, j, strength in alignment.links:
            self.linked[i].append((j, strength))
            self.total[j] += strength
        self.nearest = [(len(text),) * 2] * len(self.linked)  # to each source word, or else to the next that is linked
        following = len(text), len(text)
        for i in reversed(range(len(self.linked))):
            if self.linked[i]:
                following = self.target[max(self.linked[i], key=lambda link: link[1])[0]]
            self.nearest[i] = following

    def render(self, marks: Sequence[Mark], source: Span, target: Span) -> str:
        """As HTML, the characters of `target`, the translation of those of `source`, with the marks among these."""
        runs = self._runs(marks, source, target)
        taken = sorted(run for run in runs if run)
        places = [run or (self._place(mark, source, target, taken),) * 2 for run, mark in zip(runs, marks, strict=True)]
        done, rendered = target[0], ""
        for (start, end), _, mark in sorted(zip(places, range(len(marks)), marks, strict=True)):
            rendered += self._escaped(done, start) + mark.before
            rendered += self.render(mark.inside, (mark.start, mark.end), (start, end)) + mark.after
            rendered += " " * (mark.spaced and self.text[start - 1 : start] in ("", " "))
            done = end
        return rendered + self._escaped(done, target[1])

    def _runs(self, marks: Sequence[Mark], source: Span, target: Span) -> list[Span | None]:
        """The run of each mark that has one; no two share a word.  A word to which one mark has more than half of all
        strength is in that mark's run or in none; a mark without such a word gets its strongest of those left."""
        own = [self._strengths(mark, target) for mark in marks]
        owner = {j: number for number, strengths in enumerate(own)
                 for j, strength in strengths.items() if 2 * strength > self.total[j]}
        runs: dict[int, Span] = {}  # the first and the last word
        for number, strengths in enumerate(own):
            words = [j for j in sorted(strengths) if owner.get(j) == number]
            if words:
                runs[number] = self._heaviest(words, strengths, owner, number)
        taken = {j for first, last in runs.values() for j in range(first, last + 1)}
        for number, strengths in enumerate(own):
            free = [j for j in strengths if j not in taken]
            if number not in runs and free:
                best = max(free, key=lambda j: strengths[j])
                runs[number] = best, best
                taken.add(best)
        spans = {number: (self.target[first][0], self.target[last][1]) for number, (first, last) in runs.items()}
        return [target if mark.start < mark.end and (mark.start, mark.end) == source else spans.get(number)
                for number, mark in enumerate(marks)]

    def _strengths(self, mark: Mark, target: Span) -> dict[int, float]:
        """How strongly each word of `target` is linked to the mark's words."""
        strengths: dict[int, float] = defaultdict(float)
        if mark.start < mark.end:
            lowest, highest = (bisect_left(self.target_starts, place) for place in target)
            first, end = bisect_right(self.source_ends, mark.start), bisect_left(self.source_starts, mark.end)
            for j, strength in (link for links in self.linked[first:end] for link in links):
                if lowest <= j < highest:
                    strengths[j] += strength
        return strengths

    def _heaviest(self, words: Sequence[int], strengths: dict[int, float], owner: dict[int, int], number: int) -> Span:
        """The first and the last word of the run in which a mark's strength outweighs that of all else most, and which
        has no word of another mark's."""
        best, weight, first = (0.0, words[0], words[0]), 0.0, words[0]
        for j in range(words[0], words[-1] + 1):
            gain = -inf if owner.get(j, number) != number else 2 * strengths.get(j, 0.0) - self.total[j]
            if weight < 0 < gain:
                weight, first = 0.0, j
            weight += gain
            if gain > 0 and weight >= best[0]:
                best = weight, first, j
        return best[1], best[2]

    def _place(self, mark: Mark, source: Span, target: Span, taken: Sequence[Span]) -> int:
        """Where a mark stands that is about no words here: after the word that it touches, or else before the next;
        outside of the other marks."""
        touches = mark.start > source[0] and not self.source[mark.start - 1].isspace()
        number = bisect_left(self.source_starts, mark.start if touches else mark.end) - touches
        if mark.start <= source[0]:
            place = target[0]
        elif mark.start >= source[1] or number == len(self.linked):
            place = target[1]
        else:
            place = min(max(self.nearest[number][touches], target[0]), target[1])
        before = bisect_left(taken, (place, place)) - 1
        inside = before >= 0 and place < taken[before][1]
        return taken[before][touches] if inside else place

    def _escaped(self, start: int, end: int) -> str:
        return html.escape(self.text[start:end], quote=False).translate(self.kept)
