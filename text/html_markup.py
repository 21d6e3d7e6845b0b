"""Extracts the translatable text of HTML, and puts translations back into the markup.

Markup is copied exactly; only the text between it changes.  The text of a block (a paragraph, a cell, a heading) is
translated without markup.  `placing.py` places the elements inside it (a link, bold type) around the words of its
translation.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from unicodedata import normalize

from .placing import Alignment, Mark, Marking
from .segments import goes_on

PRIVATE = "\U000f0000"  # the first of the private-use characters without glyphs
MOST_OPEN = 32  # nested elements; outer ones beyond that are kept, but around no words

# Inline elements; all others separate texts, including `<br>` but where a sentence goes on after it.
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "ins", "label",
    "mark", "nobr", "picture", "q", "rb", "rtc", "ruby", "s", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u",
))
RAISED = frozenset(("sub", "sup"))
_AS_IS = frozenset(("code", "kbd", "math", "samp", "var"))  # inline, and not translated
_PICTURES = frozenset(("svg", "template"))  # likewise, and not part of the text
VOID = frozenset((  # have no end tag, and do not separate texts
    "area", "base", "embed", "img", "input", "link", "meta", "param", "source", "track", "wbr",
))
NO_PARTS = _INLINE | _AS_IS | _PICTURES | VOID | {""}  # separate no texts; "": comments, scripts and the like
_WHITE = r" \t\n\f\r"  # HTML's white space, without the no-break space
_PART = re.compile(
    rf"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)\b[^>]*(?:>|\Z)|\Z)
    |<(?P<reading>r[tp])\b[^>]*>[^<]*(?:</(?P=reading)\s*>)?
    |<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*)(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)
    |<[!?/][^>]*(?:>|\Z)
    |(?P<space>[{_WHITE}]+)
    |(?P<text>[^<{_WHITE}]++(?:[{_WHITE}]++[^<{_WHITE}]++)*+|<)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_BREAK = re.compile(r"<br\b[^>]*>", re.IGNORECASE)
LONGEST_LINE = 2_000  # characters of a sentence that may go on after a break
_FORMULA = "formula"  # the name of its token
_TAIL, _HEAD = re.compile(r"(?<![^\W_])[^\W_]{1,4}\Z"), re.compile(r"[^\W_]{1,4}(?![^\W_])")
NOT_TRANSLATED = re.compile(
    r"""\s(?:translate\s*=\s*["']?no\b|class\s*=\s*(?:notranslate\b|"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """A token of HTML.

    Its kind is one of:

    - `text`, `space`;
    - `start`, `end`: of an inline element, with its `name`;
    - `parts`: separates texts;
    - `line`: a line break in a sentence;
    - `copied`: unchanged, part of the text;
    - `kept`: unchanged, not part of the text.
    """

    raw: str
    kind: str
    name: str = ""


class Html(str):
    """A text that is HTML."""

    __slots__ = ()


Open = tuple[str, str, int, list[Mark]]  # an element not yet closed: name, tag, place in the text, the marks in it


class MarkedText:
    """Adjacent texts and the inline markup around them.

    `text` is the text to translate, from its first word to its last, with white space collapsed as in HTML.
    """

    def __init__(self, tokens: Sequence[Token]):
        self._kept: dict[int, str] = {}  # copied tokens, by the protected character that replaces each
        taken = set(html.unescape("".join(token.raw for token in tokens)))
        private = (char for char in map(chr, range(ord(PRIVATE), 0x10FFFE)) if char not in taken)
        last = max(number for number, token in enumerate(tokens) if token.kind in ("text", "copied"))
        text = ""
        opened: list[Open] = [("", "", 0, [])]  # the block itself, then the elements open here
        for number, token in enumerate(tokens):
            place = len(text)
            if token.kind == "text":
                text += _text(token.raw)
            elif token.kind == "copied" and (stand_in := next(private, "")):
                text += stand_in
                self._kept[ord(stand_in)] = token.raw
            elif token.kind == "line":
                text += "\n"
                self._kept[ord("\n")] = token.raw
            elif token.kind == "space" and number < last and text[-1:] not in ("", " "):
                text += " "
            elif token.kind == "start":
                opened.append((token.name, token.raw, place, []))
                if len(opened) > MOST_OPEN:
                    _close(opened, 1, 2)
            elif token.kind == "end" and token.name in (names := [name for name, *_ in opened]):
                _close(opened, len(names) - names[::-1].index(token.name), len(opened))
                _, raw, begin, inside = opened.pop()
                begin += begin < place and text[begin] == " "
                place -= begin < place and text[place - 1] == " "
                opened[-1][-1].append(Mark(begin, place, raw, token.raw, inside))
            else:
                opened[-1][-1].append(Mark(place, place, token.raw))
        _close(opened, 1, len(opened))
        self.text, self._marks = text, opened[0][-1]

    @property
    def borders(self) -> list[int]:
        """The positions in the text where markup begins or ends."""
        return sorted(set(_borders(self._marks)))

    def render(self, translation: str, alignment: Alignment) -> str:
        """The block with its text translated."""
        marking = Marking(self.text, translation, alignment, self._kept)
        return marking.render(self._marks, (0, len(self.text)), (0, len(translation)))


class Markup:
    """An HTML text; `texts` are the plain texts to translate, one for each of its `blocks` with words."""

    def __init__(self, text: str):
        self.parts: list[MarkedText | str] = []
        for _, group in groupby(read(text), lambda token: token.kind == "parts"):
            tokens = tuple(group)
            has_words = any(token.kind == "text" and _text(token.raw).strip() for token in tokens)
            self.parts.append(MarkedText(tokens) if has_words else "".join(token.raw for token in tokens))
        self.blocks = [part for part in self.parts if isinstance(part, MarkedText)]
        self.texts = [block.text for block in self.blocks]
        self.borders = [block.borders for block in self.blocks]

    def join(self, translations: Sequence[str], alignments: Sequence[Alignment]) -> Html:
        """The HTML with its `texts` translated, and inline markup placed by the alignments."""
        each = iter(zip(translations, alignments, strict=True))
        return Html("".join(part if isinstance(part, str) else part.render(*next(each)) for part in self.parts))


def readable(text: str) -> str:
    """What a reader sees of an HTML text: its words, without elements."""
    parts = (one[0] if one["text"] or one["space"] else "" if (one["tag"] or "").lower() in NO_PARTS else " "
             for one in _PART.finditer(text))
    return " ".join(html.unescape("".join(parts)).split())


def _text(raw: str) -> str:
    return normalize("NFC", re.sub(f"[{_WHITE}]+", " ", html.unescape(raw)))


def _close(opened: list[Open], first: int, end: int) -> None:
    """Close unclosed elements: their tags go around no words."""
    for _, raw, place, inside in opened[first:end]:
        opened[first - 1][-1].extend([Mark(place, place, raw), *inside])
    del opened[first:end]


def _borders(marks: Sequence[Mark]) -> Iterator[int]:
    for mark in marks:
        yield from (mark.start, mark.end)
        yield from _borders(mark.inside)


def read(text: str) -> list[Token]:
    """Tokenise a text by HTML's rules, in linear time for any input, unlike `html.parser`."""
    tokens: list[Token] = []
    whole, name, depth = "", "", 0  # an untranslated element, and how many of its name are open
    for match in _PART.finditer(text):
        raw, tag = match[0], (match["tag"] or "").lower()
        if depth:
            whole += raw
            depth += 0 if tag != name else -1 if match["slash"] else 1
            if not depth:
                tokens.append(_untranslated(whole, name))
        elif match["space"] or match["text"]:
            tokens.append(Token(raw, "space" if match["space"] else "text"))
        elif tag and not match["slash"] and _begins_untranslated(tag, raw):
            whole, name, depth = raw, tag, 1
        elif tag in _INLINE:
            tokens.append(Token(raw, "end" if match["slash"] else "start", tag))
        else:
            tokens.append(Token(raw, "kept" if tag in NO_PARTS else "parts"))
    return _with_lines(_with_notes(_with_formulas([*tokens, _untranslated(whole, name)] if depth else tokens)))


def _with_lines(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with the breaks `<br>` after which a sentence goes on as lines of its text."""
    parts = [number for number, token in enumerate(tokens) if token.kind == "parts"]
    found, before, raw = list(tokens), "", ""
    for number, start, end in zip(parts, [-1, *parts], [*parts[1:], len(tokens)], strict=False):
        before += _words(tokens[start + 1 : number])
        line, after = tokens[number].raw, _words(tokens[number + 1 : end])
        may_go_on = _BREAK.fullmatch(line) and line == (raw or line) and len(before) < LONGEST_LINE
        if may_go_on and goes_on(before, after):
            found[number] = Token(line, "line")
            before, raw = before + "\n", line
        else:
            before = raw = ""
    return found


def _words(tokens: Sequence[Token]) -> str:
    return "".join(_text(token.raw) if token.kind == "text" else " " * (token.kind == "space") for token in tokens)


def _with_formulas(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with each short word that has a raised or lowered part (`H<sub>2</sub>O`, `1<sup>st</sup>`) as one
    token.

    This token is copied.  A raised number at the end of a word (`m<sup>2</sup>`) is a note.
    """
    found: list[Token] = []
    left = list(reversed(tokens))
    while left:
        token = left.pop()
        found.append(token)
        if token.kind != "start" or token.name not in RAISED or len(found) < 2 or len(left) < 2:
            continue
        inside, end, before = left[-1], left[-2], found[-2]
        follows = left[-3] if len(left) > 2 and left[-3].kind == "text" else Token("", "text")
        head = _TAIL.search(before.raw) if before.kind == "text" else None
        tail = _HEAD.match(follows.raw)
        begun = before.kind == "copied" and before.name == _FORMULA
        is_number = inside.raw.isdigit()
        ordinal = head is not None and head[0].isdigit() and inside.raw.isalpha()
        whole = begun or ordinal or (head is not None and is_number and (tail is not None or token.name == "sub"))
        if inside.kind != "text" or (end.kind, end.name) != ("end", token.name) or not whole:
            continue
        first, last = head[0] if head else before.raw, tail[0] if tail else ""
        del found[-2:], left[-2:]
        if head and before.raw[: head.start()]:
            found += _split(before.raw[: head.start()])
        found.append(Token(first + token.raw + inside.raw + end.raw + last, "copied", _FORMULA))
        if tail:
            left.pop()
            left += reversed(_split(follows.raw[tail.end() :]))
    return found


def _split(raw: str) -> list[Token]:
    """The tokens of text with white space at its ends."""
    return [Token(part[0], "space" if part["space"] else "text") for part in _PART.finditer(raw)]


def _with_notes(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with each reference to a note as one token that is kept outside its word.

    It is a number or a sign, raised (`word<sup>1</sup>`), or a link right after a letter (`word<a>1</a>`).
    """
    found: list[Token] = []
    first = -1  # of the tokens of the element in which these are
    for number, token in enumerate(tokens):
        found.append(token)
        if token.kind == "start" and (token.name in RAISED or (token.name == "a" and first < 0 and _in_word(found))):
            first = len(found) - 1
        elif first >= 0 and token.kind == "end" and token.name == found[first].name:
            after = next((html.unescape(one.raw) for one in tokens[number + 1 : number + 2] if one.kind == "text"), "")
            if not after[:1].isalnum() and (token.name != "a" or _has_number(found[first:])):
                found[first:] = [Token("".join(one.raw for one in found[first:]), "kept")]
            first = -1
        elif token.kind not in ("start", "end", "space", "text") or (
                token.kind == "text" and any(map(str.isalpha, html.unescape(token.raw)))):
            first = -1
    return found


def _in_word(tokens: Sequence[Token]) -> bool:
    """Whether the last of these tokens comes right after a letter."""
    before = next((token for token in reversed(tokens[:-1]) if token.kind != "end"), None)
    return before is not None and before.kind == "text" and html.unescape(before.raw)[-1:].isalpha()


def _has_number(tokens: Sequence[Token]) -> bool:
    """Whether a text among the tokens has a digit or a sign for a note."""
    return any(char.isdigit() or char in "*†‡§" for token in tokens if token.kind == "text" for char in token.raw)


def _begins_untranslated(tag: str, raw: str) -> bool:
    has_end = tag not in VOID | {"br", "hr"} and not raw.endswith("/>")
    return has_end and (tag in _AS_IS | _PICTURES | {"pre"} or NOT_TRANSLATED.search(raw) is not None)


def _untranslated(raw: str, name: str) -> Token:
    if name not in NO_PARTS:
        return Token(raw, "parts")
    has_text = name not in _PICTURES and html.unescape(_PART.sub(lambda part: part["text"] or "", raw)).strip()
    return Token(raw, "copied" if has_text else "kept")
