"""The formats of files, by extension; each module is imported when a file of it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath

from seq2see.errors import UserError
from .protocol import MOST_BYTES, MOST_TEXTS, Document, FileOptions

# The module whose `read(data, options, name=...)` gives the Document.
FORMATS: Mapping[str, str] = {
    "txt": "plain_text",
    "md": "markdown_text",
    "html": "html_page",
    "htm": "html_page",
    "srt": "subtitles",
    "vtt": "subtitles",
    "po": "catalogue",
    "pot": "catalogue",
    "csv": "table",
    "tsv": "table",
    "json": "json_strings",
    "docx": "docx_file",
    "odt": "odt_file",
    "xliff": "xliff",
    "xlf": "xliff",
    "pptx": "pptx_file",
    "epub": "epub_file",
}
OFFICE = frozenset(("docx", "odt", "pptx", "epub"))  # which are archives, not text


# What the bytes of a file say of its format, whatever its name.
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"
_ARCHIVE = b"PK\x03\x04"
_PART = re.compile(rb"PK\x03\x04.{26}(?:mimetypeapplication/(?:vnd\.oasis\.opendocument\.(?P<odt>text)"
                   rb"|(?P<epub>epub)\+zip)|(?P<docx>word)/|(?P<pptx>ppt)/)", re.DOTALL)
_OTHERS = {  # formats that cannot be translated, and what to do
    b"%PDF-": "a PDF file; save it as docx",
    b"{\\rtf": "an RTF file; save it as docx",
    _COMPOUND_FILE: "in an old format of Office, or has a password; save it as docx or pptx without a password",
    b"\x1f\x8b": "compressed; unpack it with gunzip",
    _ARCHIVE: "an archive, but no docx, odt, pptx or epub; unpack it, or save it in one of these formats",
}


def kind_of(name: str, data: bytes) -> str:
    """The extension of the format that the bytes of a file show, or else that of its name."""
    found = _PART.search(data) if data.startswith(_ARCHIVE) else None
    return str(found.lastgroup) if found else PurePath(name).suffix.lower().removeprefix(".")


def read_document(name: str, data: bytes, options: FileOptions) -> Document:
    """The document in a file of this name; UserError for a format that is not known, and for a broken or large file."""
    extension = kind_of(name, data)
    if extension not in FORMATS:
        raise UserError(f"{name}: files of this format cannot be translated; expected one of {', '.join(FORMATS)}")
    for begins, what in _OTHERS.items():
        if data.startswith(begins) and extension not in OFFICE:
            raise UserError(f"{name} is {what}")
    if len(data) > MOST_BYTES:
        raise UserError(f"{name} has {len(data):,} bytes: at most {MOST_BYTES:,} are allowed; split it")
    try:
        module = import_module(f".{FORMATS[extension]}", __package__)
    except ModuleNotFoundError as error:
        raise UserError(f"{name}: files of this format need {error.name}: pip install 'seq2see[files]'") from None
    document: Document = module.read(data, options, name=name)
    if len(document.texts) > MOST_TEXTS:
        raise UserError(f"{name} has more than {MOST_TEXTS:,} texts: split it")
    return document


@cache
def usable_formats() -> tuple[str, ...]:
    """The extensions of the formats whose libraries are installed."""
    return tuple(extension for extension, module in FORMATS.items() if _is_usable(module))


def _is_usable(module: str) -> bool:
    try:
        import_module(f".{module}", __package__)
    except ModuleNotFoundError:
        return False
    return True
