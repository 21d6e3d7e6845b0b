"""A text with elements of any format inside, as a fragment of HTML in which a translator places them, and back."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..text.html_markup import Html
from ..text.protection import DEFAULT_PROTECTION

Kind = Literal["text", "start", "end", "alone", "word", "break"]

_STANDING = {"alone": "img", "word": "code", "break": "br"}  # how the translator knows each
_PART = re.compile(r'<(?P<slash>/?)(?P<tag>[a-z]+)(?: id="(?P<number>\d+)")?>(?:x</code>)?|(?P<text>[^<]+)')


@dataclass(frozen=True)
class HtmlToken:
    """A part of a text: what is to be translated, or an element, whose source is `raw`.

    An element starts or ends around words (both have one `name`), or stands: between words (`alone`), as a word of the
    sentence (`word`), or as the end of a line (`break`).  Its `tag` is that of an inline element of HTML.
    """

    raw: str
    kind: Kind = "text"
    name: str = ""
    tag: str = "span"


class Fragment:
    """A text made of tokens.  Elements around all of it, or at its ends, are no part of `texts`: one, or none if there
    are no words."""

    def __init__(self, tokens: Sequence[HtmlToken]):
        self._tokens = tokens
        self._ends = _pairs(tokens)
        self._starts = {end: start for start, end in self._ends.items()}
        first, last = self._inside(0, len(tokens))
        self._before, self._after = tokens[:first], tokens[last:]
        self._numbers = range(first, last)
        self.has_elements = any(token.kind != "text" for token in tokens[first:last])
        words = "".join(token.raw for token in tokens[first:last] if token.kind == "text")
        self.texts: tuple[str, ...] = (
            (self._fragment(),) if DEFAULT_PROTECTION.has_words(words) else ())

    def translated(self, translation: str) -> list[HtmlToken] | None:
        """The tokens with the text translated; None if the translation has not its elements, once each and nested."""
        if not self.has_elements:
            return [*self._before, HtmlToken(translation), *self._after]
        found, opened, left = list[HtmlToken](), list[int](), {
            number for number in self._numbers if self._tokens[number].kind != "text"}
        for part in _PART.finditer(translation):
            if part["text"]:
                found.append(HtmlToken(html.unescape(part["text"])))
                continue
            number = self._ends[opened.pop()] if part["slash"] and opened else int(part["number"] or -1)
            if number not in left:
                return None
            left.remove(number)
            opened += [number] * (number in self._ends)
            found.append(self._tokens[number])
        return None if left else [*self._before, *found, *self._after]

    def _inside(self, first: int, last: int) -> tuple[int, int]:
        """The tokens from the first to the last that are part of the text."""
        while first < last:
            if self._is_outside(first):
                first += 1
            elif self._is_outside(last - 1):
                last -= 1
            elif self._ends.get(first) == last - 1:
                first, last = first + 1, last - 1
            else:
                break
        return first, last

    def _is_outside(self, number: int) -> bool:
        token = self._tokens[number]
        paired = number in self._ends or number in self._starts
        return not token.raw.strip() if token.kind == "text" else token.kind != "word" and not paired

    def _fragment(self) -> str:
        if not self.has_elements:
            return "".join(self._tokens[number].raw for number in self._numbers)
        return Html("".join(map(self._markup, self._numbers)))

    def _markup(self, number: int) -> str:
        token = self._tokens[number]
        if token.kind == "text":
            return html.escape(token.raw, quote=False)
        if number in self._starts:
            return f"</{self._tokens[self._starts[number]].tag}>"
        tag = token.tag if number in self._ends else _STANDING.get(token.kind, "img")
        return f'<{tag} id="{number}">{"x</code>" if token.kind == "word" else ""}'


def _pairs(tokens: Sequence[HtmlToken]) -> dict[int, int]:
    """The number of each start, and that of its end.  What has no partner, or crosses another pair, stands alone."""
    pairs, opened, names = dict[int, int](), list[int](), dict[str, int]()
    for number, token in enumerate(tokens):
        if token.kind == "start":
            opened.append(number)
            names[token.name] = names.get(token.name, 0) + 1
        elif token.kind == "end" and names.get(token.name):
            while True:
                start = opened.pop()
                names[tokens[start].name] -= 1
                if tokens[start].name == token.name:
                    pairs[start] = number
                    break
    return pairs
