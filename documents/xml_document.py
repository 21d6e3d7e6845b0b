"""A document whose text is in paragraphs of some XML entries of an archive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .archive import Archive
from .inline import InlineItem, Paragraph, Path, fill
from .protocol import Document
from .xml_parts import Element, Tree, local_name, serialised

_LANGUAGE_TAG = re.compile(r"(?P<language>[a-z]{2,3})(?:-\w{2,8})*")
OFFICE_TAGS = {"zh-Hant": "zh-TW", "zh-Hans": "zh-CN"}  # Office names no script
_EAST_ASIAN = {"ja", "ko", "zh"}
_COMPLEX_SCRIPTS = {"ar", "fa", "he", "hi", "th", "ur"}


@dataclass(frozen=True)
class XmlParagraph:
    """A paragraph's texts, and the function that puts translations into it; True if they differ."""

    texts: Sequence[str]
    translate: Callable[[Sequence[str]], bool]


def xml_paragraph(element: Element, items: Iterable[InlineItem], *, plain: Path,
                  add_text: Callable[[Element, str], None],
                  first: str = "", last: str = "") -> XmlParagraph:
    """The paragraph of an element with these items.  Its children named `first` and `last` are at its ends, and no
    items."""
    paragraph = Paragraph(items, plain)

    def translate(translations: Sequence[str]) -> bool:
        new = paragraph.translated(translations)
        if new is None:
            return False
        ends = {name: [child for child in element if local_name(child) == name] for name in (first, last)}
        element.text = None
        element[:] = ends[first]
        fill(element, new, add_text)
        element.extend(ends[last])
        return True

    return XmlParagraph(paragraph.texts, translate)


def xml_document(archive: Archive, entries: Sequence[str], paragraphs: Callable[[Tree], Iterable[XmlParagraph]],
                 set_language: Callable[[Tree], None] | None, *, beside: Sequence[str] = ()) -> Document:
    """The Document of the paragraphs in these entries.

    `set_language` names the target language in each entry that changes and, if any does, in those `beside`; None: it is
    not known.
    """

    def write(translations: Sequence[str]) -> bytes:
        left = iter(translations)
        changed: dict[str, bytes] = {}
        for entry in entries:
            tree = archive.tree(entry)
            found = [one for one in paragraphs(tree) if one.texts]
            differs = [one.translate([next(left) for _ in one.texts]) for one in found]  # all take their translations
            if any(differs):
                if set_language:
                    set_language(tree)
                changed[entry] = serialised(tree)
        for entry in beside:
            if changed and set_language and entry not in changed:
                set_language(tree := archive.tree(entry))
                changed[entry] = serialised(tree)
        return archive.rewritten(changed)

    return Document([text for entry in entries for one in paragraphs(archive.tree(entry)) for text in one.texts], write)


def language_kind(tag: str) -> Literal["main", "east_asian", "complex"] | None:
    """Which of its three languages of a text Office gives this tag to; None: it is no tag of a language."""
    match = _LANGUAGE_TAG.fullmatch(tag)
    if match is None or match["language"] == "zxx":  # no language
        return None
    if match["language"] in _EAST_ASIAN:
        return "east_asian"
    return "complex" if match["language"] in _COMPLEX_SCRIPTS else "main"
