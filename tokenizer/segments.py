"""Splits a text into segments for translation, and joins the translations in the same layout.

A sentence is translated alone, unless it may need the one before, which has the antecedent of its first pronoun ("The
owl lent the ladder to the crow.  It was grateful."): then they stay together, as many as the model was trained on.
Others are best translated alone: context can only mislead a small model.  A line break always separates.  Parts without
words (`...`, `12345`, a URL, a list or quotation mark) are not translated: they go between the segments, like white
space.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from unicodedata import category, normalize

import regex
from sentencex import segment

from .protected import has_words, masked, protected_spans

_LINE_BREAK = re.compile(r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_MARKS = re.compile(r"\s*(?:(?:[-*•>#–—]+|\d+[.)])\s+)*")  # of lists, headings, quotations and speech
_AFTER = regex.compile(r"\s*:\s+|\s+(?=\p{Lu})")  # separates a URL from a sentence
_SPACE = re.compile(r"[^\S\x00-\x7f]")
_PLACES = (  # where a text may be split in two, best places first
    regex.compile(r"(?<=[.!?…。！？।॥]['\"”’»)]*)\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?<=[,;:،؛、，；：–—])\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?=\s)"),
    regex.compile(r"(?<=\X)(?=\X)"),
)

EARLY = 3  # words at the start of a sentence, where a pronoun cannot refer to its own sentence
_REFERRING = {  # third-person pronouns whose translation depends on their antecedent
    "de": "er sie es ihn ihm ihnen",
    "en": "it itself they them themselves",
    "es": "él ella ello ellos ellas",
    "fr": "il ils elle elles lui eux",
}
_PRONOUNS = {language: frozenset(words.split()) for language, words in _REFERRING.items()}
_WORD = regex.compile(r"[\p{L}\p{M}]+")


@dataclass(frozen=True)
class Cut:
    """The segments of a text, without surrounding white space, and the text before, between and after them."""

    segments: tuple[str, ...]
    between: tuple[str, ...]  # one more than segments

    @property
    def whole(self) -> bool:
        """Whether the whole text is the only segment."""
        return self.between == ("", "")

    def join(self, translations: Sequence[str]) -> str:
        """The text with each segment replaced by its translation."""
        pairs = zip(translations, self.between[1:], strict=True)
        return self.between[0] + "".join(text + after for text, after in pairs)

    def starts(self, texts: Sequence[str]) -> list[int]:
        """The start of each of these texts, segments or translations, in the result of `join`."""
        lengths = (len(text) + len(after) for text, after in zip(texts, self.between[1:], strict=True))
        return list(accumulate(lengths, initial=len(self.between[0])))[:-1]

    def joined(self, count: int) -> "Cut":
        """The same with the first `count` segments joined."""
        first = Cut(self.segments[:count], ("", *self.between[1:count], "")).join(self.segments[:count])
        return Cut((first, *self.segments[count:]), (self.between[0], *self.between[count:]))

    def replaced(self, index: int, cut: "Cut") -> "Cut":
        """The same with one segment split further."""
        before, after = self.between[: index + 1], self.between[index + 1 :]
        between = (*before[:-1], before[-1] + cut.between[0], *cut.between[1:])
        return Cut((*self.segments[:index], *cut.segments, *self.segments[index + 1 :]),
                   (*between[:-1], between[-1] + after[0], *after[1:]))


def cut_sentences(text: str, *, language: str, together: int = 1) -> Cut:
    """Split into sentences, each with following ones in its line that refer back: at most `together` in a segment."""
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


def refers_back(sentence: str, *, language: str) -> bool:
    """Whether a sentence may need the one before; False for languages not listed here."""
    words = islice(_WORD.finditer(normalize("NFC", sentence)), EARLY)
    return any(word.group().casefold() in _PRONOUNS.get(language, ()) for word in words)


def halves(text: str) -> Cut:
    """Split near the middle: between sentences if possible, else clauses, words, characters.  ValueError for one
    character."""
    place = _near_middle(text)
    first, second = text[:place].rstrip(), text[place:].lstrip()
    return Cut((first, second), ("", text[len(first) : len(text) - len(second)], ""))


def count_sentences(text: str, *, language: str) -> int:
    """The number of sentences with words."""
    return sum(map(has_words, _sentences(text, language)))


def _edges(part: str) -> tuple[int, int]:
    """The span to translate in a part with words: without marks at its start, and protected parts set apart by
    colons."""
    start, end = len(_MARKS.findall(part)[0]), len(part.rstrip())
    for first, last in protected_spans(part):
        after = _AFTER.match(part, last)
        is_noun = part[first] in "{$%" or category(part[first]) == "Co"  # or may be one
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
    """Sentences by sentencex, with all spaces as ASCII, since some others (`C\u00a0.`) make it panic."""
    ends = accumulate(map(len, segment(language, masked(_SPACE.sub(" ", text)))))
    return [text[begin:end] for begin, end in pairwise([0, *ends, len(text)]) if begin < end]


def _near_middle(text: str) -> int:
    """Where to split, never at an end, and not inside a protected part if there is another place."""
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    protected = {place for start, stop in protected_spans(text) for place in range(start + 1, stop)}
    for barred in (protected, set[int]()):
        for pattern in _PLACES:
            places = [place for match in pattern.finditer(text) if begin < (place := match.start()) < end
                      and place not in barred]
            if places:
                return min(places, key=lambda place: abs(2 * place - len(text)))
    raise ValueError(f"expected more than one character, got {text!r}")
