"""The output of `line_files.py` until it is complete, and the record by which a complete one is known.

The lines that are done are in OUT.part, which becomes OUT when it has all.  The record, .OUT.seq2see.json, says of what
input, model and options they are and, once there are no more to come, the SHA-256 of the output.  A kill at any moment
leaves these two, and the empty OUT.part.lock.  With --resume the record stays beside a complete output, so that the
same command finds nothing left to do.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seq2see.atomic import atomic_write
from seq2see.errors import UserError


class FilePart:
    """The output file until it is complete: OUT.part, and what it is of."""

    def __init__(self, out: Path, about: dict[str, Any]):
        self.out, self.about = out, about
        self.path, self.record = out.with_name(f"{out.name}.part"), out.with_name(f".{out.name}.seq2see.json")

    def begin(self) -> int:
        """Gives how many lines are done, none; UserError where there are lines of an earlier command."""
        if lines := count_lines(self.path) if self.path.exists() else 0:
            raise UserError(f"{self.path} has {lines:,} lines of an unfinished translation; continue with --resume, or"
                            f" delete {self.path} to start again")
        self._write_record(self.about)  # before the file, which would be held to an earlier record
        self.path.write_bytes(b"")
        if self.out.exists():
            self.path.chmod(self.out.stat().st_mode & 0o777 | 0o600)
        return 0

    def resume(self, *, overwrite: bool) -> int | None:
        """How many lines are done; None if the output is complete; UserError if it is another that exists, unless it is
        to `overwrite`, and for lines of something else."""
        if self.out.exists():
            if self._recorded() == self.about | {"output": digest_of(self.out)}:
                return None
            if not overwrite:
                raise UserError(f"{self.out} already exists and may be another translation; to overwrite it, name it"
                                " with -o")
        if self.path.exists() and (self.record.exists() or self.path.stat().st_size):
            self._check()
            return self._whole_lines()
        return self.begin()

    def _write_record(self, record: dict[str, Any]) -> None:
        atomic_write(self.record, json.dumps(record, ensure_ascii=False, indent=1) + "\n")

    def _recorded(self) -> dict[str, Any]:
        """Nothing if it is missing or damaged."""
        try:
            record = json.loads(self.record.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    def _check(self) -> None:
        before = self._recorded()
        if not before:
            raise UserError(f"{self.record} is missing or damaged, so {self.path} cannot be resumed; delete {self.path}"
                            " to start again")
        for name, now in self.about.items():
            if before.get(name) != now:
                then = "another input" if name in ("lines", "sha256") else f"{name} {_change(before.get(name), now)}"
                raise UserError(f"{self.path} was begun with {then}; repeat the command that began it, or delete"
                                f" {self.path} to start again")

    def _whole_lines(self) -> int:
        """Counts the lines, and cuts off what a kill has left of one."""
        count = size = 0
        with self.path.open("rb+") as file:
            for chunk in iter(lambda: file.read(2**20), b""):
                count += chunk.count(b"\n")
                if b"\n" in chunk:
                    size = file.tell() - len(chunk) + chunk.rindex(b"\n") + 1
            file.truncate(size)
        return count

    def finish(self, *, keep_record: bool) -> None:
        if self.out.exists():
            shutil.copymode(self.out, self.path)
        if keep_record:
            self._write_record(self.about | {"output": digest_of(self.path)})
        os.replace(self.path, self.out)
        if not keep_record:
            self.record.unlink()

    def drop_if_empty(self) -> None:
        """Where nothing was written there is nothing to resume."""
        if self.path.exists() and self.path.stat().st_size == 0:
            self.record.unlink(missing_ok=True)
            self.path.unlink()


def _change(before: Any, now: Any) -> str:
    """Two values, as a reader writes them; of options those that differ, of checksums the beginnings."""
    if isinstance(before, dict):
        before, now = ([f"{name} {str(value)[:12]}" for name, value in one.items() if other.get(name) != value]
                       for one, other in ((before, now), (now, before)))
    return ", not ".join(", ".join("-".join(each) if isinstance(each, list) else str(each) for each in one) or "none"
                         if isinstance(one, list) else str(one)[:40] for one in (before, now))


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def count_lines(path: Path) -> int:
    """The lines of a file; a last one may lack its end."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(2**20), b""):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


@contextmanager
def only_writer(part: FilePart) -> Iterator[None]:
    """Inside, no other process writes this output; UserError where one does."""
    path = part.path.with_name(part.path.name + ".lock")
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UserError(f"another process is writing {part.path}; wait until it ends, or give another -o") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()
