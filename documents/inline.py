"""A paragraph of XML as texts to translate, and the paragraph again with the words of the translations.

Each format reads a paragraph as a row of items: text, what stays as it is (a picture, a note's mark), and what
separates texts (a tab; a line break after which no sentence goes on).  An item has the path of the elements around it;
a run's format is one of them.
Items between two breaks are one text, which is HTML where the path changes:

    Take the <span id="0">red</span> one.

Neighbours of equal format are one, and the format of most characters has no element.  `text/html_markup.py` gives a
translation with the same elements, from which come the new items.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, groupby
from typing import Literal

from ..passes.pausing import pause
from ..text.html_markup import Html
from ..text.segments import goes_on
from .xml_parts import Element, shallow, xml_text

Tag = Literal["span", "sub", "sup", "code"]  # sub and sup are part of a word; code is not translated

MOST_NESTED = 12  # elements in a text; what is deeper is one element (placing.py takes 32)
_SPACE = " \t\n\r"  # white space of XML, without the no-break space
_SPACES_OR_WORDS = re.compile(rf"[{_SPACE}]+|[^{_SPACE}]+(?:[{_SPACE}][^{_SPACE}]+)*")
_TAG = re.compile(r'<samp id="(?P<word>\d+)">1</samp>|<(?P<end>/)?(?:span|su[bp]|code|img)(?: id="(?P<id>\d+)")?>'
                  "|(?P<line><br>)")


@dataclass(frozen=True, eq=False)
class Frame:
    """An element around items.  Elements that look the same are one frame.

    `make` gives a new element, and the one in it that takes the content.  A format may be around any words; other
    frames, such as a link, only around their own.  `tag` is the element in HTML.
    """

    make: Callable[[], tuple[Element, Element]]
    is_format: bool = True
    tag: Tag = "span"

    @classmethod
    def like(cls, element: Element, *, is_format: bool) -> Frame:
        return cls(lambda: (copy := shallow(element), copy), is_format)


Path = tuple[Frame, ...]


@dataclass(frozen=True)
class InlineItem:
    """Text, or what stays as it is: an element, spaces, or items that belong together (a field).

    `start` and `end` name the two ends of a range (a bookmark, the words of a comment).  What stays may be read as a
    word (`is_word`): the number of a page.
    """

    path: Path
    content: str | Element | tuple[InlineItem, ...]
    kind: Literal["text", "kept", "break", "line"] = "text"
    start: Hashable = None
    end: Hashable = None
    is_word: bool = False

    @property
    def text(self) -> str:
        return str(self.content) if self.kind == "text" else ""

    @property
    def has_words(self) -> bool:
        return bool(self.text) and not self.text.isspace()

    @property
    def element(self) -> Element | None:
        return None if isinstance(self.content, (str, tuple)) else self.content

    @property
    def is_code(self) -> bool:
        return any(frame.tag == "code" for frame in self.path)

    @property
    def owners(self) -> Path:
        """The frames that are no format."""
        return tuple(frame for frame in self.path if not frame.is_format)


@dataclass(frozen=True)
class _Around:
    """An element of the HTML: the path of the bare text in it, and the ends of the range that it is."""

    base: Path
    start: tuple[InlineItem, ...] = ()
    end: tuple[InlineItem, ...] = ()


class Segment:
    """Items without a break as one text.  What is before its first word and after its last is no part of it.

    `plain` is the path of words that no other path is for.
    """

    def __init__(self, items: Sequence[InlineItem], plain: Path):
        items = [part for item in _joined(items) for part in _spaces_apart(item)]
        worded = [number for number, item in enumerate(items) if item.has_words or item.is_word]
        self._before, self._after = items[: worded[0]], items[worded[-1] + 1 :]
        self._plain = plain
        self._by_id: list[_Around | InlineItem] = []
        self._lines = [item for item in items if item.kind == "line"]
        self._base, fragment = self._inside(items[worded[0] : worded[-1] + 1], 0)
        self.text = Html(fragment) if self._by_id or self._lines else html.unescape(fragment)

    def translated(self, translation: str) -> list[InlineItem]:
        """The items with the words of a translation.

        Raises:
            ValueError: its elements are not those of the text.
        """
        if not isinstance(self.text, Html):
            return [*self._before, InlineItem(self._base, xml_text(translation)), *self._after]
        items, opened = list(self._before), [_Around(self._base)]
        left, lines = dict(enumerate(self._by_id)), list(reversed(self._lines))
        lost = ValueError(f"{translation!r} does not have the elements of {self.text!r}")
        done = 0
        for tag in _TAG.finditer(translation):
            items += _text(translation[done : tag.start()], opened[-1].base)
            done = tag.end()
            if tag["line"] and lines:
                items.append(lines.pop())
                continue
            if tag["end"] and len(opened) > 1:
                items += opened.pop().end
                continue
            element = left.pop(int(tag["id"] or tag["word"] or -1), None)
            if element is None:
                raise lost
            if isinstance(element, InlineItem):
                items.append(element)
            else:
                items += element.start
                opened.append(element)
        if left or lines or len(opened) > 1:
            raise lost
        return [*items, *_text(translation[done:], self._base), *self._after]

    def _inside(self, items: Sequence[InlineItem], depth: int) -> tuple[Path, str]:
        """The path of the bare text among items with words, and the items as HTML."""
        characters: Counter[Path] = Counter()
        for item in items:
            if item.has_words:
                characters[item.path] += len(item.text)
        shared = reduce(_shared, characters)
        fitting = [path for path in characters if all(frame.is_format for frame in path[len(shared) :])]
        base = max(fitting, key=characters.__getitem__) if fitting else shared + self._plain
        return base, "".join(self._ranges(items, base, depth))

    def _ranges(self, items: Sequence[InlineItem], base: Path, depth: int) -> Iterator[str]:
        """HTML with an element for each range of words that has both ends among the items."""
        ends = {item.end: number for number, item in enumerate(items) if item.end is not None and depth < MOST_NESTED}
        words = [0, *accumulate(item.has_words for item in items)]  # before each item
        number = done = 0
        while number < len(items):
            item = items[number]
            end = ends.get(item.start, 0) if item.start is not None else 0
            if end > number and words[end] > words[number] and item.owners == items[end].owners:
                yield from self._groups(items[done:number], base, depth)
                spaces, inside, more = _outer_spaces(items[number + 1 : end])
                yield from map(self._bare, spaces)
                yield self._element(inside, "span", depth, (item,), (items[end],))
                yield from map(self._bare, more)
                number, done = end, end + 1
            number += 1
        yield from self._groups(items[done:], base, depth)

    def _groups(self, items: Sequence[InlineItem], base: Path, depth: int) -> Iterator[str]:
        """HTML with an element around neighbours that share a path other than the base.

        What stays and spaces between them are in it too.
        """
        group: list[InlineItem] = []
        path = base
        waiting: list[InlineItem] = []
        for item in items:
            if not item.has_words:
                waiting.append(item)
                continue
            own = item.path
            if own != base and depth < MOST_NESTED:
                own = own[: len(_shared(own, base)) + 1]
            if own != path:
                yield from self._group(group, path, base, depth)
                yield from map(self._bare, waiting)
                group, path = [], own
            else:
                group += (InlineItem(path, one.text) if one.kind == "text" else one for one in waiting)
            waiting = []
            group.append(item)
        yield from self._group(group, path, base, depth)
        yield from map(self._bare, waiting)

    def _group(self, items: Sequence[InlineItem], path: Path, base: Path, depth: int) -> Iterable[str]:
        if path == base or not items:
            return map(self._bare, items)
        return [self._element(items, path[-1].tag if path else "span", depth)]

    def _element(self, items: Sequence[InlineItem], tag: str, depth: int, start: tuple[InlineItem, ...] = (),
                 end: tuple[InlineItem, ...] = ()) -> str:
        number = len(self._by_id)
        self._by_id.append(_Around(()))  # its place, before those of its content
        base, content = self._inside(items, depth + 1)
        self._by_id[number] = _Around(base, start, end)
        return f'<{tag} id="{number}">{content}</{tag}>'

    def _bare(self, item: InlineItem) -> str:
        if item.kind == "text":
            return html.escape(item.text, quote=False)
        if item.kind == "line":
            return "<br>"
        self._by_id.append(item)
        number = len(self._by_id) - 1
        return f'<samp id="{number}">1</samp>' if item.is_word else f'<img id="{number}">'


class Paragraph:
    """The items of a paragraph; `texts` are the texts of its segments that have letters."""

    def __init__(self, items: Iterable[InlineItem], plain: Path = ()):
        pause()
        self._parts: list[Segment | list[InlineItem]] = []
        for row in _rows(items):
            has_letters = any(any(map(str.isalpha, item.text)) for item in row if not item.is_code)
            self._parts.append(Segment(row, plain) if has_letters else row)
        self.texts = [part.text for part in self._parts if isinstance(part, Segment)]

    def translated(self, translations: Sequence[str]) -> list[InlineItem] | None:
        """The items with the words of the translations; None: each is equal to its text."""
        if list(translations) == self.texts:
            return None
        each = iter(translations)
        return [item for part in self._parts
                for item in (part.translated(next(each)) if isinstance(part, Segment) else part)]


def fill(parent: Element, items: Iterable[InlineItem], add_text: Callable[[Element, str], None]) -> None:
    """Put items into an element behind what it has; neighbours share the elements of their paths."""
    path: Path = ()
    opened = [parent]
    for item in _flat(items):
        shared = len(_shared(path, item.path))
        del opened[shared + 1 :]
        for frame in item.path[shared:]:
            outer, inner = frame.make()
            opened[-1].append(outer)
            opened.append(inner)
        path = item.path
        element = item.element
        if element is None:
            add_text(opened[-1], str(item.content))
        else:
            element.tail = None
            opened[-1].append(element)


def _rows(items: Iterable[InlineItem]) -> list[list[InlineItem]]:
    """The items of each text, and those between texts."""
    rows: list[list[InlineItem]] = []
    before = ""
    for separates, group in groupby(items, lambda item: item.kind in ("break", "line")):
        row = list(group)
        if separates:
            rows.append(row)
            continue
        text = "".join(item.text for item in row)
        if len(rows) > 1 and [item.kind for item in rows[-1]] == ["line"] and goes_on(before, text):
            rows[-2:] = [[*rows[-2], *rows[-1], *row]]
            before += "\n" + text
        else:
            rows.append(row)
            before = text
    return rows


def _flat(items: Iterable[InlineItem]) -> Iterator[InlineItem]:
    for item in items:
        if isinstance(item.content, tuple):
            yield from _flat(item.content)
        else:
            yield item


def _joined(items: Iterable[InlineItem]) -> Iterator[InlineItem]:
    """The items with neighbouring text of one path as one."""
    for path, group in groupby(items, lambda item: item.path if item.kind == "text" else None):
        row = list(group)
        yield from row if path is None else [InlineItem(path, "".join(item.text for item in row))]


def _spaces_apart(item: InlineItem) -> Iterator[InlineItem]:
    """The words of an item, one space for each place with white space, and the rest of that, which is kept."""
    if item.kind != "text":
        yield item
        return
    for part in _SPACES_OR_WORDS.findall(item.text):
        if part[0] in _SPACE and part[1:]:
            yield InlineItem(item.path, part[:1])
            yield InlineItem(item.path, part[1:], "kept")
        else:
            yield InlineItem(item.path, part)


def _outer_spaces(items: Sequence[InlineItem]) -> tuple[Sequence[InlineItem], Sequence[InlineItem],
                                                        Sequence[InlineItem]]:
    """The spaces before items with words, these, and the spaces after them."""
    first, end = 0, len(items)
    while items[first].text.isspace():
        first += 1
    while items[end - 1].text.isspace():
        end -= 1
    return items[:first], items[first:end], items[end:]


def _text(escaped: str, path: Path) -> list[InlineItem]:
    return [InlineItem(path, xml_text(html.unescape(escaped)))] if escaped else []


def _shared(one: Path, other: Path) -> Path:
    """The first frames that two paths have in common."""
    count = 0
    for own, its in zip(one, other, strict=False):
        if own is not its:
            break
        count += 1
    return one[:count]
