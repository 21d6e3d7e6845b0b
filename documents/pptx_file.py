"""PowerPoint's pptx: slides, notes, text of masters outside placeholders, tables, SmartArt and titles of charts.

Fields such as slide numbers, comments and the data of charts stay.  Written with its own texts, a file is the same,
byte for byte; a changed entry is equal as canonical XML but for paragraphs with another text, in which runs of equal
format are joined, and for the language of runs.
"""

from __future__ import annotations

from functools import partial

from .archive import Archive
from .ooxml import DRAWING_PARTS, CodeLook, checked_parts, drawing_paragraphs, entries_of, set_drawing_language
from .protocol import Document, FileOptions
from .xml_document import OFFICE_TAGS, language_kind, xml_document

_SLIDES = tuple(f"presentationml.{one}+xml" for one in ("slide", "notesSlide", "slideMaster", "slideLayout"))


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    archive = Archive(data, name)
    parts = checked_parts(archive, "presentationml.presentation.main+xml")
    language = OFFICE_TAGS.get(options.target, options.target)
    set_language = partial(set_drawing_language, language=language) if language_kind(language) else None
    entries = entries_of(parts, (*_SLIDES, *DRAWING_PARTS))
    paragraphs = partial(drawing_paragraphs, look=CodeLook.of(archive, entries))
    return xml_document(archive, entries, paragraphs, set_language)
