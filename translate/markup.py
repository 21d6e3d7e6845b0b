"""An HTML text as what there is to translate in it, and its translation with the markup in place.

Markup is copied to the character: only text between it changes, and none of it is lost.  The text of a block (a
paragraph, a cell, a heading) is translated as it is without markup; `marks.py` puts the elements inside it (a link,
bold type) about the words of its translation.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from unicodedata import normalize

from .marks import Alignment, Mark, Marking

PRIVATE = "\U000f0000"  # the first of the private-use characters that no font has
MOST_OPEN = 32  # elements inside one another; those about more of them are kept, about no words

# Elements inside a text; all others part texts, `<br>` among them as a line break does.
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "ins", "label",
    "mark", "nobr", "picture", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
))  # fmt: skip
_AS_IS = frozenset(("code", "kbd", "math", "samp", "var"))  # inside a text, and not translated
_PICTURES = frozenset(("svg", "template"))  # likewise, and no part of the text
_VOID = frozenset((  # have no end, and do not part texts
    "area", "base", "embed", "img", "input", "link", "meta", "param", "source", "track", "wbr",
))  # fmt: skip
_NO_PARTS = _INLINE | _AS_IS | _PICTURES | _VOID | {""}  # "": a comment, a script and the like
_WHITE = r" \t\n\f\r"  # to HTML, for which a no-break space is none
_PART = re.compile(
    rf"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)\b[^>]*(?:>|\Z)|\Z)
    |<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*)(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)
    |<[!?/][^>]*(?:>|\Z)
    |(?P<space>[{_WHITE}]+)
    |(?P<text>[^<{_WHITE}]++(?:[{_WHITE}]++[^<{_WHITE}]++)*+|<)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_NOT_TRANSLATED = re.compile(
    r"""\s(?:translate\s*=\s*["']?no\b|class\s*=\s*(?:notranslate\b|"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """Some characters of an HTML text: `text`, the `space` about it, the `start` or `end` of an inline element, of that
    `name`, what `parts` texts, or what stays as it is inside a text: `copied`, which is a part of it, or `kept`, which
    is none."""

    raw: str
    kind: str
    name: str = ""


Open = tuple[str, str, int, list[Mark]]  # an element without its end yet: name, tag, where in the text, the marks in it


class Block:
    """Neighbouring texts and the inline markup about them.

    `text` is what there is to translate, from its first word to its last, with one space for any white space, as HTML
    shows it.
    """

    def __init__(self, tokens: Sequence[Token]):
        self._kept: dict[int, str] = {}  # what stands for each copied token: a private character, which is protected
        taken = set(html.unescape("".join(token.raw for token in tokens)))
        private = (char for char in map(chr, range(ord(PRIVATE), 0x10FFFE)) if char not in taken)
        last = max(number for number, token in enumerate(tokens) if token.kind in ("text", "copied"))
        text = ""
        opened: list[Open] = [("", "", 0, [])]  # the block itself, then the elements about this place
        for number, token in enumerate(tokens):
            place = len(text)
            if token.kind == "text":
                text += _text(token.raw)
            elif token.kind == "copied" and (stand_in := next(private, "")):
                text += stand_in
                self._kept[ord(stand_in)] = token.raw
            elif token.kind == "space" and number < last and text[-1:] not in ("", " "):
                text += " "
            elif token.kind == "start":
                opened.append((token.name, token.raw, place, []))
                if len(opened) > MOST_OPEN:
                    _leave_open(opened, 1, 2)
            elif token.kind == "end" and token.name in (names := [name for name, *_ in opened]):
                _leave_open(opened, len(names) - names[::-1].index(token.name), len(opened))
                _, raw, begin, inside = opened.pop()
                begin += begin < place and text[begin] == " "
                place -= begin < place and text[place - 1] == " "
                opened[-1][-1].append(Mark(begin, place, raw, token.raw, inside))
            else:
                opened[-1][-1].append(Mark(place, place, token.raw))
        _leave_open(opened, 1, len(opened))
        self.text, self._marks = text, opened[0][-1]

    @property
    def borders(self) -> list[int]:
        """The places in the text where markup begins or ends."""
        return sorted(set(_borders(self._marks)))

    def render(self, translation: str, alignment: Alignment) -> str:
        """The block with the translation of its text."""
        marking = Marking(self.text, translation, alignment, self._kept)
        return marking.render(self._marks, (0, len(self.text)), (0, len(translation)))


class Markup:
    """An HTML text.  `texts` are what is to be translated, plain, one for each of its `blocks` with words."""

    def __init__(self, text: str):
        self.parts: list[Block | str] = []
        for _, group in groupby(read(text), lambda token: token.kind == "parts"):
            tokens = tuple(group)
            has_words = any(token.kind == "text" and _text(token.raw).strip() for token in tokens)
            self.parts.append(Block(tokens) if has_words else "".join(token.raw for token in tokens))
        self.blocks = [part for part in self.parts if isinstance(part, Block)]
        self.texts = [block.text for block in self.blocks]
        self.borders = [block.borders for block in self.blocks]

    def join(self, translations: Sequence[str], alignments: Sequence[Alignment]) -> str:
        """The text with the translations of its `texts` in their places, and the markup where the alignments say."""
        each = iter(zip(translations, alignments, strict=True))
        return "".join(part if isinstance(part, str) else part.render(*next(each)) for part in self.parts)


def _text(raw: str) -> str:
    return normalize("NFC", re.sub(f"[{_WHITE}]+", " ", html.unescape(raw)))


def _leave_open(opened: list[Open], first: int, end: int) -> None:
    """Some elements have no end: their tags are about no words."""
    for _, raw, place, inside in opened[first:end]:
        opened[first - 1][-1].extend([Mark(place, place, raw), *inside])
    del opened[first:end]


def _borders(marks: Sequence[Mark]) -> Iterator[int]:
    for mark in marks:
        yield from (mark.start, mark.end)
        yield from _borders(mark.inside)


def read(text: str) -> list[Token]:
    """The text in tokens, by the rules of HTML's tokeniser.

    In time linear in its length, whatever it holds: `html.parser` took 51 s for 30,000 characters of `<a <a <a`.
    """
    tokens: list[Token] = []
    whole, name, depth = "", "", 0  # the element that is not translated, and how many of its name are open
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
            tokens.append(Token(raw, "kept" if tag in _NO_PARTS else "parts"))
    return [*tokens, _untranslated(whole, name)] if depth else tokens


def _begins_untranslated(tag: str, raw: str) -> bool:
    has_end = tag not in _VOID | {"br", "hr"} and not raw.endswith("/>")
    return has_end and (tag in _AS_IS | _PICTURES | {"pre"} or _NOT_TRANSLATED.search(raw) is not None)


def _untranslated(raw: str, name: str) -> Token:
    if name not in _NO_PARTS:
        return Token(raw, "parts")
    has_text = name not in _PICTURES and html.unescape(_PART.sub(lambda part: part["text"] or "", raw)).strip()
    return Token(raw, "copied" if has_text else "kept")
