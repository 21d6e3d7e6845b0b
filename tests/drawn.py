"""HTML as the page's modules write it, read as playwright reads a page: what of that needs no layout."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, NavigableString, Tag

INLINE = {"a", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "tspan"}
HIDDEN = {"title", "desc", "style"}


class Drawn:
    """Some elements; `Drawn.of(text)` is the root of all that a text has."""

    def __init__(self, tags: list[Tag]) -> None:
        self._tags = tags

    @classmethod
    def of(cls, text: str) -> "Drawn":
        return cls([BeautifulSoup(text, "html.parser")])

    def locator(self, selector: str, *, has_text: str = "") -> "Drawn":
        found = {id(tag): tag for one in self._tags for tag in one.select(selector.replace(":visible", ""))}
        return Drawn([tag for tag in found.values() if has_text in tag.get_text()])

    def all(self) -> list["Drawn"]:
        return [Drawn([tag]) for tag in self._tags]

    def nth(self, place: int) -> "Drawn":
        return Drawn([self._tags[place]])

    @property
    def first(self) -> "Drawn":
        return self.nth(0)

    @property
    def last(self) -> "Drawn":
        return self.nth(-1)

    def count(self) -> int:
        return len(self._tags)

    def get_attribute(self, name: str) -> str | None:
        [tag] = self._tags
        found = tag.get(name)
        return " ".join(found) if isinstance(found, list) else found

    def text_content(self) -> str:
        [tag] = self._tags
        return tag.get_text()

    def inner_text(self) -> str:
        [tag] = self._tags
        return re.sub(r"\s+", " ", "".join(_texts(tag))).strip()

    def inner_html(self) -> str:
        [tag] = self._tags
        return tag.decode_contents()

    def all_text_contents(self) -> list[str]:
        return [one.text_content() for one in self.all()]

    def all_inner_texts(self) -> list[str]:
        return [one.inner_text() for one in self.all()]


def _texts(tag: Tag) -> Iterator[str]:
    for one in tag.children:
        if isinstance(one, NavigableString):
            yield str(one)
        elif isinstance(one, Tag) and one.name not in HIDDEN:
            yield from _texts(one) if one.name in INLINE else [" ", *_texts(one), " "]
