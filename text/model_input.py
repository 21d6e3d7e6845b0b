"""The model's input for a segment, and its translation with protected parts restored.

A model would invent a translation for a protected part, so it reads a name instead, which most models copy.  For a
quantity it reads another number with the same unit.  The stand-in is replaced in the output.  If it does not come back
exactly once, the model reads the text without it, and the part goes after the same share of words as in the source.

Numbers are left to the model, which may have to write them differently (`3.5`, `3,5`).  If they come back changed, they
are protected too.  A mark is placed around the translation of its words, which are also translated alone to find it
(`asides`).  A text wholly in capitals is read in lower case (`capitals.py`), and its translation is put in capitals.

The model first reads a term of a glossary as it is.  If the translation has the target term, nothing more is needed.
Otherwise the model reads the target term itself, which it often copies and fits into the sentence; then a common noun
of its gender; then a name (`FORCED`).  The stand-in is replaced, and the word before it is adapted (`agreement.py`).

    reading = Reading.of("See {url} for more.")
    reading.model_input                     "See Anna for more."
    reading.restored("Siehe Anna.")         "Siehe {url}."; None if something is missing
    reading.further()                       the next, more careful reading; None after the last
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from os.path import commonprefix
from types import MappingProxyType
from unicodedata import combining, digit, normalize

import regex

from .agreement import disagrees, fitted, forms, nouns
from .capitals import in_capitals, in_lower_case
from .glossary import capitalised, occurrences
from .plain import DOTS, plain
from .protection import DEFAULT_PROTECTION, ProtectedPart, Protection, Span, with_quotes, without

_SPACED = r"\p{Latin}\p{Greek}\p{Cyrillic}"  # scripts with spaces between words and numbers
_NUMBER = regex.compile(  # with adjacent letters and signs
    rf"""\[\p{{Nd}}+\]
    |(?:(?<!\w)[-−+]\s?)?(?:\p{{Sc}}\s?)?
     (?<![{_SPACED}\p{{Nd}}])[{_SPACED}]*\p{{Nd}}[{_SPACED}\p{{Nd}}]*(?:[-–.,:/]\p{{Nd}}[{_SPACED}\p{{Nd}}]*)*
     (?:\s?[%‰°]\p{{Latin}}?(?!\w)|\s?\p{{Sc}})?""",
    regex.VERBOSE,
)
_AMOUNT = regex.compile(r"(\p{Sc}?)[\x20\u00a0\u202f]?(\p{Nd}+(?:[.,]\p{Nd}+)*)(?:[\x20\u00a0\u202f]?(\p{Sc}))?")
_ELSEWHERE = set("-–−.,:/ \u00a0\u202f")  # other languages may change or omit these
_DIGITS = regex.compile(r"\p{Nd}+")
_AT_LETTERS = regex.compile(rf"(?<=[{_SPACED}])\p{{Nd}}+|\p{{Nd}}+(?=[{_SPACED}])")
_BETWEEN_THOUSANDS = regex.compile(r"(?<=\p{Nd})[.,'’\s](?=\p{Nd}{3}(?!\p{Nd}))")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\w\p{M}]+(?:[-'’‑][\w\p{M}]+)*")
_FORM = regex.compile(r"[\w\p{M}]+")  # of a word: without what is elided before it
_UNIT = regex.compile(r"(?<=\d)\s?(?![ap]m)([°º]?\p{L}{1,4}(?:/\p{L}{1,3})?[²³]?)\Z|(%)%\Z")  # 30 cm %d%%
_DIGITS_BEFORE = regex.compile(r"\d{1,30}\Z")
_FIRST = regex.compile(r"(?r)\p{L}+")  # of two words, read backwards
_TRAILS = re.compile(r"(?:\.\.+|…)\s*\Z")
_MARKS = re.compile(r"\s*[!?][\s!?.…]*\Z")  # instead of an ellipsis
_RUN = re.compile(r"[!?]+")
_LAST_RUN = re.compile(r"[!?]{2,}\Z")
_ENDING = re.compile(r"(?<![.!?…\s])(\s?)[\s.!?…]*\Z")
_RANGE = re.compile(r"(?<=\d)-(?=\d)")
_TORN = regex.compile(r"(?<=\d)\s+(?=\d)")  # a range without its dash
_GAP = re.compile(r"\s+")
_NAMES = ("Anna", "Paul", "Laura", "David", "Julia", "Simon", "Emma", "Victor", "Oscar", "Nina")
_OTHER_NUMBERS = ("25", "40", "60", "15", "75", "24", "50", "30", "12", "20")
_CLOSING = ".,;:!?)…"
_ENDS_CLAUSE = ",;:"
ARTICLE = 3  # letters that it has at most
MOST_CARE = 2
LIKE = (0.6, 0.3)  # of the letters of two words that are the same: certain forms of one, and possible ones
FORCED = ("source", "target", "noun", "name")  # what is read for a term, one after the other
_BEGINS = regex.compile(r"(?:\A|[.!?…]\s)[^\p{L}\p{N}.!?…]*\Z")  # before the first word of a sentence
MOST_ASIDES = 8  # in a segment; marks around other words are placed by the share of words


@dataclass(frozen=True)
class ModelInput:
    """A text and the input for the model, `model_input`.

    `stand_ins` replace the protected `parts`; a part with an empty one is left out.  `breaks` is white space between
    sentences: one space for the model, and not restored here.
    """

    text: str
    model_input: str
    parts: tuple[ProtectedPart, ...]
    stand_ins: tuple[str, ...]
    care: int = 0
    prefix: str = ""
    protection: Protection = DEFAULT_PROTECTION
    breaks: tuple[Span, ...] = ()
    forced: int = 0
    unforced: frozenset[str] = frozenset()
    shouted: bool = False  # short words in capitals that are no abbreviations

    @classmethod
    def of(cls, text: str, *, care: int = 0, forced: int = 0, unforced: frozenset[str] = frozenset(), prefix: str = "",
           protection: Protection = DEFAULT_PROTECTION, breaks: Sequence[Span] = ()) -> ModelInput:
        """The reading of a text with this much care.

        Care 0: names replace protected parts, and another number replaces that of a quantity.  Marks and emoji are left
        out.  Care 1: names also replace words in quotation marks, and other numbers replace numbers and whole
        quantities.  Care 2: everything is left out.

        `forced` selects the entry of `FORCED` that replaces terms of the glossary.  `unforced` target terms are exempt,
        because the model writes them by itself.  Parts that `prefix`, the forced prefix of the translation, already
        contains are left out equally often.
        """
        parts = protection.parts(text)
        if care:
            numbers = without(parts, (ProtectedPart(one.span(), "number")
                                      for one in _NUMBER.finditer(protection.masked(text))))
            beside = {place for number in numbers for place in number.span}  # this white space comes back with them
            others = (part for part in parts if part.kind != "space" or beside.isdisjoint(part.span))
            parts = sorted([*others, *numbers], key=lambda part: part.start)
            parts = parts if care == MOST_CARE else with_quotes(text, parts)
        if breaks:
            parts = without([ProtectedPart(one, "space") for one in breaks], parts)
        if not parts and not breaks:
            read = cls(text, plain(text, protection.known).text.strip(), (), (), care, prefix, protection)
            return replace(read, model_input=read._in_its_case(read.model_input))
        known = text.casefold()
        names = [name for name in _NAMES if name.casefold() not in known]
        has_quotes = any(part.kind == "quote" for part in parts)
        spare = {"name": iter(names[::2] if has_quotes else names),
                 "quote": iter(names[1::2]),  # no elision before Paul
                 "number": iter([number for number in _OTHER_NUMBERS if number not in known])}
        stand_ins: list[str] = []
        seen = Counter[str]()
        for part in parts:
            words = text[slice(*part.span)]
            if part.kind == "term":
                kind = FORCED[0 if part.written in unforced else forced]
                stand_ins.append("" if care == MOST_CARE else _read_for_term(
                    part, words, kind, protection, (*stand_ins, known)) or next(spare["name"], ""))
                continue
            seen[words] += 1
            held = bool(prefix) and part.kind in spare and seen[words] <= len(_found(words, prefix))
            left_out = part.kind not in spare or care == MOST_CARE or held
            stand_in = part.written if part.kind == "sign" else "" if left_out else next(spare[part.kind], "")
            unit = stand_in.isdigit() and not care and _UNIT.search(words)
            stand_ins.append(f"{stand_in} {unit[1] or unit[2]}" if unit else stand_in)
        made = cls(text, "", tuple(parts), tuple(stand_ins), care, prefix, protection, tuple(breaks), forced, unforced)
        return replace(made, model_input=made._read((0, len(text))))

    def _read(self, span: Span) -> str:
        """The model's input for a span of the text."""
        read, done = "", span[0]
        known = self.protection.known
        gaps = [(ProtectedPart(one, "space"), "") for one in self.breaks]
        left_out = [*zip(self.parts, self.stand_ins, strict=True), *gaps]
        for part, stand_in in sorted(left_out, key=lambda one: one[0].span):
            if part.start < span[0] or part.end > span[1]:
                continue
            read += plain(self.text[done : part.start], known).text + stand_in
            done = part.end
            if part.kind == "space":
                read = f"{read.rstrip()} "
            elif not stand_in and (not read or read[-1].isspace()):  # one space is enough
                done = _blank_about(self.text, done)[1]
                read = read.rstrip() if self.text[done : done + 1] in _CLOSING else read
            elif not stand_in and self.text[done : done + 1].isalnum():
                read += " "
        return self._in_its_case((read + plain(self.text[done : span[1]], known).text).strip())

    @cached_property
    def is_in_capitals(self) -> bool:
        return self.shouted or in_capitals(self.protection.masked(self.text))

    def _in_its_case(self, read: str) -> str:
        return in_lower_case(read) if self.is_in_capitals else read

    @cached_property
    def asides(self) -> dict[Span, str]:
        """The words inside marks, as the model reads them; their separate translations locate them in the translation.
        """
        spans = dict.fromkeys(self._stands_at(part) for part in self.parts
                              if part.kind in ("mark", "quote") or part.is_second)
        read = ((span, self._read(span)) for span in spans if span and not self._is_whole(span))
        return dict(islice(((span, text) for span, text in read if any(map(str.isalnum, text))), MOST_ASIDES))

    def _stands_at(self, part: ProtectedPart) -> Span | None:
        """The span inside a mark; the first of two words with a slash between them."""
        return _FIRST.search(self.text, 0, part.start).span() if part.is_second else part.inside

    @property
    def bracketed(self) -> list[Span]:
        """The spans that are translated separately."""
        return [part.inside for part in self.parts if part.inside and part.kind == "aside"]

    def _trailing(self, translation: str) -> str:
        """The translation with the ellipsis of the text."""
        if "…" in self.text and DOTS not in self.text:
            translation = translation.replace(DOTS, "…")
        if "–" in self.text:
            translation = _RANGE.sub("–", translation)
        translation = self._marked(translation)
        trailing = _TRAILS.search(self.text)
        if not trailing or not translation.strip():
            return translation
        ends = _MARKS.search(translation) if not _MARKS.search(self.text) else None
        return translation[: ends.start() if ends else None].rstrip().rstrip(".…") + trailing[0]

    def _marked(self, translation: str) -> str:
        """The translation with the runs of marks (`?!`) of the text, which the model reads as one."""
        own, last = _RUN.findall(self.protection.masked(self.text)), _LAST_RUN.search(self.text.rstrip())
        if max(map(len, own), default=0) > 1 and len(own) == len(_RUN.findall(translation)):
            runs = iter(own)
            return _RUN.sub(lambda _: next(runs), translation)
        return _ENDING.sub(rf"\g<1>{last[0]}", translation, count=1) if last else translation

    def _is_whole(self, span: Span) -> bool:
        """Whether a span holds all words of the text."""
        return not _WORD.search(self.text, 0, span[0]) and not _WORD.search(self.text, span[1])

    def further(self, translation: str = "") -> ModelInput | None:
        """The next reading of the text that differs; None if there is none.  Terms that the translation already has
        stay.
        """
        kinds = range(len(FORCED) if self.has_terms else 1)
        after = [(forced, care) for forced in kinds for care in range(MOST_CARE)
                 if (forced, care) > (self.forced, self.care)]
        written = self._written_in(translation) if self.has_terms else frozenset[str]()
        ways = (ModelInput.of(self.text, care=care, forced=forced, unforced=written, prefix=self.prefix,
                           protection=self.protection, breaks=self.breaks)
                for forced, care in [*after, *[(kinds[-1], MOST_CARE)] * (self.care < MOST_CARE)])
        return next((way for way in ways if way.model_input != self.model_input), None)

    def _written_in(self, translation: str) -> frozenset[str]:
        """The target terms in a translation, of those that were read as they are."""
        read = Counter(part.written for part in self.parts if part.kind == "term" and (
            not self.forced or part.written in self.unforced))
        found = occurrences(map(self._cased, read), self._cased(translation))
        return frozenset(term for term, count in read.items() if len(found[self._cased(term)]) >= count)

    @cached_property
    def has_terms(self) -> bool:
        return any(part.kind == "term" for part in self.parts)

    def restored(self, translation: str, asides: Mapping[Span, Sequence[str]] = MappingProxyType({})) -> str | None:
        """The translation with the parts restored, and marks placed by the translations of the `asides`, best first.

        None if a stand-in did not come back exactly once, or if numbers changed and there is a further reading.
        """
        if _changed(self.model_input, translation) and self.further() is not None:
            return None
        translation = self._trailing(self._cased(translation))
        if not self.parts:
            return translation
        terms = self._terms_in(translation)
        if terms is None:
            return None
        placing, left_out = _Placing(self, translation, asides), Counter[str]()
        if not self.care and any(placing.lacks(part.inside) for part in with_quotes(self.text, self.parts)
                                 if part.kind == "quote" and part.inside) and self.further() is not None:
            return None
        places: list[tuple[int, int, ProtectedPart]] = [(*span, part) for span, part in terms]
        for part, stand_in in zip(self.parts, self.stand_ins, strict=True):
            if part.kind == "sign" or (part.kind == "term" and stand_in):
                continue
            words = self._cased(part.written) or self.text[slice(*part.span)]
            stand_in = self._cased(stand_in)
            found = _found(stand_in, translation) if stand_in else [placing.place(part)]
            if len(found) != 1:
                return None
            left_out[words] += not stand_in
            may_be_there = not stand_in and part.kind in ("name", "number", "term")
            if not may_be_there or left_out[words] > len(_found(words, translation)):
                places.append((*found[0], part))
        for start, end, part in sorted(places, key=lambda place: (*place[:2], place[2].span), reverse=True):
            translation = placing.put(translation, (start, end), part)
        return translation

    def _terms_in(self, translation: str) -> list[tuple[Span, ProtectedPart]] | None:
        """The spans of terms or their stand-ins in the translation, each with its term.

        None if one is missing, or if a stand-in occurs too often.  Terms that are read as they are may occur several
        times.
        """
        if not self.has_terms:
            return []
        languages = {"source": self.protection.language, "target": self.protection.target}
        wanted: dict[tuple[str, ...], list[ProtectedPart]] = {}
        for part, stand_in in zip(self.parts, self.stand_ins, strict=True):
            kind = self._kind(part)
            if kind and stand_in:
                texts = [part.written] if kind in ("source", "target") else forms(stand_in, **languages)
                wanted.setdefault(tuple(map(self._cased, texts)), []).append(part)
        found = occurrences([one for each in wanted for one in each], translation)
        places: list[tuple[Span, ProtectedPart]] = []
        for each, parts in wanted.items():
            kind = self._kind(parts[0])
            spans = sorted(span for one in each for span in found[one])
            if len(spans) < len(parts) or (len(spans) > len(parts) and kind != "source"):
                return None
            if kind == "target" and any(disagrees(translation[:start], each[0], language=self.protection.target)
                                        for start, _ in spans):
                return None
            places += zip(spans, parts, strict=False) if kind != "source" else ()
        return places

    def _cased(self, text: str) -> str:
        """A text from the translation, which is in capitals if the source is."""
        return text.upper() if self.is_in_capitals else text

    def _kind(self, part: ProtectedPart) -> str:
        """The kind of stand-in for a term; empty for other parts."""
        return "" if part.kind != "term" else FORCED[0 if part.written in self.unforced else self.forced]


