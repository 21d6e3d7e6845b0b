"""An HTML text as what there is to translate in it, and its translation with the markup in place.

Markup is copied to the character: only text between it changes, and none of it is lost.  The text of a block (a
paragraph, a cell, a heading) is translated as it is without markup; `marks.py` puts the elements inside it (a link,
bold type) about the words of its translation.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from unicodedata import normalize

from .marks import Alignment, Mark, Marking

PRIVATE = "\U000f0000"  # the first of the private-use characters that no font has
DEEPEST = 32  # elements inside one another that are about words; deeper ones are kept, about none
FARTHEST = 100  # start tags without an end that an end tag may close as well

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
_WHITE = " \t\n\f\r"  # to HTML, for which a no-break space is none
_PART = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)\b[^>]*(?:>|\Z)|\Z)
    |<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*)(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)
    |<[!?/][^>]*(?:>|\Z)
    |(?P<text>[^<]++|<)""",
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


class Block:
    """Neighbouring texts and the inline markup about them.

    `text` is what there is to translate, from its first word to its last, with one space for any white space, as HTML
    shows it; `borders` are the places in it where markup begins or ends.
    """

    def __init__(self, tokens: Sequence[Token]):
        self._kept: dict[int, str] = {}  # what stands for each copied token: a private character, which is protected
        taken = set(html.unescape("".join(token.raw for token in tokens)))
        private = (char for char in map(chr, range(ord(PRIVATE), 0x10FFFE)) if char not in taken)
        last = max(number for number, token in enumerate(tokens) if token.kind in ("text", "copied"))
        pairs = _pairs(tokens)
        ends = set(pairs.values())
        text, borders = "", set()
        marks: list[Mark] = []
        opened: list[tuple[int, int, list[Mark]]] = []  # the start tags about this place, where, and the marks before
        for number, token in enumerate(tokens):
            place = len(text)
            if token.kind == "text":
                text += _text(token.raw)
            elif token.kind == "copied" and (stand_in := next(private, "")):
                text += stand_in
                self._kept[ord(stand_in)] = token.raw
            elif token.kind == "space" and number < last and text[-1:] not in ("", " "):
                text += " "
            elif opened and pairs[opened[-1][0]] == number:
                start, begin, before = opened.pop()
                begin += begin < place and text[begin] == " "
                place -= begin < place and text[place - 1] == " "
                before.append(Mark(begin, place, tokens[start].raw, token.raw, marks))
                marks = before
                borders |= {begin, place}
            elif number in pairs and len(opened) < DEEPEST:
                opened.append((number, place, marks))
                marks = []
            elif number not in ends:
                marks.append(Mark(place, place, token.raw, tokens[pairs[number]].raw if number in pairs else ""))
                borders.add(place)
        self.text, self.borders, self._marks = text, sorted(borders), marks

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

    def join(self, translations: Sequence[str], alignments: Sequence[Alignment]) -> str:
        """The text with the translations of its `texts` in their places, and the markup where the alignments say."""
        each = iter(zip(translations, alignments, strict=True))
        return "".join(part if isinstance(part, str) else part.render(*next(each)) for part in self.parts)


def _text(raw: str) -> str:
    return normalize("NFC", re.sub(f"[{_WHITE}]+", " ", html.unescape(raw)))


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """The number of each start tag that has an end, and of that end."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind == "start":
            opened.append(number)
        elif token.kind == "end":
            near = enumerate(reversed(opened[-FARTHEST:]), 1)
            depth = next((depth for depth, start in near if tokens[start].name == token.name), 0)
            if depth:  # those between were never closed
                pairs[opened[-depth]] = number
                del opened[-depth:]
    return pairs


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
        elif match["text"]:
            bare = raw.strip(_WHITE)
            parts = raw.partition(bare) if bare else (raw,)
            tokens += [Token(part, "text" if part == bare else "space") for part in parts if part]
        elif tag and not match["slash"] and _has_no_translation(tag, raw):
            whole, name, depth = raw, tag, 1
        elif tag in _INLINE:
            tokens.append(Token(raw, "end" if match["slash"] else "start", tag))
        else:
            tokens.append(Token(raw, _kind(tag)))
    return [*tokens, _untranslated(whole, name)] if depth else tokens


def _untranslated(raw: str, name: str) -> Token:
    """An element that is not translated."""
    kind = _kind(name)
    text = html.unescape(_PART.sub(lambda part: part["text"] or "", raw)).strip()
    return Token(raw, "copied" if text and kind == "kept" and name not in _PICTURES else kind)


def _kind(tag: str) -> str:
    """Of what is kept: "" for a comment, a script and the like."""
    return "kept" if not tag or tag in _INLINE | _AS_IS | _PICTURES | _VOID else "parts"


def _has_no_translation(tag: str, raw: str) -> bool:
    """Whether what this start tag begins is not to be translated."""
    has_end = tag not in _VOID | {"br", "hr"} and not raw.endswith("/>")
    return has_end and (tag in _AS_IS | _PICTURES or tag == "pre" or _NOT_TRANSLATED.search(raw) is not None)
