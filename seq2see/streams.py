"""What comes in is UTF-8; results go to stdout, everything else to stderr: also what libraries have to say."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from seq2see.errors import UserError

LINES_CHECKED = 10_000  # of a file, before a model is loaded for it
UTF_16 = "not UTF-8 but UTF-16; convert it by iconv -f UTF-16 -t UTF-8"


@contextmanager
def only_results_on_stdout() -> Iterator[None]:
    """Inside, what is written to stdout by its number goes to stderr; for loading models, before there are results.

    `tokenizers` prints there, from Rust, what it does not know in a stranger's file.
    """
    if sys.stdout:
        sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed: nothing can be told apart
        yield
        return
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def is_utf16(data: bytes) -> bool:
    """Whether it begins as text in UTF-16 (or UTF-32) does: with its mark, or with a letter and a zero."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) or 0 in data[:2]


def decoded(line: bytes, place: str) -> str:
    """A line of a file in UTF-8, without its end; UserError for any other, that says where it is."""
    if is_utf16(line):
        raise UserError(f"{place}: {UTF_16}")
    try:
        return line.rstrip(b"\r\n").decode("utf-8-sig")  # joined files have a mark in their midst
    except UnicodeDecodeError as error:
        where = f"{place}, byte {error.start + 1}"
        raise UserError(f"{where}: not UTF-8; convert it, for example by iconv -f LATIN1 -t UTF-8") from error