def _read_for_term(part: ProtectedPart, words: str, kind: str, protection: Protection, taken: Sequence[str]) -> str:
    """The model's input for a term; empty for a name, and if every noun is `taken` by the text."""
    if kind == "source":
        return plain(words, protection.known).text
    if kind == "target":
        return capitalised(part.written) if words[0].isupper() else part.written
    some = nouns(part.written, words, source=protection.language, target=protection.target) if kind == "noun" else ()
    return next((noun for noun in some if not any(noun in text for text in taken)), "")


def _found(words: str, text: str) -> list[Span]:
    """The occurrences of words in the text with any spaces, except inside a longer word or number."""
    before = r"(?<![^\W_])" if words[0].isalnum() else ""
    after = r"(?![^\W_])" if words[-1].isalnum() else ""
    return [match.span() for match in re.finditer(before + re.escape(words).replace(r"\ ", r"\s?") + after, text)]


def _changed(source: str, translation: str) -> bool:
    """Whether a translation has other numbers or amounts of money, letters attached to more of them, or fewer of their
    signs."""
    return (_numbers(source) != _numbers(translation)
            or _amounts(source) != _amounts(translation)
            or not _numbers(translation, _AT_LETTERS) <= _numbers(source, _AT_LETTERS)
            or len(_RANGE.findall(source)) > 0 == len(_RANGE.findall(translation)) < len(_TORN.findall(translation))
            or any(not char.isalnum() and source.count(char) > translation.count(char)
                   for number in _NUMBER.findall(source) for char in set(number) - _ELSEWHERE))


