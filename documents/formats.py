"""The formats of files, by extension; each module is imported when a file of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath

from seq2see.errors import UserError
from .protocol import Document, FileOptions

# The module whose `read(data, options, name=...)` gives the Document.
FORMATS: Mapping[str, str] = {
    "txt": "plain_text",
}


def read_document(name: str, data: bytes, options: FileOptions) -> Document:
    """The document in a file of this name; UserError for a format that is not known, and for a broken file."""
    extension = PurePath(name).suffix.lower().removeprefix(".")
    if extension not in FORMATS:
        raise UserError(f"{name}: files of this format cannot be translated; expected one of {', '.join(FORMATS)}")
    try:
        module = import_module(f".{FORMATS[extension]}", __package__)
    except ModuleNotFoundError as error:
        raise UserError(f"{name}: files of this format need {error.name}: pip install 'seq2see[files]'") from None
    document: Document = module.read(data, options, name=name)
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
