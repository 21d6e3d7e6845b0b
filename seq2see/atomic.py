"""Atomic writes: a file has its old content or its new one, never a part."""

import os
import shutil
from contextlib import suppress
from pathlib import Path


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write `content` so that a reader sees it or the old content, even if the process is killed meanwhile.

    Pipes and terminals are written to directly; links are followed; a file keeps its permissions.
    OSError names `path`.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    file = Path(os.path.realpath(path))
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            with unfinished.open("wb") as opened:
                if file.exists():
                    shutil.copymode(file, unfinished)  # before anybody may read what is in it
                opened.write(data)
            os.replace(unfinished, file)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