def _amounts(text: str) -> Counter[tuple[str, str]]:
    """The amounts of money in a text, each the sign of its currency with its digits."""
    found = _AMOUNT.findall(_BETWEEN_THOUSANDS.sub("", text))
    return Counter((sign, "".join(str(digit(one)) for one in number if one.isdigit()))
                   for before, number, after in found for sign in (before, after) if sign)


def _numbers(text: str, pattern: regex.Pattern[str] = _DIGITS) -> Counter[str]:
    """The numbers in a text, in any script and with any thousands separator."""
    runs = pattern.findall(_BETWEEN_THOUSANDS.sub("", text))
    return Counter("".join(str(digit(one)) for one in run) for run in runs)


class _Placing:
    """Puts parts of a source into its translation."""

    def __init__(self, reading: ModelInput, translation: str, asides: Mapping[Span, Sequence[str]]):
        self.reading, self.translation, self.asides = reading, translation, asides
        self.source = reading.text
        read, done = "", 0  # as long as the source, with one word per stand-in
        for part, stand_in in zip(reading.parts, reading.stand_ins, strict=True):
            read += self.source[done : part.start] + ("x" if stand_in else " ") * (part.end - part.start)
            done = part.end
        self.words = [match.start() for match in _WORD.finditer(read + self.source[done:])]
        self.ends = [match.end() for match in _WORD.finditer(translation)]
        self.gaps = [match.span() for match in _GAP.finditer(translation)]
        self.source_end = len(self.source.rstrip())

    def place(self, part: ProtectedPart) -> Span:
        """The position of a part without stand-in.

        Marks go beside their words.  White space goes to the next gap.  Any other part goes after the same share of
        words as in the source, or to the same end.
        """
        inside = self.reading._stands_at(part)
        if inside and (part.is_beside or part.is_second):
            place = self._around(inside)[not part.opens]
            return place, place
        if part.kind == "space":
            return self._gap(part)
        place = self._end(part.start)
        if part.end >= self.source_end:
            place = len(self.translation)
        elif (mark := self.source[part.end]) in _ENDS_CLAUSE and (
                self.source.count(mark) == self.translation.count(mark)):
            place = self._same(mark, self.source.count(mark, 0, part.end))
        elif inside and part.kind == "mark":
            place = self._around(inside)[1]
        return place, place

    def _same(self, mark: str, number: int) -> int:
        """The position in the translation of a mark of the source, by the number of equal marks before it."""
        place = -1
        for _ in range(number + 1):
            place = self.translation.index(mark, place + 1)
        return len(self.translation[:place].rstrip())

    def _share(self, place: int, count: int) -> int:
        """The number of words, of `count`, that correspond to the words before a position in the source."""
        return round(bisect_left(self.words, place) * count / max(len(self.words), 1))

    def _end(self, place: int) -> int:
        """The end of the word of the translation that corresponds to the last word before a position in the source."""
        number = self._share(place, len(self.ends))
        return self.ends[number - 1] if number else 0

    def _gap(self, part: ProtectedPart) -> Span:
        """The gap between words of the translation for white space of the source; each gap serves once."""
        if not self.gaps:
            return (self._end(part.start),) * 2
        number = _DIGITS_BEFORE.search(self.source, 0, part.start)
        found = _found(number[0], self.translation) if number else []
        place = found[0][1] if len(found) == 1 else self._end(part.start)
        return self.gaps.pop(min(range(len(self.gaps)), key=lambda number: abs(self.gaps[number][0] - place)))

    def _around(self, inside: Span) -> Span:
        """The span in the translation of the words at `inside` in the source."""
        forms = [match.span() for match in _FORM.finditer(self.translation)]
        if not forms:
            return 0, len(self.translation)
        if self.reading._is_whole(inside):
            return forms[0][0], forms[-1][1]
        if found := self._likest(inside, forms):
            return found
        count = self._count(inside)
        first = min(self._share(inside[0], len(forms)), len(forms) - 1)
        if _FORM.fullmatch(self.source, *inside) and inside[1] - inside[0] > ARTICLE:
            first = next((number for number in range(first, len(forms))
                          if forms[number][1] - forms[number][0] > ARTICLE), first)
        last = min(first + max(1, round(count * len(forms) / max(len(self.words), 1))), len(forms))
        return forms[first][0], forms[last - 1][1]

    def lacks(self, inside: Span) -> bool:
        """Whether the words at `inside` in the source were translated by themselves, and nothing is like that."""
        forms = [match.span() for match in _FORM.finditer(self.translation)]
        return inside in self.asides and self._likest(inside, forms) is None

    def _count(self, inside: Span) -> int:
        """The number of words at `inside` in the source."""
        return bisect_left(self.words, inside[1]) - bisect_left(self.words, inside[0])

    def _likest(self, inside: Span, forms: Sequence[Span]) -> Span | None:
        """The words of the translation that are most like the separate translations of those at `inside`; None if none
        are."""
        count = self._count(inside)
        first = min(self._share(inside[0], len(forms)), len(forms) - 1)
        several = [words for one in self.asides.get(inside, ()) if (words := _FORM.findall(one.casefold()))]
        alone = several[0] if several else []
        if count == 1:  # a word alone is translated with an article; any of its translations may be there
            alone = [max(reversed(words), key=len) for words in several]
        for share in LIKE:
            weights = [max((_likeness(self.translation[slice(*form)].casefold(), one, share) for one in alone),
                           default=0) for form in forms]
            if any(weights):
                break
        else:
            return None
        size = min(1 if count == 1 else len(alone), len(forms))
        best = max(range(len(forms) - size + 1),
                   key=lambda start: (sum(weights[start : start + size]), -abs(start - first)))
        kept = [number for number in range(best, best + size) if weights[number]]
        return forms[kept[0]][0], forms[kept[-1]][1]

    def put(self, text: str, place: Span, part: ProtectedPart) -> str:
        """Insert a part with the surrounding white space of the source, if there is any."""
        if part.kind == "space" or part.is_beside:
            return text[: place[0]] + self._written(part) + text[place[1] :]
        if part.kind == "term" and self.reading._is_whole(part.span):  # then the text has no article
            before = _WORD.sub("", text[: place[0]]).strip()
            text, place = before + text[place[0] :], (len(before), len(before) + place[1] - place[0])
        start, end = _blank_about(text, place[0])[0], _blank_about(text, place[1])[1]
        own = text[start : place[0]], text[place[1] : end]
        first, last = _blank_about(self.source, part.start)[0], _blank_about(self.source, part.end)[1]
        spaces = self.source[first : part.start], self.source[part.end : last]
        words = self._written(part, text[:start])
        is_new = place[0] == place[1]
        needs = is_new and start > 0, is_new and text[end : end + 1] not in _CLOSING
        may_touch = not is_new or part.kind == "mark" or not any(map(str.isalnum, words))
        glued = ((may_touch or not words[0].isalnum()) and self.source[max(part.start - 1, 0) : part.start].isalnum(),
                 may_touch and self.source[part.end : part.end + 1].isalnum())
        left, right = ("" if stuck else (space or mine) if mine else (space or " ") if need else ""
                       for stuck, space, mine, need in zip(glued, spaces, own, needs, strict=True))
        before = text[:start] + left
        if part.kind in ("name", "term"):
            before = fitted(before, words, language=self.reading.protection.target)
        return before + words + right + text[end:]

    def _written(self, part: ProtectedPart, before: str = "") -> str:
        """The text of a part in the translation."""
        start, end = part.span
        if part.kind == "term":
            if self.reading.is_in_capitals:
                return part.written if part.written == self.source[start:end] else part.written.upper()
            begins = self.source[:1].isupper() and _BEGINS.search(before)
            return capitalised(part.written) if begins else part.written
        if part.inside and part.kind in ("aside", "quote"):
            (first, last), source = part.inside, self.source
            known = self.asides.get(part.inside) or (source[first:last],)
            is_word = _FORM.fullmatch(source, first, last)  # whose translation needs no article
            inside = next((one for one in known if " " not in one), known[0]) if is_word else known[0]
            return source[start:first] + inside + source[last:end]
        return self.source[start:end]


def _likeness(word: str, other: str, share: float) -> int:
    """How likely two words are forms of one: the number of letters that they share at the start, 0 if they are less
    than a share of the longer word."""
    shared = len(commonprefix([_bare(word), _bare(other)]))
    return shared if word == other or shared >= max(3, share * max(len(word), len(other))) else 0


def _bare(word: str) -> str:
    """A word without accents."""
    return word if word.isascii() else "".join(char for char in normalize("NFD", word) if not combining(char))


def _blank_about(text: str, place: int) -> Span:
    """The white space around a position, in time independent of the length of the text."""
    start = end = place
    while start and text[start - 1].isspace():
        start -= 1
    while text[end : end + 1].isspace():
        end += 1
    return start, end
