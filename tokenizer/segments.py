"""A text cut into what a model translates at once, and the translations put together as the text was.

A sentence is translated alone, unless it may need the one before (`context.py`): then they stay together, as many as
the model has learnt to translate at once.  A line break always parts.  What has no words (`...`, `12345`, a URL, the
mark of a list or a quotation) is nothing to translate: it stands between the segments, as white space does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from unicodedata import category, normalize

import regex
from sentencex import segment

from .context import refers_back
from .protected import has_words, masked, protected_spans

_LINE_BREAK = re.compile(r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_MARKS = re.compile(r"\s*(?:(?:[-*•>#–—]+|\d+[.)])\s+)*")  # of lists, headings, quotations and speech
_AFTER = regex.compile(r"\s*:\s+|\s+(?=\p{Lu})")  # what divides a URL from a sentence
_SPACE = re.compile(r"[^\S\x00-\x7f]")
_PLACES = (  # where a text may be cut in two, the best places first
    regex.compile(r"(?<=[.!?…。！？।॥]['\"”’»)]*)\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?<=[,;:،؛、，；：–—])\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?=\s)"),
    regex.compile(r"(?<=\X)(?=\X)"),
)


@dataclass(frozen=True)
class Cut:
    """The segments of a text, without white space at their ends, and what stood before, between and after them."""

    segments: tuple[str, ...]
    between: tuple[str, ...]  # one more than segments

    @property
    def whole(self) -> bool:
        """The text is its only segment."""
        return self.between == ("", "")

    def composed(self) -> "Cut":
        """The same with the segments in Unicode's composed form (NFC)."""
        return Cut(tuple(normalize("NFC", segment) for segment in self.segments), self.between)

    def join(self, translations: Sequence[str]) -> str:
        """The text with each segment's translation in its place."""
        pairs = zip(translations, self.between[1:], strict=True)
        return self.between[0] + "".join(text + after for text, after in pairs)

    def starts(self, texts: Sequence[str]) -> list[int]:
        """Where each of the segments begins, or of their translations, in what `join` makes of them."""
        lengths = (len(text) + len(after) for text, after in zip(texts, self.between[1:], strict=True))
        return list(accumulate(lengths, initial=len(self.between[0])))[:-1]

    def joined(self, count: int) -> "Cut":
        """The first segments in one."""
        first = Cut(self.segments[:count], ("", *self.between[1:count], "")).join(self.segments[:count])
        return Cut((first, *self.segments[count:]), (self.between[0], *self.between[count:]))

    def replaced(self, index: int, cut: "Cut") -> "Cut":
        """One segment cut further."""
        before, after = self.between[: index + 1], self.between[index + 1 :]
        between = (*before[:-1], before[-1] + cut.between[0], *cut.between[1:])
        return Cut((*self.segments[:index], *cut.segments, *self.segments[index + 1 :]),
                   (*between[:-1], between[-1] + after[0], *after[1:]))

    def halved(self, index: int) -> "Cut":
        """One segment cut in two: near its middle, between sentences if it can be, else clauses, words, characters.

        ValueError for a segment of one character.
        """
        text = self.segments[index]
        place = _near_middle(text)
        first, second = text[:place].rstrip(), text[place:].lstrip()
        return self.replaced(index, Cut((first, second), ("", text[len(first) : len(text) - len(second)], "")))


def cut_sentences(text: str, *, language: str, together: int = 1) -> Cut:
    """Sentences, each with those after it in its line that refer back: at most `together` in a segment."""
    segments, between = [], [""]
    for part in _parts(text, language, together):
        if has_words(part):
            start, end = _edges(part)
            between[-1] += part[:start]
            between.append(part[end:])
            segments.append(part[start:end])
        else:
            between[-1] += part
    return Cut(tuple(segments), tuple(between))


def count_sentences(text: str, *, language: str) -> int:
    """Those with words."""
    return sum(map(has_words, _sentences(text, language)))


def _edges(part: str) -> tuple[int, int]:
    """What is to be translated of a part with words: not marks at its start, nor what is protected and set apart."""
    start, end = len(_MARKS.findall(part)[0]), len(part.rstrip())
    for first, last in protected_spans(part):
        after = _AFTER.match(part, last)
        is_noun = part[first] in "{$%" or category(part[first]) == "Co"  # or may be
        if first == start and after and (":" in after[0] or not is_noun):
            start = after.end()
        elif not part[last:end].strip(".!?") and re.search(r":\s+$", part[start:first]):
            end = len(part[:first].rstrip())
    return start, end


def _parts(text: str, language: str, together: int) -> Iterator[str]:
    for line in _LINE_BREAK.split(text):
        joined: list[str] = []
        for sentence in _sentences(line, language):
            refers = bool(joined) and has_words(joined[-1]) and refers_back(sentence, language=language)
            if not refers or len(joined) == together:
                yield "".join(joined)
                joined.clear()
            joined.append(sentence)
        yield "".join(joined)


def _sentences(text: str, language: str) -> list[str]:
    """What sentencex finds.  It sees an ASCII space for every other, of which some (`C\u00a0.`) make it panic."""
    ends = accumulate(map(len, segment(language, masked(_SPACE.sub(" ", text)))))
    return [text[begin:end] for begin, end in pairwise([0, *ends, len(text)]) if begin < end]


def _near_middle(text: str) -> int:
    """Where to cut it, never at an end, nor within what is protected, if there is another place."""
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    protected = {place for start, stop in protected_spans(text) for place in range(start + 1, stop)}
    for barred in (protected, set[int]()):
        for pattern in _PLACES:
            places = [place for match in pattern.finditer(text) if begin < (place := match.start()) < end
                      and place not in barred]
            if places:
                return min(places, key=lambda place: abs(2 * place - len(text)))
    raise ValueError(f"expected more than one character, found {text!r}")
