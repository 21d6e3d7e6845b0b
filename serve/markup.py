"""An HTML text as what there is to translate in it, and its translation with the markup in place.

Markup is copied to the character: only text between it changes, and none of it is lost.  The text of a block (a
paragraph, a cell, a heading) is translated as it is without markup; `marks.py` puts the elements inside it (a link,
bold type) about the words of its translation.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from unicodedata import normalize

from seq2see.serve.marks import Alignment, Mark, Marking

PRIVATE = "\U000f0000"  # the first of the private-use characters that no font has
DEEPEST = 32  # elements inside one another that are about words; deeper ones are kept, about none

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
_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)\b[^>]*(?:>|\Z)|\Z)
    |<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*)(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)
    |<[!?/][^>]*(?:>|\Z)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(r"</?([a-z][^\s/>]*)", re.IGNORECASE)
_NOT_TRANSLATED = re.compile(
    r"""\s(?:translate\s*=\s*["']?no\b|class\s*=\s*(?:notranslate\b|"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """Some characters of an HTML text: `text`, the `start` or `end` of an inline element, what `parts` texts, or what
    stays as it is inside a text: `copied`, which is a part of it, or `kept`, which is none."""

    raw: str
    kind: str

    @cached_property
    def text(self) -> str:
        return normalize("NFC", html.unescape(self.raw))

    @cached_property
    def has_words(self) -> bool:
        return self.kind == "text" and bool(self.text.strip())

    @property
    def name(self) -> str:
        """Of a tag, the element's."""
        return _NAME.match(self.raw)[1].lower()  # type: ignore[index]


class Block:
    """Neighbouring texts and the inline markup about them.  `text` is what there is to translate, empty if nothing is;
    `borders` are the places in it where markup begins or ends."""

    def __init__(self, tokens: Sequence[Token]):
        self.tokens = tokens
        shown = [number for number, token in enumerate(tokens) if token.has_words or token.kind == "copied"]
        is_text = any(token.has_words for token in tokens)
        self._first, self._last = (shown[0], shown[-1]) if is_text else (0, -1)
        self._stand_ins = self._stand_in() if is_text else {}
        self._at, self._spaced, self.text = self._laid_out()
        self._marks = self._marked()
        self.borders = sorted({place for mark in _all(self._marks) for place in (mark.start, mark.end)})

    def render(self, translation: str, alignment: Alignment) -> str:
        """The block with the translation of its text."""
        kept = {ord(stand_in): self.tokens[number].raw for number, stand_in in self._stand_ins.items()}
        marking = Marking(self.text, translation, alignment, kept)
        return marking.render(self._marks, (0, len(self.text)), (0, len(translation)))

    @property
    def raw(self) -> str:
        return "".join(token.raw for token in self.tokens)

    def _stand_in(self) -> dict[int, str]:
        """A character for each token that is copied: a private one, which is protected and not in the block already."""
        taken = {c for token in self.tokens if token.kind == "text" for c in token.text if c >= PRIVATE}
        free = (c for c in map(chr, range(ord(PRIVATE), 0x10FFFE)) if c not in taken)
        copied = [number for number, token in enumerate(self.tokens) if token.kind == "copied"]
        return dict(zip(copied, free, strict=False))

    def _laid_out(self) -> tuple[list[int], set[int], str]:
        """Where each token begins in the block's text, the tokens that white space follows of which the text has none,
        and the text: from its first word to its last, with one space for any white space, as HTML shows it."""
        text, at, spaced = "", [], set()
        for number, token in enumerate(self.tokens):
            at.append(len(text))
            if token.kind == "text" and self._first <= number <= self._last:
                shown = re.sub(f"[{_WHITE}]+", " ", token.text)
                if shown.startswith(" ") and text[-1:] in ("", " "):
                    shown = shown[1:]
                    spaced |= {number - 1} if text else set()
                text += shown
            text += self._stand_ins.get(number, "")
        text = text.rstrip(_WHITE)
        return [min(place, len(text)) for place in at], spaced, text

    def _marked(self) -> tuple[Mark, ...]:
        """The markup, each element with what is inside it."""
        pairs = _pairs(self.tokens)
        ends = set(pairs.values())
        opened: list[int] = []
        levels: list[list[Mark]] = [[]]
        for number, token in enumerate(self.tokens):
            place, end = self._at[number], pairs.get(number)
            if opened and pairs[opened[-1]] == number:
                start = opened.pop()
                span = self._trimmed(self._at[start], place)
                inside = tuple(levels.pop())
                spaced = number in self._spaced and span[0] == span[1]
                levels[-1].append(Mark(*span, self.tokens[start].raw, token.raw, inside, spaced))
            elif end is not None and len(opened) < DEEPEST:
                opened.append(number)
                levels.append([])
            elif token.kind != "text":
                if number not in ends and number not in self._stand_ins:
                    after = "" if end is None else self.tokens[end].raw
                    levels[-1].append(Mark(place, place, token.raw, after, spaced=number in self._spaced))
            else:
                spaces, closing = self._outer_space(number)
                deepest = max((depth for depth, marks in enumerate(levels) if marks), default=0)
                levels[deepest] += spaces  # beside what stands there without words, an icon say
                levels[0] += closing  # an element may move from the border
        return tuple(levels[0])

    def _outer_space(self, number: int) -> tuple[list[Mark], list[Mark]]:
        """The white space of a text before the first word of the block, and after the last, to be copied: that which
        stays beside the marks before it, and that which stays at the block's end."""
        raw, first, last = self.tokens[number].raw, 0, len(self.text)
        if not self._first <= number <= self._last:
            place = first if number < self._first else last
            return [Mark(place, place, raw)], []
        begin, end = raw[: len(raw) - len(raw.lstrip(_WHITE))], raw[len(raw.rstrip(_WHITE)) :]
        return ([Mark(first, first, begin)] if number == self._first else [],
                [Mark(last, last, end)] if number == self._last else [])

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        text = self.text[start:end]
        begin = start + len(text) - len(text.lstrip())
        return begin, max(begin, end - len(text) + len(text.rstrip()))


class Markup:
    """An HTML text.  `texts` are what is to be translated, plain, one for each of its `blocks` with words."""

    def __init__(self, text: str):
        groups = groupby(_read(text), lambda token: token.kind == "parts")
        blocks = [Block(tuple(tokens)) for _, tokens in groups]
        self.parts: list[Block | str] = [block if block.text else block.raw for block in blocks]
        self.blocks = [block for block in blocks if block.text]
        self.texts = [block.text for block in self.blocks]

    def join(self, translations: Sequence[str], alignments: Sequence[Alignment]) -> str:
        """The text with the translations of its `texts` in their places, and the markup where the alignments say."""
        each = iter(zip(translations, alignments, strict=True))
        return "".join(part if isinstance(part, str) else part.render(*next(each)) for part in self.parts)


def _all(marks: Sequence[Mark]) -> list[Mark]:
    return [one for mark in marks for one in (mark, *_all(mark.inside))]


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """The number of each start tag that has an end, and of that end."""
    pairs: dict[int, int] = {}
    open_tags: list[tuple[int, str]] = []
    names: Counter[str] = Counter()
    for number, token in enumerate(tokens):
        if token.kind == "start":
            open_tags.append((number, token.name))
            names[token.name] += 1
        elif token.kind == "end" and names[token.name]:
            start, name = open_tags.pop()
            while name != token.name:  # it was never closed
                names[name] -= 1
                start, name = open_tags.pop()
            names[name] -= 1
            pairs[start] = number
    return pairs


def _read(text: str) -> list[Token]:
    """The text in tokens, by the rules of HTML's tokeniser.

    In time linear in its length, whatever it holds: `html.parser` took 51 s for 30,000 characters of `<a <a <a`.
    """
    tokens: list[Token] = []
    kept, depth, begin = "", 0, 0  # the element that is not translated, how many of its name are open, where it began
    place = 0
    for match in _MARKUP.finditer(text):
        if match.start() > place and not kept:
            tokens.append(Token(text[place : match.start()], "text"))
        place = match.end()
        tag, raw = (match["tag"] or "").lower(), match[0]
        if kept:
            depth += 0 if tag != kept else -1 if match["slash"] else 1
            if not depth:
                tokens.append(_copied(text[begin:place], kept))
                kept = ""
        elif tag and not match["slash"] and _is_kept(tag, raw):
            kept, depth, begin = tag, 1, match.start()
        elif tag in _INLINE:
            tokens.append(Token(raw, "end" if match["slash"] else "start"))
        else:
            tokens.append(Token(raw, _kind(tag)))
    if kept or place < len(text):
        tokens.append(_copied(text[begin:], kept) if kept else Token(text[place:], "text"))
    return tokens


def _copied(raw: str, name: str) -> Token:
    """An element that is not translated."""
    kind = _kind(name)
    has_text = kind == "kept" and name not in _PICTURES and html.unescape(_MARKUP.sub("", raw)).strip()
    return Token(raw, "copied" if has_text else kind)


def _kind(tag: str) -> str:
    """Of what is kept: "" for a comment, a script and the like."""
    return "kept" if not tag or tag in _INLINE | _AS_IS | _PICTURES | _VOID else "parts"


def _is_kept(tag: str, raw: str) -> bool:
    """Whether what this start tag begins is not to be translated."""
    has_end = tag not in _VOID | {"br", "hr"} and not raw.endswith("/>")
    return has_end and (tag in _AS_IS | _PICTURES or tag == "pre" or _NOT_TRANSLATED.search(raw) is not None)
