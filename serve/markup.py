"""An HTML text as what there is to translate in it, and its translation with the markup in place.

Markup is copied to the character: only text between it changes.  The text of a block (a paragraph, a cell, a heading)
is translated whole.  Where words of it are marked (a link, bold type) they are translated alone too: if that is found
in the block's translation, it is marked there, otherwise the block is translated text by text.  No markup is lost.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

# Elements that mark words within a text; all others part texts.
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em", "font", "i", "ins", "label", "mark",
    "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
))  # fmt: skip
_AS_IS = frozenset(("code", "kbd", "math", "pre", "samp", "svg", "template", "var"))  # not translated
_VOID = frozenset((  # have no end
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
))  # fmt: skip
_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)\b[^>]*(?:>|\Z)|\Z)
    |<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*)(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)
    |<[!?/][^>]*(?:>|\Z)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_NOT_TRANSLATED = re.compile(
    r"""\s(?:translate\s*=\s*["']?no\b|class\s*=\s*(?:notranslate\b|"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """Some characters of an HTML text: `text`, the `start` or `end` of an inline element, or `other`."""

    raw: str
    kind: str

    @property
    def plain(self) -> str:
        """Its words; white space within, which HTML shows as one space, is one."""
        text = html.unescape(self.raw)
        core = text.strip()
        start = text.index(core) if core else len(text)
        return text[:start] + re.sub(r"\s+", " ", core) + text[start + len(core) :]

    @property
    def has_words(self) -> bool:
        return self.kind == "text" and bool(self.plain.strip())


@dataclass(frozen=True)
class Mark:
    """Words with the tags before and after them; for words that are not marked, these are empty."""

    start: str
    words: Token
    end: str


class Block:
    """Neighbouring texts, and the inline markup about them."""

    def __init__(self, tokens: Sequence[Token]):
        self.tokens = tokens
        self._each = [token for token in tokens if token.has_words]
        self._marks = _marks(tokens) if len(self._each) > 1 else None
        self.texts = [token.plain for token in self._each]  # to be translated; the whole comes first
        if self._marks is not None:
            self.texts.insert(0, "".join(mark.words.plain for mark in self._marks))

    def render(self, translations: Sequence[str]) -> str:
        """The block with the translations of its `texts`."""
        if self._marks is not None:
            by_token = dict(zip(map(id, self._each), translations[1:], strict=True))
            places = [(_find(by_token.get(id(mark.words), ""), translations[0]), mark)
                      for mark in self._marks if mark.start]
            rendered = _marked(translations[0], places)
            if rendered is not None:
                return rendered
            translations = translations[1:]
        each = iter(translations)
        return "".join(_escape(next(each)) if token.has_words else token.raw for token in self.tokens)


class Markup:
    """An HTML text.

    `texts` are what is to be translated, plain; `join` puts their translations where they belong.
    """

    def __init__(self, text: str):
        groups = groupby(_read(text), lambda token: token.kind == "other")
        self.blocks = [Block(tuple(tokens)) for _, tokens in groups]
        self.texts = [one for block in self.blocks for one in block.texts]

    def join(self, translations: Sequence[str]) -> str:
        left = iter(translations)
        return "".join(block.render([next(left) for _ in block.texts]) for block in self.blocks)


def _marks(tokens: Sequence[Token]) -> list[Mark] | None:
    """The tokens as marks; None where one element holds other text than one."""
    marks: list[Mark] = []
    kinds = "".join(token.kind[0] for token in tokens)
    place = 0
    for match in re.finditer(r"(s*)t(e*)", kinds):
        if match.start() != place or len(match[1]) != len(match[2]):
            return None
        raw = [token.raw for token in tokens[place : match.end()]]
        starts = len(match[1])
        marks.append(Mark("".join(raw[:starts]), tokens[place + starts], "".join(raw[starts + 1 :])))
        place = match.end()
    return marks if place == len(tokens) else None


def _find(words: str, text: str) -> tuple[int, int] | None:
    """Where the text has these words, if it has them once."""
    bare = words.strip().strip(".,;:!?…。！？।").strip()
    found = list(re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.IGNORECASE)) if bare else []
    return found[0].span() if len(found) == 1 else None


def _marked(text: str, places: Sequence[tuple[tuple[int, int] | None, Mark]]) -> str | None:
    """The text with each mark in its place; None where one has no place, or two share theirs."""
    known = sorted(((place, mark) for place, mark in places if place is not None), key=lambda one: one[0])
    if len(known) < len(places):
        return None
    rendered, done = "", 0
    for (start, end), mark in known:
        if start < done:
            return None
        rendered += _escape(text[done:start]) + mark.start + _escape(text[start:end]) + mark.end
        done = end
    return rendered + _escape(text[done:])


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _read(text: str) -> list[Token]:
    """The text in tokens, each a run of words, a tag, or whatever else there is, by the rules of HTML's tokeniser.

    In time linear in its length, whatever it holds: `html.parser` took 51 s for 30,000 characters of `<a <a <a`.
    """
    tokens: list[Token] = []
    kept, depth = "", 0  # the element that is not translated, and how many of its name are open
    place = 0
    for match in _MARKUP.finditer(text):
        if match.start() > place:
            tokens.append(Token(text[place : match.start()], "other" if kept else "text"))
        place = match.end()
        tag, raw = (match["tag"] or "").lower(), match[0]
        kind = "other" if kept or tag not in _INLINE else "end" if match["slash"] else "start"
        if kept:
            depth += 0 if tag != kept else -1 if match["slash"] else 1
            kept = kept if depth else ""
        elif tag and not match["slash"] and _is_kept(tag, raw):
            kept, depth, kind = tag, 1, "other"
        tokens.append(Token(raw, kind))
    if place < len(text):
        tokens.append(Token(text[place:], "other" if kept else "text"))
    return tokens


def _is_kept(tag: str, raw: str) -> bool:
    """Whether what this start tag begins is not to be translated."""
    has_end = tag not in _VOID and not raw.endswith("/>")
    return has_end and (tag in _AS_IS or _NOT_TRANSLATED.search(raw) is not None)
