"""Archives (zip) that come from anywhere: bounds on what they hold, and the same archive with some entries replaced.

Everything happens in memory: no entry is ever a file, and an archive in an archive is never opened.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from itertools import pairwise
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from seq2see.errors import UserError, as_user_error
from .xml_parts import Tree, element_count, parse

MOST_ENTRIES = 10_000
MOST_ENTRY_BYTES = 50 << 20  # of an entry, expanded
MOST_EXPANDED_BYTES = 100 << 20  # of all entries
MOST_RATIO, RATIO_FROM = 200, 10 << 20  # how often an entry of so many bytes may be the size of its compressed form
LOCAL_HEADER = 30  # bytes before an entry's name
ENCRYPTED = 0x1
MIMETYPE = "mimetype"  # the entry that odt and epub have first, as it is
COMPOUND_FILE = b"\xd0\xcf\x11\xe0"  # of Office before 2007, and of encrypted files


class Archive:
    """The entries of a zip file, checked.  `name` is only for messages.

    Raises:
        UserError: the file is no zip file, is encrypted or broken, is larger than the bounds, or has a name that leads
            out of a folder.
    """

    def __init__(self, data: bytes, name: str):
        self.data, self.name = data, name
        self._extension = name.rpartition(".")[2].lower()
        if data.startswith(COMPOUND_FILE):
            raise UserError(f"{name} has a password, or is in an old Office format; save it without a password in"
                            " the current format")
        if data.count(b"PK\1\2") > MOST_ENTRIES:  # before zipfile makes an object of each
            raise UserError(f"{name} has more than {MOST_ENTRIES:,} entries: split it")
        with as_user_error(f"{name} is broken, or of another format (save it again as {self._extension})"):
            self._zip = ZipFile(BytesIO(data))
        self._entries = {info.filename: info for info in self._zip.infolist()}
        self._elements: dict[str, int] = {}  # of each entry that was parsed
        self._check()

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def wrong_extension(self) -> UserError:
        return UserError(f"{self.name} has the wrong extension, because it is of another format; save it again as"
                         f" {self._extension}")

    def __contains__(self, entry: str) -> bool:
        return entry in self._entries

    def read(self, entry: str) -> bytes:
        if entry not in self._entries:
            raise UserError(f"{self.name} is broken: it has no {entry}")
        with as_user_error(f"{self.name} is broken in {entry}"):
            return self._zip.read(entry)

    def tree(self, entry: str, *, doctype: bool = False) -> Tree:
        """The XML of an entry, see `parse`; UserError also if all that were parsed together have too many elements."""
        data = self.read(entry)
        before = sum(count for name, count in self._elements.items() if name != entry)
        tree = parse(data, f"{self.name}, {entry},", doctype=doctype, before=before)
        self._elements[entry] = element_count(data)
        return tree

    def rewritten(self, changed: Mapping[str, bytes]) -> bytes:
        """The archive with these entries replaced; every other has its bytes, date and place.  Without a change, the
        file itself."""
        if not changed:
            return self.data
        written = BytesIO()
        with ZipFile(written, "w") as new:
            new.comment = self._zip.comment
            for info in sorted(self._entries.values(), key=lambda one: (one.filename != MIMETYPE, one.header_offset)):
                copy = ZipInfo(info.filename, info.date_time)
                copy.compress_type = ZIP_STORED if info.filename == MIMETYPE else info.compress_type
                copy.external_attr, copy.create_system = info.external_attr, info.create_system
                copy.comment = info.comment
                entry = changed.get(info.filename)
                new.writestr(copy, self.read(info.filename) if entry is None else entry)
        return written.getvalue()

    def _check(self) -> None:
        entries = self._zip.infolist()
        twice = [name for name, count in Counter(info.filename.casefold() for info in entries).items() if count > 1]
        if twice:
            raise UserError(f"{self.name} has the entry {twice[0]!r} more than once: save it again")
        for info in entries:
            self._check_entry(info)
        if sum(info.file_size for info in entries) > MOST_EXPANDED_BYTES:
            raise UserError(f"{self.name} expands to more than {MOST_EXPANDED_BYTES:,} bytes: split it")
        # A bomb of overlapping entries expands the same bytes many times.
        starts = [*sorted((info.header_offset, _end(info), info.filename) for info in entries),
                  (self._zip.start_dir, 0, "")]
        for (_, end, entry), (start, *_) in pairwise(starts):
            if end > start:
                raise UserError(f"{self.name} is broken in {entry}: it overlaps what follows")

    def _check_entry(self, info: ZipInfo) -> None:
        entry = info.orig_filename
        where = f"{self.name} has the entry {entry!r}"
        parts = entry.removesuffix("/").split("/")
        if {"", ".", ".."} & set(parts) or any(char in entry for char in "\\:") or not entry.isprintable():
            raise UserError(f"{where}, whose name is not a path inside the file; save the file again")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UserError(f"{where}, which is a link; save the file again")
        if info.flag_bits & ENCRYPTED:
            raise UserError(f"{where}, which is encrypted; save the file without a password")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise UserError(f"{where}, whose compression this format does not allow; save the file again")
        large = info.file_size > RATIO_FROM and info.file_size > MOST_RATIO * info.compress_size
        if large or info.file_size > MOST_ENTRY_BYTES:
            raise UserError(f"{where}, which expands to {info.file_size:,} bytes: split or simplify it")


def _end(info: ZipInfo) -> int:
    return info.header_offset + LOCAL_HEADER + len(info.orig_filename) + info.compress_size
