"""Word's docx: the body, tables, headers, footers, notes, comments, text boxes, content controls and charts' text.

Deleted text, equations, pictures, and the results of fields that Word computes (page numbers, references) stay.
Written with its own texts, a file is the same, byte for byte; a changed entry is equal as canonical XML but for
paragraphs with another text, in which runs of equal format are joined, and for the language of runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

from ..tokenizer.language_codes import is_right_to_left
from .archive import Archive
from .inline import Frame, InlineItem, Path
from .ooxml import (
    DRAWING_PARTS,
    CodeLook,
    Runs,
    add_run_text,
    checked_parts,
    drawing_paragraphs,
    entries_of,
    set_drawing_language,
)
from .protocol import Document, FileOptions
from .xml_document import OFFICE_TAGS, XmlParagraph, language_kind, xml_document, xml_paragraph
from .xml_parts import Element, Tree, local_name, shallow, sibling_name

_TEXT_PARTS = tuple(f"wordprocessingml.{one}+xml" for one in (
    "document.main", "header", "footer", "footnotes", "endnotes", "comments"))
_LANGUAGE_PARTS = ("wordprocessingml.styles+xml", "wordprocessingml.settings+xml")
_PARAGRAPHS = (  # of the transitional and the strict format
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}p",
)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_AROUND = {"bdo", "customXml", "dir", "hyperlink", "ins", "moveTo", "smartTag"}  # elements around runs
_BREAKS = {"br", "cr", "ptab", "tab"}
_CHARACTERS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_NOTES = {"lastRenderedPageBreak", "proofErr"}  # of Word to itself, no longer true of a translation
_VALUES = {"checkbox", "comboBox", "dataBinding", "date", "dropDownList"}  # of content controls whose text is a value
_TEXT_FIELDS = {"HYPERLINK", "INDEX", "QUOTE", "TOA", "TOC"}  # whose result is text; others are computed
_MOST_FIELDS = 20  # in one another; Word has no more
_AFTER_RTL = {"cs", "em", "lang", "eastAsianLayout", "specVanish", "oMath"}  # in Word's order of properties
_AFTER_BIDI = {"adjustRightInd", "snapToGrid", "spacing", "ind", "contextualSpacing", "mirrorIndents",
               "suppressOverlap", "jc", "textDirection", "textAlignment", "textboxTightWrap", "outlineLvl"}
_AFTER_BIDI_VISUAL = {"tblStyleRowBandSize", "tblStyleColBandSize", "tblW", "jc", "tblCellSpacing", "tblInd",
                      "tblBorders", "shd", "tblLayout", "tblCellMar", "tblLook", "tblCaption", "tblDescription",
                      "tblPrChange"}
_RANGE = re.compile(r"(?P<kind>\w+?)(?:Range)?(?P<end>Start|End)")  # of bookmarks, comments, moved text


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    archive = Archive(data, name)
    parts = checked_parts(archive, "wordprocessingml.document.main+xml")

    kind = language_kind(options.target)
    language = OFFICE_TAGS.get(options.target, options.target)

    def set_language(tree: Tree) -> None:
        attribute = {"main": "val", "east_asian": "eastAsia", "complex": "bidi"}[kind or "main"]
        for element in tree.iter():
            if local_name(element) in ("lang", "themeFontLang"):
                key = sibling_name(element, attribute)
                if language_kind(element.get(key, "")):
                    element.set(key, language)
        set_drawing_language(tree, language)
        set_direction(tree, right_to_left=is_right_to_left(language))

    entries = entries_of(parts, (*_TEXT_PARTS, *DRAWING_PARTS))
    look = CodeLook.of(archive, entries, entries_of(parts, _LANGUAGE_PARTS[:1]))
    return xml_document(archive, entries, partial(_paragraphs, look=look), set_language if kind else None,
                        beside=entries_of(parts, _LANGUAGE_PARTS))


def set_direction(tree: Tree, *, right_to_left: bool) -> None:
    """Give tables, and paragraphs and runs, the direction of a language; these inherit it unless they name their own.
    """
    root = tree.getroot()
    if right_to_left and local_name(root) == "styles":
        defaults = _child(root, "docDefaults", before=("latentStyles", "style"))
        _child(_child(_child(defaults, "rPrDefault", before=("pPrDefault",)), "rPr"), "rtl", before=_AFTER_RTL)
        _child(_child(_child(defaults, "pPrDefault"), "pPr"), "bidi", before=_AFTER_BIDI)
    for element in tree.iter():
        if local_name(element) == "tblPr" and right_to_left and local_name(root) != "styles":
            _child(element, "bidiVisual", before=_AFTER_BIDI_VISUAL)
    for element in tree.iter():
        if local_name(element) in ("bidi", "rtl", "bidiVisual"):
            element.set(sibling_name(element, "val"), str(int(right_to_left)))


def _child(parent: Element, name: str, *, before: Collection[str] = ()) -> Element:
    """The child of this name; a new one comes before those that must come after it."""
    found = parent.find(sibling_name(parent, name))
    if found is None:
        found = parent.makeelement(sibling_name(parent, name))
        places = (place for place, one in enumerate(parent) if local_name(one) in before)
        parent.insert(next(places, len(parent)), found)
    return found


def _paragraphs(tree: Tree, look: CodeLook) -> Iterator[XmlParagraph]:
    runs = Runs(look)
    values = {paragraph for control in tree.iter() if local_name(control) == "sdt" and _is_value(control)
              for paragraph in control.iter(*_PARAGRAPHS)}
    for paragraph in tree.iter(*_PARAGRAPHS):
        if paragraph in values or _is_code(paragraph, look) or _drop_cap(paragraph, paragraph.getnext()) is not None:
            continue
        cap = _drop_cap(paragraph.getprevious(), paragraph)
        items = _with_fields(_items(paragraph, (), runs, {}))
        begun = xml_paragraph(paragraph, items if cap is None else _begun(items, cap.text),
                              plain=(runs.plain(paragraph),), add_text=_add_text, first="pPr")
        yield begun if cap is None else replace(begun, translate=partial(_with_cap, begun, paragraph, cap))
    yield from drawing_paragraphs(tree, look)


def _drop_cap(paragraph: Element | None, following: Element | None) -> Element | None:
    """The text of a paragraph that holds the first letter of the one after it."""
    if paragraph is None or following is None or following.tag not in _PARAGRAPHS:
        return None
    frame = paragraph.find(f"./{sibling_name(following, 'pPr')}/{sibling_name(following, 'framePr')}")
    texts = [one for one in paragraph.iter(sibling_name(following, "t")) if one.text]
    is_cap = frame is not None and frame.get(sibling_name(following, "dropCap"), "none") != "none"
    return texts[0] if is_cap and len(texts) == 1 else None


def _begun(items: Sequence[InlineItem], cap: str) -> list[InlineItem]:
    """The items of a paragraph with its first letter."""
    first = next((number for number, item in enumerate(items) if item.kind == "text"), len(items))
    return [*items[:first], *(replace(item, content=cap + item.text) for item in items[first : first + 1]),
            *items[first + 1 :]]


def _with_cap(begun: XmlParagraph, paragraph: Element, cap: Element, translations: Sequence[str]) -> bool:
    """Translate a paragraph, and put its first letter back into the one before it."""
    if not begun.translate(translations):
        return False
    text = next(one for one in paragraph.iter(sibling_name(paragraph, "t")) if one.text)
    end = next((place for place, char in enumerate(text.text, 1) if char.isalnum()), 0)
    cap.text, text.text = text.text[:end], text.text[end:]
    text.set(_SPACE, "preserve")
    return True


def _is_code(paragraph: Element, look: CodeLook) -> bool:
    style = paragraph.find(f"./{sibling_name(paragraph, 'pPr')}/{sibling_name(paragraph, 'pStyle')}")
    return style is not None and look.is_code(style.get(sibling_name(style, "val"), ""))


def _items(parent: Element, path: Path, runs: Runs, changes: dict[Hashable, Frame]) -> Iterator[InlineItem]:
    """The items of an element around runs.  `changes` are the frames of tracked changes."""
    for child in parent:
        name = local_name(child)
        if name == "r":
            yield from _run_items(child, (*path, runs.frame(child)))
        elif (holder := _holder(child, name)) is not None:
            frame = Frame(partial(_emptied, child, holder), is_format=False)
            if name in ("ins", "moveTo"):  # of each run its own, with its own id
                attributes = tuple((one, value) for one, value in child.items() if one != sibling_name(child, "id"))
                frame = changes.setdefault((name, attributes), frame)
            yield from list(_items(holder, (*path, frame), runs, changes)) or [InlineItem(path, child, "kept")]
        elif match := _RANGE.fullmatch(name):
            key = match["kind"], child.get(sibling_name(child, "id"))
            starts = match["end"] == "Start"
            yield InlineItem(path, child, "kept", start=key if starts else None, end=None if starts else key)
        elif name not in _NOTES and not name.endswith("Pr"):
            yield InlineItem(path, child, "kept", is_word=name == "fldSimple")


def _holder(element: Element, name: str) -> Element | None:
    """The element that holds the runs inside an element around runs; None: it is none, or what it holds stays."""
    if name == "sdt" and not _is_value(element):
        return element.find(sibling_name(element, "sdtContent"))
    is_text_field = name == "fldSimple" and _is_text_field(element.get(sibling_name(element, "instr"), ""))
    return element if name in _AROUND or is_text_field else None


def _run_items(run: Element, path: Path) -> Iterator[InlineItem]:
    alone = (*path[:-1], Frame(path[-1].make))  # the run of what stays is no other's
    for child in run:
        name = local_name(child)
        if name == "t" or name in _CHARACTERS:
            text = _shown(child) if name == "t" else _CHARACTERS[name]
            if text:
                yield InlineItem(path, text)
        elif name not in _NOTES and name != "rPr":
            is_line = name in ("br", "cr") and child.get(sibling_name(child, "type"), "textWrapping") == "textWrapping"
            yield (InlineItem(path, child, "line" if is_line else "break") if name in _BREAKS
                   else InlineItem(alone, child, "kept"))


def _shown(element: Element) -> str:
    """The text of an element, whose outer spaces count only if it says so."""
    text = re.sub("[\t\n\r]", " ", element.text or "")
    if text == text.strip(" "):
        return text
    says = next((one.get(_SPACE) for one in (element, *element.iterancestors()) if one.get(_SPACE)), "")
    return text if says == "preserve" else text.strip(" ")


@dataclass(eq=False)
class _Field:
    """A complex field that has begun: its items, its instruction so far, and where its result begins."""

    items: list[InlineItem]
    instruction: str = ""
    result: int | None = None

    def closed(self, end: InlineItem) -> list[InlineItem]:
        """Its items with the last one: a range around a result that is text, or else one item that stays."""
        if self.result is None or not _is_text_field(self.instruction):
            return [InlineItem(end.path, (*self.items, end), "kept", is_word=self.result is not None)]
        start = InlineItem(end.path, tuple(self.items[: self.result]), "kept", start=self)
        return [start, *self.items[self.result :], replace(end, end=self)]


def _with_fields(items: Iterable[InlineItem]) -> list[InlineItem]:
    """The items with those of each field joined.  A field that ends in another paragraph is left open."""
    opened = [_Field([])]  # the paragraph itself, then the fields
    for item in items:
        part, instruction = _field_part(item.element)
        if part == "begin" and len(opened) <= _MOST_FIELDS:
            opened.append(_Field([]))
        field = opened[-1]
        if part == "end" and len(opened) > 1:
            opened.pop()
            opened[-1].items += field.closed(item)
            continue
        field.items.append(item)
        field.instruction += instruction
        if part == "separate":
            field.result = len(field.items)
    return [item for field in opened for item in field.items]


def _field_part(element: Element | None) -> tuple[str, str]:
    """Which part of a field an element is (`begin`, `separate`, `end`), and what it adds to the instruction."""
    name = "" if element is None else local_name(element)
    if element is None or name not in ("fldChar", "instrText"):
        return "", ""
    return element.get(sibling_name(element, "fldCharType"), ""), (element.text or "") if name == "instrText" else ""


def _is_text_field(instruction: str) -> bool:
    return next(iter(instruction.split()), "").upper() in _TEXT_FIELDS


def _is_value(control: Element) -> bool:
    """Whether the text of a content control is a value that is chosen, or bound to data."""
    own = control.find(sibling_name(control, "sdtPr"))
    return own is not None and any(local_name(one) in _VALUES for one in own)


def _emptied(element: Element, holder: Element) -> tuple[Element, Element]:
    """An element and the one in it for its content (itself, or a child), with the properties alone."""
    new = shallow(element)
    new.extend(deepcopy(child) for child in element if local_name(child).endswith("Pr"))
    if holder is element:
        return new, new
    new.append(shallow(holder))
    return new, new[-1]


def _add_text(run: Element, text: str) -> None:
    added = add_run_text(run, text)
    if added.text != added.text.strip() or "  " in added.text:
        added.set(_SPACE, "preserve")
