"""Translated files that wait to be downloaded: in memory, each under an unguessable name and for a limited time.

A name is all that a download needs, because LibreTranslate's clients send no key with it.  No route lists the names.  A
new file replaces only files of the same account.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

from .api_errors import APIError

NAME_BYTES = 24  # of chance in a name
SHARES = 4  # how many accounts fill it all


@dataclass(frozen=True)
class Download:
    """A file, the name for saving it, and its account."""

    filename: str
    data: bytes
    account: str = ""


class Downloads:
    """Keeps files for download.

    Args:
        seconds: how long each is kept.
        most_bytes: the limit for all files together.  An account has a quarter; its oldest file is dropped first.
    """

    def __init__(self, *, seconds: float, most_bytes: int):
        self.seconds = seconds
        self.most_bytes = most_bytes
        self.bytes = 0
        self._kept: dict[str, Download] = {}  # oldest first

    def add(self, file: Download, *, extension: str) -> str:
        """The name of a new download; call it on the event loop.

        Raises APIError: 413 for a file larger than the limit of all files, 503 if files of other accounts leave no
        room.
        """
        size = len(file.data)
        if size > self.most_bytes:
            raise APIError(413, "file_too_large", f"the translated file has {size} bytes: at most {self.most_bytes} can"
                           " be kept (setting download_bytes)")
        own = [name for name, kept in self._kept.items() if kept.account == file.account]
        own_bytes = sum(len(self._kept[name].data) for name in own)
        while own and (own_bytes + size > self.most_bytes // SHARES or self.bytes + size > self.most_bytes):
            own_bytes -= len(self._kept[own[0]].data)
            self._drop(own.pop(0))
        if self.bytes + size > self.most_bytes:
            raise APIError(503, "downloads_full", "too many translated files are waiting for download: try again in a"
                           " minute",
                           retry_after=60)
        name = f"{secrets.token_urlsafe(NAME_BYTES)}.{extension}"
        self._kept[name] = file
        self.bytes += size
        asyncio.get_running_loop().call_later(self.seconds, self._drop, name)
        return name

    def find(self, name: str) -> Download:
        """The file of a name.

        Raises APIError (404) for a name that does not exist or has expired.
        """
        if name not in self._kept:
            raise APIError(404, "not_found", "the file does not exist or has expired: translate it again")
        return self._kept[name]

    def _drop(self, name: str) -> None:
        file = self._kept.pop(name, None)
        self.bytes -= len(file.data) if file else 0
