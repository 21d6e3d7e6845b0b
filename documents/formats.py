"""The formats of files, by extension; each module is imported when a file of it is read."""

from __future__ import annotations

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


def read_document(name: str, data: bytes, options: FileOptions) -> Document:
    """The document in a file of this name; UserError for a format that is not known, and for a broken or large file."""
    extension = PurePath(name).suffix.lower().removeprefix(".")
    if extension not in FORMATS:
        raise UserError(f"{name}: files of this format cannot be translated; expected one of {', '.join(FORMATS)}")
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
