"""An HTML text as what there is to translate in it, and its translation with the markup in place.

Markup is copied to the character: only text between it changes, and none of it is lost.  The text of a block (a
paragraph, a cell, a heading) is translated whole; where in it words are marked (a link, bold type), `marks.py` marks
words of its translation.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby

from seq2see.serve.marks import Mark, Marking

DEEPEST = 3  # levels of marks within marks whose words are sought; tags within those keep their places among the words

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
_NAME = re.compile(r"</?([a-z][^\s/>]*)", re.IGNORECASE)
_NOT_TRANSLATED = re.compile(
    r"""\s(?:translate\s*=\s*["']?no\b|class\s*=\s*(?:notranslate\b|"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b))""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """Some characters of an HTML text: `text`, the `start` or `end` of an inline element, or `other`."""

    raw: str
    kind: str

    @cached_property
    def text(self) -> str:
        return html.unescape(self.raw)

    @cached_property
    def has_words(self) -> bool:
        return self.kind == "text" and bool(self.text.strip())

    @property
    def name(self) -> str:
        """Of a tag, the element's."""
        return _NAME.match(self.raw)[1].lower()  # type: ignore[index]


class Block:
    """Neighbouring texts, and the inline markup about them.

    `texts` are to be translated: all of the block's text, then the words of each mark alone.
    """

    def __init__(self, tokens: Sequence[Token]):
        self.tokens = tokens
        worded = [number for number, token in enumerate(tokens) if token.has_words]
        self._first, self._last = (worded[0], worded[-1]) if worded else (len(tokens), len(tokens))
        self._pairs = _pairs(tokens)
        self._at, text = self._laid_out()
        self.texts = [text] if text else []
        self._before = self._after = ""  # tags and spaces that are about no words
        self._marked = self._marks(0, len(tokens), (0, len(text)))
        if worded:
            first, last = tokens[self._first].text, tokens[self._last].text
            self._before += first[: len(first) - len(first.lstrip())]
            self._after = last[len(last.rstrip()) :] + self._after

    def render(self, translations: Sequence[str], anchors: Sequence[tuple[int, int]], *, language: str) -> str:
        """The block with the translations of its `texts`; `anchors` say which places of the first belong together."""
        if not self.texts:
            return "".join(token.raw for token in self.tokens)
        marking = Marking(self.texts[0], translations[0], translations, language=language)
        return self._before + marking.render(self._marked, anchors) + self._after

    def _laid_out(self) -> tuple[list[int], str]:
        """Where each token begins in the block's text, and that text: from its first word to its last, with one space
        for any white space, as HTML shows it."""
        text, at = "", []
        for number, token in enumerate(self.tokens):
            at.append(len(text))
            if token.kind == "text" and self._first <= number <= self._last:
                shown = re.sub(r"\s+", " ", token.text)
                text += shown[1:] if shown.startswith(" ") and text[-1:] in ("", " ") else shown
        text = text.rstrip()
        return [min(place, len(text)) for place in at], text

    def _marks(self, begin: int, end: int, span: tuple[int, int], depth: int = 0) -> tuple[Mark, ...]:
        """The marks of the tokens from `begin` to `end`, which are the characters of `span`."""
        marks: list[Mark] = []
        number = begin
        while number < end:
            token, last = self.tokens[number], self._pairs.get(number)
            if last is not None and depth < DEEPEST:
                about = self._trimmed(self._at[number], self._at[last])
                alone = None
                if about != span:
                    alone = len(self.texts)
                    self.texts.append(self.texts[0][slice(*about)])
                within = self._marks(number + 1, last, about, depth + 1)
                marks.append(Mark(*about, token.raw, self.tokens[last].raw, within, alone))
                number = last
            elif number < self._first and not depth:
                self._before += token.raw
            elif number > self._last and not depth:
                self._after += token.raw
            elif token.kind != "text":
                place = min(max(self._at[number], span[0]), span[1])
                marks.append(Mark(place, place, token.raw))
            number += 1
        return tuple(marks)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        text = self.texts[0][start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())


class Markup:
    """An HTML text.

    `texts` are what is to be translated, plain; `join` puts their translations where they belong.
    """

    def __init__(self, text: str):
        groups = groupby(_read(text), lambda token: token.kind == "other")
        self.blocks = [Block(tuple(tokens)) for _, tokens in groups]
        self.texts = [one for block in self.blocks for one in block.texts]

    def join(self, translations: Sequence[str], *, anchors: Sequence[Sequence[tuple[int, int]]] | None = None,
             language: str = "") -> str:
        """The text with the translations, in `language`, of its `texts` in their places.

        `anchors` say for each of them which places in it and in its translation belong together, first and last of
        all their ends.
        """
        if anchors is None:
            anchors = [[(0, 0), (len(text), len(translation))]
                       for text, translation in zip(self.texts, translations, strict=True)]
        done, rendered = 0, ""
        for block in self.blocks:
            here = slice(done, done + len(block.texts))
            rendered += block.render(translations[here], anchors[done] if block.texts else (), language=language)
            done = here.stop
        return rendered


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """The number of each start tag that has words before its end, and of that end."""
    worded = [0, *accumulate(token.has_words for token in tokens)]
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
            if worded[number] > worded[start]:
                pairs[start] = number
    return pairs


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
