"""Splits a text into segments for translation, and joins the translations in the same layout.

A sentence is translated alone unless it may need the one before it for the antecedent of its first pronoun ("The owl
lent the ladder to the crow.  It was grateful.").  Such sentences stay together, up to the number that the model was
trained on.  Other sentences are best translated alone, because context can only mislead a small model.  A line break
separates, unless a sentence that has begun clearly goes on in the next line.  Parts without words (`...`, `12345`, a
URL, a list or quotation mark) are not translated: they go between the segments, like white space.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, takewhile
from unicodedata import category, normalize

import regex
from sentencex import segment

from seq2see.rules import EARLY_WORDS, LABELS, OPEN_WORDS, REFERRING_PRONOUNS
from ..tokenizer.language_codes import iso
from .plain import INVISIBLE, double_quoted
from .protection import DEFAULT_PROTECTION, EMOJI, ProtectedPart, Protection, Span

_LINE_BREAK = re.compile(  # also as it is written in code; arrows of a path through menus
    r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|(?<![:\\])(?:\\[nrt])+(?![a-z0-9_])|(?<=\s)[→⇒➔➜▶›](?=\s)"
    r"|(?<=[^\W\d_]\s)>(?=\s[^\W\d_]))")
_ENDED = regex.compile(r"[.!?…:;。！？।|][\p{Pf}\p{Pe}\"']*\Z")
_OPEN_WORDS = frozenset(OPEN_WORDS.split())
_BEGINS_SMALL = regex.compile(r"[^\p{L}\n]*\p{Ll}")
_GOES_ON = regex.compile(r"[^\S\n]*(?!\w[.)]\s|[^\s:]+:(?:\s|\Z))(?:(?P<small>\p{Ll})|\p{L})?")
_CODE = (  # a label that is no word: Q: f(api): or stays: TODO (Ann):
    r"(?:[A-Z]{1,2}(?:\ @[\w@]+)?|[a-z]|\w+\([\w/-]{2,}\)!?|[A-Z][\w-]*-by"
    rf"|(?:{LABELS})(?:\ \([\w/-]+\))?):")
_MARKS = re.compile(  # of lists, headings, quotations and speech
    rf"\s*(?:(?:[-*•>#–—]+|//+|\d+[.)]|[A-Za-z]\)|[a-z]\.|{_CODE})(?:\s+|\Z)|—+(?=[^\W\d_])"
    r"|[-–](?=[A-ZÀ-ÖØ-Þ][^\W\d_]*[\s,.!?]))*")
_AFTER = regex.compile(r"\s*:\s+|\s+(?=\p{Lu})")  # separates a URL from a sentence
_SPACE = re.compile(r"[^\S\x00-\x7f]")
_BLANK = regex.compile(rf"(?:{INVISIBLE}|[\s\x1c-\x1f])+", regex.V1)
_HEAD = regex.compile(rf"{_BLANK.pattern}|[-–—]+\s+", regex.V1)  # white space, or a dash of speech inside a tag
_ELLIPSIS = regex.compile(r"…(?=['\"”’»)]*\s+['\"“‘«(¿¡]*[\p{Lu}\p{Lo}])")  # ends a sentence
_EMOJI_END = regex.compile(rf"\w\s+\w+\W*{EMOJI}\s+(?=\p{{Lu}})")  # so does an emoji after some words
_PIECE = regex.compile(r"(?s).{1,5000}(?:(?P<end>(?<=[.!?…。！？।॥])\s)|\Z)|.{5000}")  # of a very long line
_MAY_CUT = re.compile(r"\A\s*[(\[]|:[\s*]|:\Z|\s[-–—―&]|\S(?:—|–|--)[^\W\d_]|\||___|\.{5}")
_ABBREVIATED = regex.compile(  # St. in; e.g. near
    r"\b(?:\p{Lu}[b-df-hj-np-tv-xz]{1,3}|\p{L}\.\p{L})\.\K\s+(?=\p{Ll})")
_TABS = re.compile(r"(?<=[^\t])(\t+)(?=[^\t])")
_NAMED = r"(?:[^\s:;,.!?|\"“”]|[:.](?=[^\s:.]))+"  # a word before a colon
_BEGIN_CLAUSE = (  # words that no compound begins its second part with: the Paris–London train
    "he|she|it|I|we|they|you|this|that|there|but|and|or|so|not|no|yes|very|the|an?|my|his|her|our|their|which|who|when"
    "|if|because|er|sie|es|ich|wir|ihr|das|aber|und|oder|nicht|sehr|ein|eine|il|elle|je|nous|vous|ils|mais|et|ou|pas"
    "|très|le|la|les|un|une|él|ella|yo|nosotros|pero|no|muy|el|los|una")
_LABEL = rf"{_NAMED}(?:\ {_NAMED}){{0,2}}"
_CELLS = regex.compile(  # what stands between parts of a line: columns, blanks to fill in, dashes, the colons of labels
    rf"""\A\s*(?:\([^()]*\p{{L}}[^()]*\)|\[[^\[\]]*\p{{L}}[^\[\]]*\])(?P<cut>\s+)(?=[\p{{Lu}}¿¡"“«‘—])
    |\([^()]*\)|\{{[^{{}}]*\}}|"[^"]*"|“[^“”]*”
    |(?P<cut>\s*(?:(?<!\S)\|+(?!\S)|_{{3,}}|\.{{5,}})\s*|(?<=;)\s+(?={_LABEL}:(?:\s|$)))
    |(?P<cut>(?<=\S)\s+(?:[-–—―]|&[nm]dash;)\s+)(?=\S)(?!(?<=\d\s+\S\s+)\d)
    |(?P<cut>(?<=[\p{{L}}.,!?…])(?:—|--|–(?=(?:{_BEGIN_CLAUSE})\b))(?=\p{{L}}))
    |(?:^|(?<=[;.!?…|_\s]\s))(?!(?:[-*#/]+\ )?{_CODE})
     (?:{_NAMED}(?P<cut>:\*{{0,3}}(?:\s+|$))|{_LABEL}(?P<cut>:(?:\s+|$))(?![\p{{Cf}}]*["“«„]))""", regex.VERBOSE)
_DOTS = re.compile(r"\.\.|…")
_TRAILING = regex.compile(r"(?<=\w(?:(?:\.\.+|…)['\"”’»)]*\s+|…))(?=\w)")  # where a sentence trails off
_CLAUSES = (regex.compile(r"(?<=[.!?…;:,–—]['\"”’»)]*)(?=\s)"),)
_PLACES = (  # where a text may be split in two, best places first
    regex.compile(r"(?<=[.!?…。！？।॥]['\"”’»)]*)\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?<=[,;:،؛、，；：–—])\s*(?=\s|\p{Lo})"),
    regex.compile(r"(?=\s)"),
    regex.compile(r"(?<=\X)(?=\X)"),
)

_LETTERS = "[A-Za-zÀ-ÖØ-öø-ſ]+"  # of scripts and cases that are the same in Unicode NFC
_PLAIN = re.compile(rf"(?=...){_LETTERS}(?:(?:, ?| |['’-]){_LETTERS})*[.!?]?")

_NO_PART = ProtectedPart((0, 0), "space")

_PRONOUNS = {language: frozenset(words.split()) for language, words in REFERRING_PRONOUNS.items()}
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

    @classmethod
    def at(cls, text: str, breaks: Sequence[Span]) -> "Cut":
        """A text without white space around it, cut at `breaks`."""
        places = [0, *(place for span in breaks for place in span), len(text)]
        parts = [text[start:end] for start, end in pairwise(places)]
        return cls(tuple(parts[::2]), ("", *parts[1::2], ""))

    @property
    def breaks(self) -> tuple[Span, ...]:
        """The spans between the segments."""
        starts = self.starts(self.segments)
        ends = (start + len(segment) for start, segment in zip(starts, self.segments, strict=True))
        return tuple(zip(ends, starts[1:], strict=False))

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


def cut_sentences(text: str, *, language: str, together: int = 1, protection: Protection = DEFAULT_PROTECTION,
                  wrapped: bool = False) -> Cut:
    """Split into sentences; at most `together` sentences in a line stay in one segment if the later ones refer back.
    `wrapped`: a sentence may go on in the next line.
    """
    segments, between = [], [""]
    for part in _parts(text, language, together, protection, wrapped):
        start, end = _edges(part, protection) if protection.has_words(part) else (0, 0)
        if any(map(str.isalpha, part[start:end])):
            between[-1] += part[:start]
            between.append(part[end:])
            segments.append(part[start:end])
        else:
            between[-1] += part
    return Cut(tuple(segments), tuple(between))


def is_plain_sentence(text: str, known: frozenset[str] | None) -> bool:
    """Whether a text is certainly one sentence of known characters that a model reads unchanged, without protected
    parts.

    Such a sentence has letters with single spaces, commas, apostrophes and hyphens between them, and one mark at the
    end.  The test is much faster than cutting and reading the text, and true for most sentences.
    """
    return _PLAIN.fullmatch(text) is not None and not text.isupper() and (known is None or known.issuperset(text))


def refers_back(sentence: str, *, language: str) -> bool:
    """Whether a sentence may need the one before; False for languages that are not listed here."""
    words = islice(_WORD.finditer(normalize("NFC", sentence)), EARLY_WORDS)
    return any(word.group().casefold() in _PRONOUNS.get(iso(language), ()) for word in words)


def halves(text: str, *, protection: Protection = DEFAULT_PROTECTION) -> Cut:
    """Split near the middle: between sentences if possible, else clauses, words or characters.

    Raises ValueError for one character.
    """
    place = _near_middle(text, protection, _PLACES)
    first, second = text[:place].rstrip(), text[place:].lstrip()
    return Cut((first, second), ("", text[len(first) : len(text) - len(second)], ""))


def clauses(text: str, *, protection: Protection = DEFAULT_PROTECTION) -> Cut | None:
    """Split between the two clauses nearest to the middle; None unless both have words."""
    try:
        place = _near_middle(text, protection, _CLAUSES)
    except ValueError:
        return None
    first, second = _edges(text[:place], protection), _edges(text[place:], protection)
    (start, end), (begin, stop) = first, (place + second[0], place + second[1])
    cut = Cut((text[start:end], text[begin:stop]), (text[:start], text[end:begin], text[stop:]))
    return cut if all(map(protection.has_words, cut.segments)) else None


def sentences(text: str, *, language: str, protection: Protection = DEFAULT_PROTECTION) -> list[str]:
    """The sentences with words, without surrounding white space; text without words belongs to the sentence before."""
    found: list[str] = []
    for part in _sentences(text, language, protection):
        if found and not (protection.has_words(part) and protection.has_words(found[0])):
            found[-1] += part
        else:
            found.append(part)
    return [part.strip() for part in found] if found and protection.has_words(found[0]) else []


def count_sentences(text: str, *, language: str, protection: Protection = DEFAULT_PROTECTION) -> int:
    """The number of sentences with words."""
    return sum(map(protection.has_words, _sentences(text, language, protection)))


def _edges(part: str, protection: Protection) -> tuple[int, int]:
    """The span to translate in a part with words, without white space and marks at its ends.

    Protected parts that colons separate are left out too.
    """
    start, end = _end(_MARKS, part), len(part.rstrip())
    parts = protection.parts(part)
    if not parts and part[start:end].isprintable():
        return start, end
    for first, last in protection.spans(part):
        after = _AFTER.match(part, last)
        is_noun = part[first] in "{$%" or category(part[first]) == "Co"  # or may be one
        if first == start and after and (":" in after[0] or not is_noun):
            start = after.end()
        elif not part[last:end].strip(".!?") and re.search(r":\s+$", part[start:first]):
            end = len(part[:first].rstrip())
    return _unmarked(part, start, end, parts)


def _end(pattern: re.Pattern[str], text: str) -> int:
    """The end of the match at the start, for a pattern that may match nothing."""
    match = pattern.match(text)
    return match.end() if match else 0


def _unmarked(text: str, start: int, end: int, parts: Sequence[ProtectedPart]) -> tuple[int, int]:
    """A span without invisible characters and marks at its ends.  A mark whose pair is inside stays, and so does the
    sign of a hashtag."""
    starts = {part.start: part for part in parts if part.kind == "mark"}
    ends = {part.end: part for part in starts.values()}
    head, tail = [(start, _NO_PART)], [(end, _NO_PART)]
    while start < end and ((blank := _HEAD.match(text, start)) or start in starts):
        part = _NO_PART if blank else starts[start]
        start = blank.end() if blank else part.end
        head.append((start, part))
    while start < end and (_BLANK.fullmatch(text, end - 1, end) or end in ends):
        part = _NO_PART if _BLANK.fullmatch(text, end - 1, end) else ends[end]
        end = end - 1 if part is _NO_PART else part.start
        tail.append((end, part))
    opened, closed = ({part.inside for part in parts if part.inside and part.opens == opens} for opens in (True, False))
    inner = (opened & closed) - ({part.inside for _, part in head} & {part.inside for _, part in tail})

    def stripped(side: list[tuple[int, ProtectedPart]]) -> int:
        goes = takewhile(lambda one: one[1] is _NO_PART or one[1].inside not in inner and text[one[1].start] != "#",
                         side)
        return list(goes)[-1][0]

    return stripped(head), stripped(tail)


def _parts(text: str, language: str, together: int, protection: Protection, wrapped: bool) -> Iterator[str]:
    def of_one(sentences: list[str]) -> list[str]:
        whole = len(sentences) != 1 or protection.known is None or not _DOTS.search(sentences[0])
        return ["".join(sentences)] if whole else _TRAILING.split(sentences[0])

    rows = _rows(text) if wrapped else _LINE_BREAK.split(text)
    for line in (cell for row in rows for cell in _cells(row, protection)):
        joined: list[str] = []
        for sentence in _sentences(line, language, protection):
            refers = bool(joined) and protection.has_words(joined[-1]) and refers_back(sentence, language=language)
            if not refers or len(joined) == together:
                yield from of_one(joined)
                joined.clear()
            joined.append(sentence)
        yield from of_one(joined)


def _rows(text: str) -> list[str]:
    """The lines of a text and the breaks between them; lines over which one sentence goes on are one."""
    first, *others = _LINE_BREAK.split(text)
    rows = [first]
    for line_break, line in zip(others[::2], others[1::2], strict=True):
        if line_break in ("\n", "\r\n") and goes_on(rows[-1], line):
            rows[-1] += line_break + line
        else:
            rows += [line_break, line]
    return rows


def goes_on(before: str, line: str) -> bool:
    """Whether a sentence goes on in the next line: it has not ended, and that line begins with a small letter, or it
    ended with a word that another one must follow.  Lines that all begin so are those of a list.
    """
    after = _GOES_ON.match(line)
    if after is None or not after[0].strip() or _BEGINS_SMALL.match(before):
        return False
    words = before[before.rfind("\n") + 1 :].split()
    if len(words) < 2 or _ENDED.search(words[-1]):
        return False
    return after["small"] is not None or words[-1].lower() in _OPEN_WORDS


def _cells(line: str, protection: Protection) -> list[str]:
    """A line in independent parts and their separators: the cells of a table, a label and its text, parts between
    dashes.
    """
    if len(_TABS.findall(line)) > 1:
        return _TABS.split(line)
    if protection.known is None or not _MAY_CUT.search(line):
        return [line]
    cuts = [found.span("cut") for found in _CELLS.finditer(double_quoted(protection.masked(line, "@"))) if found["cut"]]
    places = [0, *(place for span in cuts for place in span), len(line)]
    return [line[start:end] for start, end in pairwise(places)]


def _sentences(text: str, language: str, protection: Protection) -> list[str]:
    """Sentences by sentencex, with all spaces as ASCII, because some others (`C .`) make it panic; in pieces, because
    its time grows with the square of the length.
    """
    shown = double_quoted(protection.masked(_ELLIPSIS.sub(".", _SPACE.sub(" ", text))))
    shown = shown.replace("\r", " ").replace("\n", " ")
    ends = {0, len(text)}
    for piece in _PIECE.finditer(shown):
        own = list(accumulate(map(len, segment(iso(language), piece[0])), initial=piece.start()))[1:]
        ends.update(own if piece["end"] else own[:-1])
    if not text.isascii():
        ends |= {match.end() for match in _EMOJI_END.finditer(text)}
    ends -= {place for match in _ABBREVIATED.finditer(text) for place in match.span()}
    return [text[begin:end] for begin, end in pairwise(sorted(ends))]


def _unsplit(text: str, protection: Protection) -> Iterator[Span]:
    return (part.span for part in protection.parts(text) if part.kind in ("name", "number", "aside", "term"))


def _near_middle(text: str, protection: Protection, patterns: Sequence[regex.Pattern[str]]) -> int:
    """A position near the middle to split at, never an end, and not inside a protected part if possible.

    Raises ValueError if there is none.
    """
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    protected = {place for start, stop in _unsplit(text, protection) for place in range(start + 1, stop)}
    for barred in (protected, set[int]()):
        for pattern in patterns:
            places = [place for match in pattern.finditer(text) if begin < (place := match.start()) < end
                      and place not in barred]
            if places:
                return min(places, key=lambda place: abs(2 * place - len(text)))
    raise ValueError(f"expected more than one character or clause, got {text!r}")
