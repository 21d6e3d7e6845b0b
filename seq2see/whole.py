"""Text files that are there whole, or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """A reader finds this text or what was there before, whatever ends the process meanwhile."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
