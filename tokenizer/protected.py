"""Protects parts of a text that are not language during translation.

URLs, e-mail addresses, paths, placeholders, emoji and private-use characters stay exactly the same in a translation.  A
model would invent something for them, so it reads a name instead, which most models copy, and the name is replaced in
its output.  If a name does not come back exactly once, the model reads the text without it, and the protected part is
placed after the same share of words as in the source.  Numbers are left to the model, which may have to write them
differently (`3.5`, `3,5`), unless they come back changed: then they are protected too.

    reading = Reading.of("See {url} for more.")
    reading.model_input                     "See Anna for more."
    reading.restored("Siehe Anna.")         "Siehe {url}."; None if something is missing
    reading.further()                       the next, more careful reading; None after the last

To protect anything else, replace it by a private-use character.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from unicodedata import digit

import regex

Span = tuple[int, int]

# Each alternative can begin only where no other match of it can: time is linear in the text.
_EMOJI = r"(?:(?=[\p{Extended_Pictographic}\p{RI}])\X|[0-9#*]\ufe0f?\u20e3)+"
_ADDRESS = r"(?:\([^\s()<>]*\)|[^\s()<>\"“”«»])*(?:\([^\s()<>]*\)|[^\s()<>\"“”«».,;:!?'’…\]}。，！？।])"
_STEP = r"/[\w.@%+~-]*[\w@%+~-]"
_EXTENSION = r"(?-i:[a-z0-9]{1,5}|[A-Z0-9]{1,5})(?!\w)"
_PROTECTED = regex.compile(
    rf"""(?P<emoji>{_EMOJI})
    |\{{\{{[^{{}}\n]*\}}\}} | \$\{{[^{{}}\n]*\}} | \{{[^{{}}\s]*\}}
    |(?<![\w%])%(?:\(\w+\)|\d+\$)?[-+\#0]*\d*(?:\.\d+)?[hlqjzt]*[diouxXeEfFgGcrsa@](?!\w)
    |(?<![\w+.-])(?:[a-z][a-z0-9+.-]*+://|www\.|(?:[a-z0-9-]++\.){{1,9}}[a-z]{{2,}}+/){_ADDRESS}
    |(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)+
    |(?<![\w+.-])(?:[a-z0-9-]++\.){{1,9}}(?:com|org|net|edu|gov|io|dev)\b
    |(?<![\w/])(?:[a-z]:[\\/]|\\\\)[^\s"“”«»<>|?*]*[^\s"“”«»<>|?*.,;:!)]
    |(?<![\w/.<])(?:~|\.{{1,2}})(?:{_STEP})++/?
    |(?<![\w/.<])(?:{_STEP}(?:{_STEP})++/?|{_STEP}/|/[\w@%+~-]+\.{_EXTENSION})
    |(?<![\w/.-])(?:[\w.-]++/){{1,99}}[\w-]++\.{_EXTENSION}
    |\p{{Co}}""",
    regex.IGNORECASE | regex.VERBOSE,
)
# A quick check: a text without any of these has nothing to protect.
_SIGN = re.compile(r"[@{%/\\©®\u203c-\u3299\ue000-\uf8ff\U0001f000-\U0010ffff]|\.\w|www")
_SPACED = r"\p{Latin}\p{Greek}\p{Cyrillic}"  # scripts with spaces between words and numbers
_NUMBER = regex.compile(  # with adjacent letters and signs
    rf"""\[\p{{Nd}}+\]
    |(?:(?<!\w)[-−+]\s?)?(?:\p{{Sc}}\s?)?
     (?<![{_SPACED}\p{{Nd}}])[{_SPACED}]*\p{{Nd}}[{_SPACED}\p{{Nd}}]*(?:[-.,:/]\p{{Nd}}[{_SPACED}\p{{Nd}}]*)*
     (?:\s?[%‰°]\p{{Latin}}?(?!\w)|\s?\p{{Sc}})?""",
    regex.VERBOSE,
)
_ELSEWHERE = set("-−.,:/ \u00a0\u202f")  # other languages may change or omit these
_DIGITS = regex.compile(r"\p{Nd}+")
_AT_LETTERS = regex.compile(rf"(?<=[{_SPACED}])\p{{Nd}}+|\p{{Nd}}+(?=[{_SPACED}])")
_BETWEEN_THOUSANDS = regex.compile(r"(?<=\p{Nd})[.,'’\s](?=\p{Nd}{3}(?!\p{Nd}))")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\w\p{M}]+(?:[-'’‑][\w\p{M}]+)*")
_NAMES = ("Anna", "Paul", "Laura", "David", "Julia", "Simon", "Emma", "Victor", "Oscar", "Nina")
_OTHER_NUMBERS = ("25", "40", "60", "15", "75", "24", "50", "30", "12", "20")
_CLOSING = ".,;:!?)…"
MOST_CARE = 2


def protected_spans(text: str) -> list[Span]:
    """The spans of a text that must not change, without numbers."""
    return [match.span() for match in _matches(text)]


def has_words(text: str) -> bool:
    """Whether there is anything to translate: an unprotected letter."""
    return any(map(str.isalpha, masked(text)))


def masked(text: str) -> str:
    """The text at the same length, with underscores for protected parts, so that no sentence ends inside them."""
    return _PROTECTED.sub(lambda match: "_" * len(match[0]), text) if _SIGN.search(text) else text


def _matches(text: str) -> list[regex.Match[str]]:
    return list(_PROTECTED.finditer(text)) if _SIGN.search(text) else []


@dataclass(frozen=True)
class Reading:
    """A text as a model reads it: `model_input`.

    The protected `spans` of the text are replaced by stand-ins; those with an empty one are left out.
    """

    text: str
    model_input: str
    spans: tuple[Span, ...]
    stand_ins: tuple[str, ...]
    care: int
    prefix: str = ""

    @classmethod
    def of(cls, text: str, *, care: int = 0, prefix: str = "") -> Reading:
        """Care 0: names replace protected parts; emoji are left out.  1: other numbers replace numbers too.  2:
        everything is left out.

        Parts that `prefix`, the forced prefix of the translation, already contains are left out equally often.
        """
        matches = _matches(text)
        if care:
            matches = sorted([*matches, *_NUMBER.finditer(masked(text))], key=lambda match: match.start())
        known = text.casefold()
        names = iter([name for name in _NAMES if name.casefold() not in known])
        numbers = iter([number for number in _OTHER_NUMBERS if number not in known])
        stand_ins, model_input, done = [], "", 0
        seen = Counter[str]()
        for match in matches:
            is_number = match.re is _NUMBER
            seen[match[0]] += 1
            held = seen[match[0]] <= len(_found(match[0], prefix))
            left_out = care == MOST_CARE or held or (not is_number and match["emoji"])
            stand_ins.append("" if left_out else next(numbers if is_number else names, ""))
            model_input += text[done : match.start()] + stand_ins[-1]
            done = match.end()
            if not stand_ins[-1] and (not model_input or model_input[-1].isspace()):  # one space is enough
                done = _blank_about(text, done)[1]
                model_input = model_input.rstrip() if text[done : done + 1] in _CLOSING else model_input
            elif not stand_ins[-1] and text[done : done + 1].isalnum():
                model_input += " "
        spans = tuple(match.span() for match in matches)
        return cls(text, (model_input + text[done:]).strip(), spans, tuple(stand_ins), care, prefix)

    def further(self) -> Reading | None:
        """The next reading of the text that differs; None if there is none."""
        ways = (Reading.of(self.text, care=care, prefix=self.prefix) for care in range(self.care + 1, MOST_CARE + 1))
        return next((way for way in ways if way.model_input != self.model_input), None)

    def restored(self, translation: str) -> str | None:
        """The translation with the protected parts restored; None if a stand-in has not come back exactly once, or if
        numbers have changed and there is a further reading."""
        if _changed(self.model_input, translation) and self.further() is not None:
            return None
        placing, left_out = _Placing(self, translation), Counter[str]()
        places: list[tuple[int, int, Span]] = []
        for span, stand_in in zip(self.spans, self.stand_ins, strict=True):
            part = self.text[slice(*span)]
            found = _found(stand_in, translation) if stand_in else [placing.place(span)]
            if len(found) != 1:
                return None
            left_out[part] += not stand_in
            if stand_in or left_out[part] > len(_found(part, translation)):
                places.append((*found[0], span))
        for start, end, span in sorted(places, reverse=True):
            translation = placing.put(translation, (start, end), span)
        return translation


def _found(words: str, text: str) -> list[Span]:
    """Their occurrences in the text, not as part of a longer word or number."""
    before = r"(?<![^\W_])" if words[0].isalnum() else ""
    after = r"(?![^\W_])" if words[-1].isalnum() else ""
    return [match.span() for match in re.finditer(before + re.escape(words) + after, text)]


def _changed(source: str, translation: str) -> bool:
    """Whether a translation has other numbers, letters attached to more of them, or fewer of their signs."""
    return (_numbers(source) != _numbers(translation)
            or not _numbers(translation, _AT_LETTERS) <= _numbers(source, _AT_LETTERS)
            or any(not char.isalnum() and source.count(char) > translation.count(char)
                   for number in _NUMBER.findall(source) for char in set(number) - _ELSEWHERE))


def _numbers(text: str, pattern: regex.Pattern[str] = _DIGITS) -> Counter[str]:
    """The numbers in a text, in any script and with any thousands separator."""
    runs = pattern.findall(_BETWEEN_THOUSANDS.sub("", text))
    return Counter("".join(str(digit(one)) for one in run) for run in runs)


class _Placing:
    """Puts parts of a source into its translation."""

    def __init__(self, reading: Reading, translation: str):
        self.source = reading.text
        read, done = "", 0  # as long as the source, with one word per stand-in
        for (start, end), stand_in in zip(reading.spans, reading.stand_ins, strict=True):
            read += self.source[done:start] + ("x" if stand_in else " ") * (end - start)
            done = end
        self.words = [match.start() for match in _WORD.finditer(read + self.source[done:])]
        self.ends = [match.end() for match in _WORD.finditer(translation)]
        self.end = len(translation)
        self.source_end = len(self.source.rstrip())

    def place(self, span: Span) -> Span:
        """After the same share of words as in the source; at an end if it is there in the source."""
        before = bisect_left(self.words, span[0])
        number = round(before * len(self.ends) / max(len(self.words), 1))
        place = self.ends[number - 1] if number else 0
        if span[1] >= self.source_end:
            place = self.end
        return place, place

    def put(self, text: str, place: Span, span: Span) -> str:
        """Insert a part with the surrounding white space of the source, if there is any."""
        start, end = _blank_about(text, place[0])[0], _blank_about(text, place[1])[1]
        own = text[start : place[0]], text[place[1] : end]
        first, last = _blank_about(self.source, span[0])[0], _blank_about(self.source, span[1])[1]
        spaces = self.source[first : span[0]], self.source[span[1] : last]
        part = self.source[slice(*span)]
        is_new = place[0] == place[1]
        needs = is_new and start > 0, is_new and text[end : end + 1] not in _CLOSING
        may_touch = not is_new or not any(map(str.isalnum, part))
        glued = (may_touch and self.source[max(span[0] - 1, 0) : span[0]].isalnum(),
                 may_touch and self.source[span[1] : span[1] + 1].isalnum())
        left, right = ("" if stuck else (space or mine) if mine else (space or " ") if need else ""
                       for stuck, space, mine, need in zip(glued, spaces, own, needs, strict=True))
        return text[:start] + left + part + right + text[end:]


def _blank_about(text: str, place: int) -> Span:
    """The white space around a place, in time independent of the length of the text."""
    start = end = place
    while start and text[start - 1].isspace():
        start -= 1
    while text[end : end + 1].isspace():
        end += 1
    return start, end
