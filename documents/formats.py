"""The formats of files, by extension; each module is imported when a file of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath

from seq2see.errors import UserError
from .protocol import Document, FileOptions

# The module whose `read(data, options, name=...)` gives the Document.
FORMATS: Mapping[str, str] = {
    "txt": "plain_text",
    "docx": "docx_file",
    "odt": "odt_file",
    "pptx": "pptx_file",
    "epub": "epub_file",
}


def read_document(name: str, data: bytes, options: FileOptions) -> Document:
    """The document in a file of this name; UserError for a format that is not known, and for a broken file."""
    extension = PurePath(name).suffix.lower().removeprefix(".")
    if extension not in FORMATS:
        raise UserError(f"{name}: files of this format cannot be translated; expected one of {', '.join(FORMATS)}")
    module = import_module(f".{FORMATS[extension]}", __package__)
    document: Document = module.read(data, options, name=name)
    return document
