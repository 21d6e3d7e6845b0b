"""Atomic writes: a file has its old content or its new one, never a part."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write `content` as `atomic_stream` does."""
    with atomic_stream(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def atomic_stream(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A stream whose content takes the place of the old one when the block ends without an error.

    A reader sees all of it or the old content, even if the process is killed meanwhile; with `durable`, even if the
    power fails.  Several machines may write the same file.  Pipes and terminals are written to directly; links are
    followed; a file keeps its permissions.  OSError names `path`.
    """
    file = Path(os.path.realpath(path))
    unfinished = file.with_name(f".{file.name}.{os.urandom(16).hex()}")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        with unfinished.open("xb") as stream:
            if file.exists():
                shutil.copymode(file, unfinished)  # before anybody may read what is in it
            yield stream
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(unfinished, file)
        if durable and os.name == "posix":
            folder = os.open(file.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
