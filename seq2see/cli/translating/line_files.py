"""A file of lines, translated line by line: in order, in flat memory, whatever its size.

Finished lines are in OUT.part until it has all (`part.py`).  Resuming drops a line that a kill cut, and skips as many
lines of the input as are left.  The input, compared by SHA-256, and all that determines a line must be the same.  So no
line is lost or doubled.
"""

import hashlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from seq2see import __version__
from seq2see.cli.lines import LONGEST_LINE, line_by_line, read_line
from seq2see.cli.translating.file_report import print_remarks
from seq2see.cli.translating.local_workers import Load, in_process, process_count, work_in_processes
from seq2see.cli.translating.part import FilePart, only_writer
from seq2see.cli.translating.request import TranslationRequest
from seq2see.errors import UserError
from seq2see.training.progress import Progress
from seq2see.translate.remarks import Doubts, Remarks
from seq2see.translate.segment_translator import check_text

WINDOW = 512  # lines translated together
AT_ONCE = 2  # windows in one process: while the engine translates one, Python cuts and joins the other
AHEAD = 2  # windows more, for each of those, that are read and wait for their turn
POOLED = 20_000  # lines that are worth the start of other processes
MARK = b"\xef\xbb\xbf"  # byte order mark


class Line(NamedTuple):
    """A line of a file: its number, from 1, its text, and the byte order mark and the line end around that."""

    number: int
    text: str
    before: bytes
    end: bytes


Window = list[Line]
Translated = tuple[list[tuple[str, Doubts]], str]  # of a window; if one line is invalid, those before, and the error


@dataclass(frozen=True)
class LineFile:
    """A file all of whose lines can be translated."""

    path: Path
    count: int
    sha256: str

    @classmethod
    def checked(cls, path: Path) -> "LineFile":
        """Reads the whole file; UserError that names a line that is not UTF-8, too long, or no text."""
        digest, count = hashlib.sha256(), 0
        with path.open("rb") as file:
            for count, raw in _digested(file, digest):
                read_line(raw, count, check_text, of=str(path))
        return cls(path, count, digest.hexdigest())

    def windows(self, *, skip: int) -> Iterator[Window]:
        """The lines after so many, in groups that are translated together.

        UserError at the end if the file is no longer what was checked.
        """
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            lines = (self._line(number, raw) for number, raw in _digested(file, digest) if number > skip)
            while window := list(islice(lines, WINDOW)):
                yield window
        if digest.hexdigest() != self.sha256:
            raise UserError(f"{self.path} changed while the command translated it; run the command again")

    def _line(self, number: int, raw: bytes) -> Line:
        text = read_line(raw, number, str, of=str(self.path))
        return Line(number, text, MARK * raw.startswith(MARK), raw[len(raw.rstrip(b"\r\n")):])


def _digested(file: BinaryIO, digest: Any) -> Iterator[tuple[int, bytes]]:
    """The numbers and bytes of lines, which the digest has read too; of a line that is too long, too much."""
    for number, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE + 2), b""), start=1):
        digest.update(raw)
        yield number, raw


def translate_lines(lines: LineFile, out: Path, request: TranslationRequest, another: Load, *, resume: bool,
                    overwrite: bool) -> Remarks:
    """Write `out`, behind a link too, or go on where a killed command stopped.  The remarks are on what this run
    translated.

    Args:
        another: loads another request, in a process of its own.
        overwrite: an `out` that exists.

    UserError for an unfinished output that is not to be resumed, or is of something else, and for a line that the model
    refuses; what was translated before stays to be resumed.
    """
    part = FilePart(behind_link(out), about(lines, request))
    with only_writer(part):
        try:
            done = part.resume(overwrite=overwrite) if resume else part.begin()
            if done is None:
                print(f"{out} is complete", file=sys.stderr)
                return Remarks("lines", of=out.name)
            with part.path.open("ab") as file, executor(lines.count - done, request, another) as (work, count):
                remarks = write_lines(lines, in_order(work, count, lines.windows(skip=done)), file, done=done,
                                      name=out.name, jsonl=request.jsonl)
            part.finish(keep_record=resume)
            print_remarks(remarks, source=request.source)
            return remarks
        except OSError as error:
            raise UserError(f"{error.strerror}: {error.filename or part.path}; the lines translated so far are kept:"
                            " free disk space, then continue with --resume") from error
        except BrokenProcessPool:
            raise UserError(f"a process that translated {lines.path} ended, possibly out of memory; continue with"
                            " --resume") from None
        finally:
            part.drop_if_empty()


