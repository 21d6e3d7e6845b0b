"""The output of `corpus.py` until it is complete."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seq2see.atomic import atomic_write
from seq2see.errors import UserError


class Part:
    """The output file until it is complete: OUT.part, and what it is of."""

    def __init__(self, out: Path, about: dict[str, Any]):
        self.out, self.about = out, about
        self.path, self.record = (out.with_name(out.name + end) for end in (".part", ".part.json"))

    def begin(self) -> int:
        """Gives how many lines are done, none; UserError where there are lines of an earlier command."""
        if lines := count_lines(self.path) if self.path.exists() else 0:
            raise UserError(f"{self.path} has {lines:,} lines of an unfinished translation: go on with --resume, or"
                            " remove it to start over")
        self.path.write_bytes(b"")  # before the record: a record without it says that the output is complete
        atomic_write(self.record, json.dumps(self.about, ensure_ascii=False, indent=1) + "\n")
        return 0

    def resume(self, *, overwrite: bool) -> int | None:
        """How many lines are done; None if the output is complete.  What is begun anew may `overwrite` the output."""
        if self.path.exists() and (self.record.exists() or self.path.stat().st_size):
            self._check()
            return self._whole_lines()
        if not self.path.exists() and (self.record.exists() or self._has_all()):
            self.record.unlink(missing_ok=True)
            return None
        if not overwrite and self.out.exists():
            raise UserError(f"{self.out} exists, and {self.path}, to resume from, does not: give -o {self.out} to"
                            " overwrite it")
        return self.begin()

    def _has_all(self) -> bool:
        return self.out.exists() and count_lines(self.out) == self.about["lines"]

    def _check(self) -> None:
        try:
            before = json.loads(self.record.read_text("utf-8"))
        except (OSError, ValueError):
            raise UserError(f"{self.record} is missing or damaged, so {self.path} cannot be resumed: remove both to"
                            " start over") from None
        for name, now in self.about.items():
            if before.get(name) != now:
                told = "the input has changed since" if name in ("lines", "sha256") else (
                    f"{name} is {now!r}, and was {before.get(name)!r} when")
                raise UserError(f"{told} {self.path} was begun: give the same again, or remove it to start over")

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

    def finish(self) -> None:
        os.replace(self.path, self.out)
        self.record.unlink()

    def drop_if_empty(self) -> None:
        """Where nothing was written there is nothing to resume."""
        if self.path.exists() and self.path.stat().st_size == 0:
            self.record.unlink(missing_ok=True)
            self.path.unlink()


def count_lines(path: Path) -> int:
    """The lines of a file; a last one may lack its end."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(2**20), b""):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


@contextmanager
def only_writer(part: Part) -> Iterator[None]:
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
