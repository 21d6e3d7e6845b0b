"""`manifest.json`: the SHA-256 checksums of a checkpoint's files, so that a damaged file is found and named.

It guards against accidents (a flipped bit, a partial copy, files of two runs mixed), not against people: whoever can
change a file can also update its checksum.  The rules:
- the writer of a checkpoint or export writes the manifest last; the reader checks it if there is one;
- it covers the files in the folder itself at that moment, except `NOTES`, which are written later or edited by people
  (those of a released model are neither).  Files added later are not listed and do no harm;
- a listed file must exist unchanged.  Only code may be missing: a download leaves it out.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

from seq2see.errors import UserError

NAME = "manifest.json"
RECENT = 2_000_000_000  # nanoseconds: within the grain of a file system's clock, a change may leave the time as it is
NOTES = ("*.md", "*.png", "*.yaml", "metrics.json", "alignment.json", "trust.json", NAME)


def write_manifest(folder: Path, *, leave_out: Sequence[str] = NOTES) -> None:
    """Write the checksums of a complete folder.  OSError if it cannot be written."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not any(map(path.match, leave_out)))
    checksums = {path.name: sha256(path) for path in files}
    content = {"sha256": checksums, "of_these_sums": _checksum_of(checksums)}
    (folder / NAME).write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")  # without \n: all is checked


def refresh_manifest(folder: Path, changed: Collection[str]) -> None:
    """Update the checksums of files that were written into a folder after its manifest, where that lists them."""
    path = folder / NAME
    if not path.is_file():
        return
    content = json.loads(path.read_text("utf-8"))
    checksums = content.get("sha256", {})
    if renewed := {name: sha256(folder / name) for name in changed if name in checksums}:
        checksums |= renewed
        unfinished = path.with_name(f".{NAME}.{os.getpid()}")
        content = {"sha256": checksums, "of_these_sums": _checksum_of(checksums)}
        unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")
        os.replace(unfinished, path)


def check_manifest(folder: Path, *, remedy: str = "") -> None:
    """UserError for the first file that differs from the folder's manifest; nothing if there is no manifest.

    `remedy`: how to fix it, if the caller knows better.
    """
    path = folder / NAME
    if not path.is_file():
        return
    try:
        content = json.loads(path.read_text("utf-8"))
        if not {"sha256", "of_these_sums"} & set(content):
            return  # another tool's file of that name
        checksums = dict(content["sha256"])
        names_are_plain = all(Path(name).name == name for name in checksums)
        whole = content["of_these_sums"] == _checksum_of(checksums) and names_are_plain
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is damaged:"
                        f" {remedy or 'expected SHA-256 checksums of the files in its folder'}") from error
    if not whole:
        raise UserError(f"{path} is damaged:"
                        f" {remedy or 'its own checksum or a file name is wrong; copy the folder again'}")
    for name, expected in checksums.items():
        file = folder / name
        if not file.is_file():
            if file.suffix == ".py":
                continue
            raise UserError(f"{file} is missing: {remedy or 'the checkpoint is incomplete; copy it again'}")
        if sha256(file) != expected:
            advice = remedy or f"if you changed it, delete {path}"
            raise UserError(f"{file} is damaged or was changed: its SHA-256 checksum is wrong ({advice})")


def _checksum_of(checksums: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(checksums, sort_keys=True).encode()).hexdigest()


def sha256(path: Path) -> str:
    """The checksum of a file, computed once for as long as the file is unchanged: weights may have gigabytes."""
    state = path.stat()
    if time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) < RECENT:
        return _sha256.__wrapped__(path)
    return _sha256(path, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@lru_cache(maxsize=1_024)
def _sha256(path: Path, *state: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