def behind_link(out: Path) -> Path:
    """The file itself, which is replaced; its link stays."""
    return Path(os.path.realpath(out)) if out.is_symlink() else out


def write_lines(lines: LineFile, translated: Iterable[tuple[Window, Translated]], file: BinaryIO, *, done: int,
                name: str, jsonl: bool) -> Remarks:
    """Write the lines after those that are done.  Whatever ends it, the file has whole lines, in order."""
    progress = Progress(name, lines.count, "lines", done=done)
    remarks = Remarks("lines", of=name)
    try:
        for window, (found, error) in translated:
            pairs = list(zip(window, found, strict=False))
            file.write(b"".join(text.encode() + b"\n" if jsonl else line.before + text.encode() + line.end
                                for line, (text, _) in pairs))
            file.flush()
            for line, (text, doubts) in pairs:
                remarks.note(line.number, doubts, text=line.text, translation=text)
            if error:
                raise UserError(f"{lines.path}, {error}")
            progress.advance(len(window))
        progress.end()
    finally:
        progress.clear()
    return remarks


def translate_window(request: TranslationRequest, window: Window) -> Translated:
    found: list[tuple[str, Doubts]] = []
    numbered = [(line.number, line.text) for line in window]
    try:
        for results, text in line_by_line(partial(request.translated, of_file=True), numbered):
            found.append((text, Doubts.of(results)))
    except UserError as error:
        return found, str(error)
    return found, ""


Work = Callable[[Window], "Future[Translated]"]


@contextmanager
def executor(lines: int, request: TranslationRequest, another: Load) -> Iterator[tuple[Work, int]]:
    """Gives what begins to translate a window, and how many it works on at a time.

    Python cuts and joins texts on one core of a process: what takes longer than a start is shared among processes, each
    with the model.
    """
    count = process_count(request) if lines >= POOLED else 1
    if count == 1:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            yield lambda window: threads.submit(translate_window, request, window), AT_ONCE
    else:
        with work_in_processes(count, another) as processes:
            yield lambda window: processes.submit(in_process, translate_window, window), count


def in_order(work: Work, count: int, windows: Iterable[Window]) -> Iterator[tuple[Window, Translated]]:
    """Each window with its translations, in order; few more are read than `count`, which are worked on at a time."""
    waiting: deque[tuple[Window, Future[Translated]]] = deque()
    try:
        for window in windows:
            waiting.append((window, work(window)))
            if len(waiting) >= count * (1 + AHEAD):
                first, translated = waiting.popleft()
                yield first, translated.result()
        while waiting:
            first, translated = waiting.popleft()
            yield first, translated.result()
    finally:
        for _, translated in waiting:
            translated.cancel()


def about(lines: LineFile, request: TranslationRequest) -> dict[str, Any]:
    """What the output is of: the input, and all that determines a line."""
    translator, options = request.translator, request.options
    pairs = [translator.pair(options["source"], target) for target in request.targets]
    chosen = {name: str(value) for name, value in options.items() if value and name not in ("source", "glossary")}
    if "glossary" in options:
        chosen["glossary"] = hashlib.sha256(repr(options["glossary"]).encode()).hexdigest()
    engine = translator.engine
    form = [name for name in ("check", "calibrated", "jsonl", "alignments") if getattr(request, name)]
    return {
        "lines": lines.count, "sha256": lines.sha256,
        "model": translator.measured_files.fingerprint, "engine": f"{engine.name} {engine.precision}",
        "languages": [list(pair) for pair in pairs], "options": chosen, "form": form, "version": __version__,
    }
