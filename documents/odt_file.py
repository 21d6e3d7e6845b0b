"""OpenDocument text (odt): the body, tables, lists, headers, footers, notes, annotations and text in frames.

Fields, deleted text and formulas stay.  Written with its own texts, a file is the same, byte for byte; a changed entry
is equal as canonical XML but for paragraphs with another text, in which spans of equal style are joined, and for the
language of styles.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import replace

from lxml import etree

from seq2see.errors import UserError
from ..tokenizer.language_codes import is_right_to_left
from .archive import MIMETYPE, Archive
from .code import MOSTLY, is_monospaced, is_named_code
from .inline import Frame, InlineItem, Path, Tag
from .protocol import Document, FileOptions
from .xml_document import OFFICE_TAGS, XmlParagraph, language_kind, xml_document, xml_paragraph
from .xml_parts import Element, Tree, last_child, local_name, properties

_TYPE = b"application/vnd.oasis.opendocument.text"
_MANIFEST = "META-INF/manifest.xml"
_CONTENT, _STYLES = "content.xml", "styles.xml"
_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _STYLE, _FORMAT = _OASIS % "text", _OASIS % "style", _OASIS % "xsl-fo-compatible"
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_BREAKS = {"line-break", "tab"}
_MARKS = {"bookmark", "change", "reference-mark"}  # without width, as are the ends of ranges
# Of a text's style: what does not change how it looks.
_NOT_FORMAT = {
    "country", "country-asian", "country-complex", "language", "language-asian", "language-complex", "rsid",
    "paragraph-rsid", "display-name", "name", "family",
}
_NAMES = (f"{_TEXT}name", f"{_TEXT}id", f"{_TEXT}change-id", f"{_OASIS % 'office'}name")  # of ranges
_MOST_SPACES = 100  # of one `text:s` as text; one of more stays


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    archive = Archive(data, name)
    _check(archive)
    kind = language_kind(options.target)
    language, _, country = OFFICE_TAGS.get(options.target, options.target).partition("-")
    right_to_left = is_right_to_left(options.target)

    def set_language(tree: Tree) -> None:
        names = {"east_asian": (f"{_STYLE}language-asian", f"{_STYLE}country-asian"),
                 "complex": (f"{_STYLE}language-complex", f"{_STYLE}country-complex")}
        language_name, country_name = names.get(kind or "", (f"{_FORMAT}language", f"{_FORMAT}country"))
        for element in tree.iter(f"{_STYLE}text-properties"):
            if language_kind(element.get(language_name, "")):
                element.set(language_name, language)
                element.set(country_name, country or "none")
        for element in tree.iter(f"{_STYLE}paragraph-properties", f"{_STYLE}page-layout-properties"):
            name = f"{_STYLE}writing-mode"
            is_default = local_name(element.getparent()) in ("default-style", "page-layout")
            if (right_to_left and is_default) or element.get(name) in ("lr-tb", "rl-tb"):
                element.set(name, "rl-tb" if right_to_left else "lr-tb")

    entries = [entry for entry in (_CONTENT, _STYLES) if entry == _CONTENT or entry in archive]
    return xml_document(archive, entries, _paragraphs, set_language if kind else None, beside=entries[1:])


def _check(archive: Archive) -> None:
    if MIMETYPE not in archive or archive.read(MIMETYPE).strip() != _TYPE:
        raise archive.wrong_extension()
    if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
        raise UserError(f"{archive.name} has a password; save the file without a password")
    if any(name.startswith(("Basic/", "Scripts/")) for name in archive.names):
        raise UserError(f"{archive.name} has macros; save the file without macros")
    if any("signatures" in name for name in archive.names if name.startswith("META-INF/")):
        raise UserError(f"{archive.name} is signed, and a translation would break the signature; save the file"
                        " unsigned")


def _paragraphs(tree: Tree) -> Iterator[XmlParagraph]:
    reader = _Reader(tree)
    deleted = {element for changes in tree.iter(f"{_TEXT}tracked-changes") for element in changes.iter(*_PARAGRAPHS)}
    code = {element.get(f"{_STYLE}name") for element in tree.iter(f"{_STYLE}style")
            if is_named_code(element.get(f"{_STYLE}parent-style-name", ""))}
    for element in tree.iter(*_PARAGRAPHS):
        style = element.get(f"{_TEXT}style-name", "")
        if element not in deleted and style not in code and not is_named_code(style):
            yield xml_paragraph(element, reader.items(element), plain=(), add_text=_Writer().add_text)


class _Reader:
    """Reads the paragraphs of an entry.  Spans whose styles look the same are one frame; a span without a format, as
    LibreOffice writes for what was typed at one time, is none."""

    def __init__(self, tree: Tree):
        automatic = [style for style in tree.iter(f"{_STYLE}style")
                     if style.get(f"{_STYLE}family") == "text" and local_name(style.getparent()) == "automatic-styles"]
        self._looks = {style.get(f"{_STYLE}name"): _look(style) for style in automatic}
        self._tags = {style.get(f"{_STYLE}name"): _tag(style) for style in automatic}
        coded = {style.get(f"{_STYLE}name") for style in automatic if _is_monospaced(style)}
        spans = (span for span in tree.iter(f"{_TEXT}span") if span.get(f"{_TEXT}style-name") in coded)
        if sum(map(_length, spans)) < MOSTLY * _length(tree.getroot()):  # else it is a typescript
            self._tags |= dict.fromkeys(coded, "code")
        self._frames: dict[Hashable, Frame] = {}

    def items(self, paragraph: Element) -> Iterator[InlineItem]:
        self._after_space = True  # white space after white space, and at the start, is nothing
        return self._children(paragraph, ())

    def _children(self, parent: Element, path: Path) -> Iterator[InlineItem]:
        yield from self._literal(parent.text, path)
        for child in parent:
            name = local_name(child)
            if child.tag == f"{_TEXT}span":
                frame = self._span(child)
                yield from self._children(child, (*path, frame) if frame else path)
            elif child.tag == f"{_TEXT}a":
                key = tuple(child.items())
                link = self._frames.setdefault(key, Frame.like(child, is_format=False))
                yield from self._children(child, (*path, link))
            elif child.tag == f"{_TEXT}s" and 0 < (count := _count(child)) <= _MOST_SPACES:
                yield InlineItem(path, " " * count)
            elif name != "soft-page-break":  # a note of LibreOffice to itself, no longer true of a translation
                self._after_space &= name in _MARKS or name.endswith(("-start", "-end"))
                yield _kept(child, name, path)
            yield from self._literal(child.tail, path)

    def _literal(self, text: str | None, path: Path) -> Iterator[InlineItem]:
        shown = re.sub("[ \t\n\r]+", " ", text or "")
        if self._after_space:
            shown = shown.removeprefix(" ")
        if shown:
            self._after_space = shown.endswith(" ")
            yield InlineItem(path, shown)

    def _span(self, span: Element) -> Frame | None:
        style = span.get(f"{_TEXT}style-name")
        look = self._looks.get(style, style)
        if not look:
            return None
        if look not in self._frames:
            tag = self._tags.get(style, "code" if is_named_code(style or "") else "span")
            self._frames[look] = replace(Frame.like(span, is_format=tag != "code"), tag=tag)
        return self._frames[look]


def _look(style: Element) -> Hashable:
    """How text of an automatic style looks; None: as without."""
    parent = style.get(f"{_STYLE}parent-style-name")
    own = tuple(one for child in style if (one := properties(child, _NOT_FORMAT)))
    return (parent, own) if parent or own else None


def _tag(style: Element) -> Tag:
    if is_named_code(style.get(f"{_STYLE}parent-style-name", "")):
        return "code"
    position = next((one.get(f"{_STYLE}text-position", "") for one in style.iter(f"{_STYLE}text-properties")), "")
    if position.startswith(("sub", "-")):
        return "sub"
    return "sup" if position and not position.startswith("0") else "span"


def _is_monospaced(style: Element) -> bool:
    return any(is_monospaced(one.get(f"{_STYLE}font-name") or one.get(f"{_FORMAT}font-family") or "")
               for one in style.iter(f"{_STYLE}text-properties"))


def _length(element: Element) -> int:
    return sum(map(len, element.itertext()))


def _count(spaces: Element) -> int:
    count = spaces.get(f"{_TEXT}c", "1")
    return int(count) if count.isdecimal() and len(count) < 5 else 0


def _kept(element: Element, name: str, path: Path) -> InlineItem:
    if name in _BREAKS:
        return InlineItem(path, element, "line" if name == "line-break" else "break")
    named = next((element.get(one) for one in _NAMES if element.get(one)), None)
    kind = name.removesuffix("-start").removesuffix("-end")
    starts, ends = name.endswith("-start") or name == "annotation", name.endswith("-end")
    key = (kind, named) if named else None
    is_word = element.tag.startswith(_TEXT) and not len(element) and bool((element.text or "").strip())  # a field
    return InlineItem(path, element, "kept", start=key if starts else None, end=key if ends else None, is_word=is_word)


class _Writer:
    """Adds text to a new paragraph: spaces that would be nothing there become elements."""

    def __init__(self) -> None:
        self._after_space = True

    def add_text(self, parent: Element, text: str) -> None:
        for part in re.findall("[ \t\n\r]+|[^ \t\n\r]+", text):
            is_space = part[0] in " \t\n\r"
            spaces = len(part) - (not self._after_space) if is_space else 0
            if not is_space or not self._after_space:
                self._add(parent, " " if is_space else part)
            self._after_space = is_space
            if spaces:
                element = etree.SubElement(parent, f"{_TEXT}s")
                if spaces > 1:
                    element.set(f"{_TEXT}c", str(spaces))

    def _add(self, parent: Element, text: str) -> None:
        last = last_child(parent)
        if last is None:
            parent.text = (parent.text or "") + text
        else:
            last.tail = (last.tail or "") + text
