"""What docx and pptx share: parts by content type, runs, and the paragraphs of DrawingML (shapes, charts, SmartArt)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from seq2see.errors import UserError
from ..tokenizer.language_codes import is_right_to_left
from .archive import Archive
from .code import MOSTLY, is_monospaced, is_named_code
from .inline import Frame, InlineItem, Tag
from .xml_document import XmlParagraph, xml_paragraph
from .xml_parts import Element, Tree, last_child, local_name, properties, sibling_name

CONTENT_TYPES = "[Content_Types].xml"
DRAWING_PARTS = ("drawingml.chart+xml", "drawingml.diagramData+xml", "drawingml.diagramDrawing+xml")
_DRAWING_PARAGRAPHS = (  # of the transitional and the strict format
    "{http://schemas.openxmlformats.org/drawingml/2006/main}p", "{http://purl.oclc.org/ooxml/drawingml/main}p",
)
# Attributes and children of a run's properties that do not change how it looks.
_NOT_FORMAT = {"lang", "altLang", "dirty", "err", "smtClean", "noProof", "bmk"}


def checked_parts(archive: Archive, main: str) -> dict[str, str]:
    """The content type of each part, in the file's order.  That of the main part ends with `main`.

    Raises:
        UserError: the file is of another format, has macros, or a signature, which a translation would break.
    """
    types = archive.tree(CONTENT_TYPES).getroot()
    defaults = {one.get("Extension", "").lower(): one.get("ContentType", "")
                for one in types if local_name(one) == "Default"}
    parts = {one.get("PartName", "").removeprefix("/"): one.get("ContentType", "")
             for one in types if local_name(one) == "Override"}
    for name in archive.names:  # .NET gives the main part its type so
        parts.setdefault(name, defaults.get(name.rpartition(".")[2].lower(), ""))
    macros = [name for name in archive.names if name.lower().endswith(("vbaproject.bin", "vbadata.xml"))]
    if macros or any("macroEnabled" in kind for kind in parts.values()):
        raise UserError(f"{archive.name} has macros; save the file without macros")
    if any(name.startswith("_xmlsignatures/") for name in archive.names):
        raise UserError(f"{archive.name} is signed, and a translation would break the signature; save the file"
                        " unsigned")
    if not any(kind.endswith(main) for kind in parts.values()):
        raise archive.wrong_extension()
    return parts


def entries_of(parts: dict[str, str], kinds: tuple[str, ...]) -> list[str]:
    """The entries whose content types end so."""
    return [name for name, kind in parts.items() if kind.endswith(kinds)]


@dataclass(frozen=True)
class CodeLook:
    """How code looks in a file: the ids of its `styles`, and whether its `fonts` of one width are for code."""

    styles: frozenset[str]
    fonts: bool

    @classmethod
    def of(cls, archive: Archive, entries: Sequence[str], styles: Sequence[str] = ()) -> CodeLook:
        """That of a file with text in these entries, and styles in those."""
        names = [child for entry in styles for style in archive.tree(entry).getroot() if local_name(style) == "style"
                 for child in style if local_name(child) == "name"]
        coded = (name.getparent() for name in names if is_named_code(name.get(sibling_name(name, "val"), "")))
        return cls(frozenset(style.get(sibling_name(style, "styleId"), "") for style in coded),
                   _has_code_fonts(archive, entries))

    def is_code(self, style: str) -> bool:
        return style in self.styles or is_named_code(style)


def _has_code_fonts(archive: Archive, entries: Sequence[str]) -> bool:
    """Whether some runs have a font of one width, but not as many as in a typescript."""
    if not any(is_monospaced(archive.read(entry).decode("utf-8", "ignore")) for entry in entries):
        return False
    every = coded = 0
    for run in (one for entry in entries for one in archive.tree(entry).iter() if local_name(one) == "r"):
        length = sum(len(child.text or "") for child in run if local_name(child) == "t")
        every += length
        coded += length * is_monospaced(_font(run.find(sibling_name(run, "rPr"))))
    return coded < MOSTLY * every


def _font(own: Element | None) -> str:
    """The font that a run names; empty if it names none."""
    for child in () if own is None else own:
        if local_name(child) in ("rFonts", "latin"):
            return str(child.get(sibling_name(child, "ascii")) or child.get("typeface") or "")
    return ""


class Runs:
    """The frames of runs; runs that look the same have one."""

    def __init__(self, look: CodeLook) -> None:
        self._look = look
        self._frames: dict[Hashable, Frame] = {}

    @staticmethod
    def plain(paragraph: Element) -> Frame:
        """The frame of a run without properties."""
        return Frame(lambda: _run(paragraph, None))

    def frame(self, run: Element) -> Frame:
        own = run.find(sibling_name(run, "rPr"))
        key = properties(own, _NOT_FORMAT)
        if key not in self._frames:
            tag = _tag(own, self._look)
            self._frames[key] = Frame(lambda: _run(run, own), is_format=tag != "code" and not _is_link(own), tag=tag)
        return self._frames[key]


def add_run_text(run: Element, text: str) -> Element:
    """Add text to a run, or to the text that ends it; the element that it is in."""
    name = sibling_name(run, "t")
    last = last_child(run)
    if last is None or last.tag != name:
        last = etree.SubElement(run, name)
    last.text = (last.text or "") + text
    return last


def drawing_paragraphs(tree: Tree, look: CodeLook) -> Iterator[XmlParagraph]:
    """The paragraphs of shapes, without the prompts of placeholders in masters and layouts."""
    is_master = local_name(tree.getroot()) in ("sldMaster", "sldLayout")
    runs = Runs(look)
    for one in tree.iter(*_DRAWING_PARAGRAPHS):
        if is_master and _is_placeholder(one):
            continue
        yield xml_paragraph(one, _drawing_items(one, runs), plain=(runs.plain(one),), add_text=add_run_text,
                            first="pPr", last="endParaRPr")


def set_drawing_language(tree: Tree, language: str) -> None:
    for one in tree.iter():
        if local_name(one) in ("rPr", "endParaRPr", "defRPr") and one.get("lang"):
            one.set("lang", language)
    right_to_left = is_right_to_left(language)
    for paragraph in tree.iter(*_DRAWING_PARAGRAPHS):
        own = paragraph.find(sibling_name(paragraph, "pPr"))
        if own is None and right_to_left:
            own = paragraph.makeelement(sibling_name(paragraph, "pPr"))
            paragraph.insert(0, own)
        if own is not None and right_to_left != (own.get("rtl") in ("1", "true")):
            own.set("rtl", str(int(right_to_left)))
            if own.get("algn", "l") in ("l", "r"):
                own.set("algn", "r" if right_to_left else "l")


def _drawing_items(paragraph: Element, runs: Runs) -> Iterator[InlineItem]:
    for child in paragraph:
        name = local_name(child)
        if name == "r":
            frame = runs.frame(child)
            for text in re.split(r"(\t)", child.findtext(sibling_name(child, "t"), "")):
                if text:
                    yield InlineItem((frame,), text.replace("\n", " "), "break" if text == "\t" else "text")
        elif name not in ("pPr", "endParaRPr"):
            yield InlineItem((), child, "line" if name == "br" else "kept", is_word=name == "fld")


def _is_placeholder(paragraph: Element) -> bool:
    shape = next((one for one in paragraph.iterancestors() if local_name(one) == "sp"), None)
    return shape is not None and any(local_name(one) == "ph" for one in shape.iter())


def _run(like: Element, own: Element | None) -> tuple[Element, Element]:
    run = etree.Element(sibling_name(like, "r"), nsmap=like.nsmap)
    if own is not None:
        run.append(deepcopy(own))
        run[0].tail = None
    return run, run


def _is_link(own: Element | None) -> bool:
    return own is not None and any(local_name(child).startswith("hlink") for child in own)


def _tag(own: Element | None, look: CodeLook) -> Tag:
    if own is None:
        return "span"
    style = own.find(sibling_name(own, "rStyle"))
    if style is not None and look.is_code(style.get(sibling_name(own, "val"), "")):
        return "code"
    if look.fonts and is_monospaced(_font(own)):
        return "code"
    baseline = own.get("baseline", "0")  # of DrawingML: how much the run is raised
    aligned = own.find(sibling_name(own, "vertAlign"))  # of WordprocessingML
    kind = "" if aligned is None else aligned.get(sibling_name(own, "val"), "")
    if kind == "subscript" or baseline.startswith("-"):
        return "sub"
    return "sup" if kind == "superscript" or baseline.strip("0%") else "span"
