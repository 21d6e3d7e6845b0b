"""Translated files that wait to be downloaded: in memory, each under an unguessable name and for a limited time.

A name is all that a download needs, as LibreTranslate's clients send no key with it; nothing lists the names.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

from .api_errors import APIError

NAME_BYTES = 24  # of chance in a name


@dataclass(frozen=True)
class Download:
    """A file, and the name under which it is saved."""

    filename: str
    data: bytes


class Downloads:
    """
    Args:
        seconds: how long each is kept.
        most_bytes: of all together; the oldest goes first.
    """

    def __init__(self, *, seconds: float, most_bytes: int):
        self.seconds = seconds
        self.most_bytes = most_bytes
        self.bytes = 0
        self._kept: dict[str, Download] = {}  # oldest first

    def add(self, file: Download, *, extension: str) -> str:
        """The name of a new download; APIError (413) for a file larger than all may be together.  On the event loop."""
        size = len(file.data)
        if size > self.most_bytes:
            raise APIError(413, "file_too_large", f"the translated file has {size} bytes: at most {self.most_bytes} can"
                           " be kept (setting download_bytes)")
        while self.bytes + size > self.most_bytes:
            self._drop(next(iter(self._kept)))
        name = f"{secrets.token_urlsafe(NAME_BYTES)}.{extension}"
        self._kept[name] = file
        self.bytes += size
        asyncio.get_running_loop().call_later(self.seconds, self._drop, name)
        return name

    def find(self, name: str) -> Download:
        """APIError (404) for a name that there is not, or no longer."""
        if name not in self._kept:
            raise APIError(404, "not_found", "there is no such file, or no longer: translate it again")
        return self._kept[name]

    def _drop(self, name: str) -> None:
        file = self._kept.pop(name, None)
        self.bytes -= len(file.data) if file else 0
