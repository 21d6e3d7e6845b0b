"""Prepared data on disk: made once, found again by its fingerprint, and shared by whoever asks for it at the same time.

It lies in `seq2see/` below the folder that `datasets` keeps its own in: `HF_DATASETS_CACHE`, else `datasets/` in
`HF_HOME`, else `huggingface/datasets/` in `XDG_CACHE_HOME` or `~/.cache`.  All of it may be deleted at any time at
which nothing is trained; it takes a few times the room of the text, and is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock

from seq2see.errors import UserError


def cache_folder() -> Path:
    from datasets import config

    return Path(config.HF_DATASETS_CACHE) / "seq2see"


def fingerprint(*items: Any) -> str:
    """Of whatever JSON can hold."""
    return hashlib.blake2b(json.dumps(items).encode(), digest_size=12).hexdigest()


def get_or_build(folder: Path, make: Callable[[Path], None]) -> Path:
    """`folder`, filled by `make` unless it is there: whole or not at all, by one process while others wait for it.

    The lock is a file and no barrier of torch: it also holds between runs, and waits longer than a barrier would.
    """
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                unfinished = folder.with_name(f"{folder.name}.unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                make(unfinished)
                os.replace(unfinished, folder)
    except OSError as error:
        raise UserError(
            f"cannot keep prepared data in {folder} ({error.strerror or error});"
            " free disk space, or set HF_DATASETS_CACHE to another folder"
        ) from error
    return folder
