"""Plain text in UTF-8: one text, whose line breaks and spaces the translator keeps."""

from __future__ import annotations

from collections.abc import Sequence

from seq2see.errors import UserError
from .protocol import Document, FileOptions, Text

MARK = "\ufeff"  # byte order mark


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """The byte order mark, or nothing, and the text; UserError for another encoding than UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 (byte {error.start + 1}): convert it, for example with"
                        " iconv -f LATIN1 -t UTF-8") from None
    return (MARK, text[1:]) if text.startswith(MARK) else ("", text)


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, text = decoded(data, name)

    def write(translations: Sequence[str]) -> bytes:
        return "".join([mark, *translations]).encode()

    return Document([Text(text)] if text.strip() else [], write if text.strip() else lambda _: data)
