"""Files of lines cut into shards, which any machine may translate, and joined again in order.

A finished shard is a file of its own under OUTPUT/.shards, named by its number and by a checksum of all it was made
of: its lines, the model, the options.  Only a whole shard ever gets such a name, so a rerun redoes none that is there,
and after a line was corrected redoes the shard of that line alone.  OUTPUT/.seq2see.json says of each joined file what
it was made of.  INPUT and OUTPUT must be storage that every machine has under the same path.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

from seq2see.atomic import atomic_stream
from seq2see.cli.lines import LONGEST_LINE, Line, read_line
from seq2see.errors import UserError
from seq2see.json_files import read_json
from seq2see.translate.segment_translator import check_text

SHARDS = ".shards"
RECORD = ".seq2see.json"


@dataclass(frozen=True)
class Shard:
    """Consecutive lines of a file: `size` bytes from `start`.  The first is line `first`."""

    file: Path
    start: int
    size: int
    first: int
    lines: int
    checksum: str  # of these bytes
    finished: Path  # its translation, once that is whole

    def __str__(self) -> str:
        return f"{self.file}, lines {self.first:,} to {self.first + self.lines - 1:,}"


@dataclass(frozen=True)
class FileJob:
    """A file to translate, and where its translation goes."""

    output: Path
    shards: tuple[Shard, ...]
    folder: Path  # of its finished shards

    @property
    def made_of(self) -> str:
        return checksum("\n".join(one.finished.name for one in self.shards).encode())


def plan(source: Path, output: Path, *, lines: int, key: str) -> list[FileJob]:
    """A job for each file of a folder, and of the folders within; hidden ones are left out.

    Args:
        lines: of a shard.
        key: what a translation depends on besides its lines.

    Raises:
        UserError: there is no such folder, or no file in it; the output is within it, or is there already and is
            another; a line is too long.
    """
    if not source.is_dir():
        raise UserError(f"there is no folder {source}: INPUT is a folder of files with a text on each line")
    if output == source or source in output.parents:
        raise UserError(f"{output} is inside {source}: a second run would translate the translations; choose another"
                        " OUTPUT")
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is not a folder; choose another OUTPUT")
    names = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    jobs = []
    for name in (name for name in names if not any(part.startswith(".") for part in name.parts)):
        folder = output / SHARDS / name
        jobs.append(FileJob(output / name, tuple(_cut(source / name, folder, lines, key)), folder))
    if not jobs:
        raise UserError(f"{source} has no files: nothing to translate")
    return jobs


def _cut(file: Path, folder: Path, lines: int, key: str) -> Iterator[Shard]:
    """The shards of a file."""
    start, first = 0, 1
    with file.open("rb") as stream:
        pieces = iter(partial(stream.readline, LONGEST_LINE + 2), b"")
        for number in count():
            part = [*islice(pieces, lines)]
            if not part:
                return
            for at, line in enumerate(part, first):
                if len(line) > LONGEST_LINE + 1:  # cut: its rest would count as another
                    raise UserError(f"line {at} of {file} is longer than {LONGEST_LINE:,} bytes; split it")
            data = b"".join(part)
            name = f"{number:06}-{checksum(key.encode() + data)[:20]}"
            yield Shard(file, start, len(data), first, len(part), checksum(data), folder / name)
            start, first = start + len(data), first + len(part)


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def unfinished(job: FileJob) -> list[Shard]:
    """Those of its shards that no run has finished.  Lists the folder instead of asking for each: network storage
    remembers for a while that a file was not there."""
    found = set(os.listdir(job.folder)) if job.folder.is_dir() else set()
    return [one for one in job.shards if one.finished.name not in found]


def read(shard: Shard) -> list[Line]:
    """Its lines with their numbers; UserError, which names file and line, for one that is no UTF-8 text."""
    with shard.file.open("rb") as stream:
        stream.seek(shard.start)
        data = stream.read(shard.size)
    if checksum(data) != shard.checksum:
        raise UserError(f"{shard}: the file changed after the command began, or differs between machines; all machines"
                        " must share INPUT, and its files must not change during the run")
    return [(number, read_line(raw, number, check_text, of=str(shard.file)))
            for number, raw in enumerate(data.removesuffix(b"\n").split(b"\n"), shard.first)]


def write(shard: Shard, lines: Iterable[str]) -> None:
    """The translation of a shard; ValueError, and nothing is written, unless it has a line for each."""
    with durable(shard.finished) as stream:
        written = 0
        for line in lines:
            stream.write(f"{line}\n".encode())
            written += 1
        if written != shard.lines:
            raise ValueError(f"{shard}: {written} translations")


def join(job: FileJob, output: Path) -> None:
    """Join the finished shards, in order, and remove them; UserError for one that is not whole."""
    with durable(job.output) as whole:
        for shard in job.shards:
            data = shard.finished.read_bytes()
            if data.count(b"\n") != shard.lines or not data.endswith(b"\n"):
                raise UserError(f"{shard.finished} does not have {shard.lines:,} lines; delete it and run the"
                                " command again")
            whole.write(data)
    shutil.rmtree(job.folder, ignore_errors=True)
    for folder in job.folder.parents:
        if folder == output:
            break
        with suppress(OSError):  # the shards of other files
            folder.rmdir()


def unjoined(jobs: Sequence[FileJob], output: Path) -> list[FileJob]:
    """Those whose translation is not there yet; UserError if there is another in its place."""
    known, left = recorded(output), []
    for job in jobs:
        if not job.output.exists():
            left.append(job)
        elif known.get(job.output.relative_to(output).as_posix()) != job.made_of:
            raise UserError(f"{job.output} already exists and was made from another input, model or options;"
                            " choose another OUTPUT, or delete the file")
    return left


def recorded(output: Path) -> dict[str, str]:
    """What each file was made of."""
    return read_json(output / RECORD) if (output / RECORD).is_file() else {}


def record(jobs: Sequence[FileJob], output: Path) -> None:
    """Say of what these are made, before they are: then a kill leaves no file of unknown origin."""
    made_of = {job.output.relative_to(output).as_posix(): job.made_of for job in jobs}
    with durable(output / RECORD) as stream:
        stream.write(json.dumps(recorded(output) | made_of, indent=1, ensure_ascii=False).encode() + b"\n")


def durable(path: Path) -> AbstractContextManager[BinaryIO]:
    """`atomic_stream` that survives a power failure, in a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return atomic_stream(path, durable=True)
