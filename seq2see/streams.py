"""Input is UTF-8; results go to stdout; everything else, including library output, goes to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from seq2see.errors import UserError

LINES_CHECKED = 10_000  # of a file, before the model is loaded
UTF_16 = "not UTF-8 but UTF-16; convert it with iconv -f UTF-16 -t UTF-8"


@contextmanager
def only_results_on_stdout() -> Iterator[None]:
    """Inside, file descriptor 1 goes to stderr; for loading models, before there are results.

    `tokenizers` prints warnings there, from Rust, about what it does not know in a file.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def is_utf16(data: bytes) -> bool:
    """Whether it begins like UTF-16 (or UTF-32): with a byte-order mark, or a letter and a zero."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) or 0 in data[:2]


def decoded(line: bytes, place: str) -> str:
    """A line of a UTF-8 file, without its end; UserError that names the place for any other encoding."""
    if is_utf16(line):
        raise UserError(f"{place}: {UTF_16}")
    try:
        return line.rstrip(b"\r\n").decode("utf-8-sig")  # concatenated files have byte-order marks in the middle
    except UnicodeDecodeError as error:
        where = f"{place}, byte {error.start + 1}"
        raise UserError(f"{where}: not UTF-8; convert it, for example with iconv -f LATIN1 -t UTF-8") from error


def printable(text: str) -> str:
    """The text with escapes for what could move a cursor, ring a bell or turn a line round."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
