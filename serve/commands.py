"""The verbs `translate`, `score` and `serve`: what the command line parsed comes in as `args`.

Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import io
import queue
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from seq2see.errors import UserError
from seq2see.serve.translator import Translator
from seq2see.streams import decoded, only_results_on_stdout

if TYPE_CHECKING:
    from seq2see.serve.jobs import Translation
    from seq2see.serve.scoring import Score

LONGEST_LINE = 2**20  # bytes: no memory is asked for what nobody would wait for
LINES_AT_ONCE = 256  # lines that are sorted by length together
LINES_AHEAD = 4 * LINES_AT_ONCE  # lines read before they are needed
UNKNOWN = "words never seen in training, so what is written for them is a guess"
CUT_OFF = "the translation stopped at the model's limit of length, so that its end is missing"
WORDS_SHOWN = 60  # characters of unknown words

Result = TypeVar("Result")
Line = tuple[int, str]  # its number, from 1, and its text without the line's end


def translate(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.source`, `args.target`, `args.num_beams`; a line to stdout for each from stdin.

    What has arrived is translated at once, so that a slow writer at the other end of a pipe sees its lines come back,
    and a file goes through in large batches.  How many of them are not to be relied on is said to stderr at the end.
    """
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine=args.engine)
    settings = {"source": args.source, "target": args.target, "num_beams": args.num_beams}
    translator([], **settings)  # a wrong language is told before anything is read
    remarks = Remarks()
    for lines in _windows(_stdin()):
        results = _line_by_line(lambda texts: translator(texts, **settings), lines)
        for (number, _), result in zip(lines, results, strict=True):
            sys.stdout.write(" ".join(result.text.splitlines()) + "\n" if result.hypotheses else result.text + "\n")
            remarks.note(number, result)
        sys.stdout.flush()
    remarks.tell()


class Remarks:
    """What `look` says of one translation, of many: how many lines it is true of, and the first of them."""

    def __init__(self) -> None:
        self.lines = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def note(self, number: int, result: Translation) -> None:
        self.lines = number
        if result.unknown_words:
            words = ", ".join(dict.fromkeys(word.text for word in result.unknown_words))
            self._count(UNKNOWN, f"line {number:,}: {words[:WORDS_SHOWN]}{'…' * (len(words) > WORDS_SHOWN)}")
        if result.hypotheses and not result.hypotheses[0].finished:
            self._count(CUT_OFF, f"line {number:,}")

    def _count(self, what: str, where: str) -> None:
        self.counts[what] += 1
        self.first.setdefault(what, where)

    def tell(self) -> None:
        from seq2see.lens.wording import printable

        for what, count in self.counts.items():
            where = f"in {count:,} of {self.lines:,} lines (the first: {printable(self.first[what])})"
            print(f"{what}, {where}", file=sys.stderr)


def score(args: argparse.Namespace) -> None:
    """`args.run`, `args.source`, `args.target`; lines `source TAB translation` from stdin, and to stdout for each
    `log-probability TAB log-probability per token TAB tokens`."""
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine="torch")
    settings = {"source": args.source, "target": args.target}
    translator([], **settings)  # a wrong language is told before anything is read

    def scores_of(texts: list[str]) -> list[Score]:
        pairs = [_columns(text) for text in texts]
        return translator.score([pair[0] for pair in pairs], [pair[1] for pair in pairs], **settings)

    for lines in _windows(_stdin()):
        for result in _line_by_line(scores_of, lines):
            sys.stdout.write(f"{result.log_prob:.6f}\t{result.mean:.6f}\t{result.tokens}\n")
        sys.stdout.flush()


def _columns(text: str) -> tuple[str, str]:
    columns = text.split("\t")
    if len(columns) != 2:
        raise UserError(f"expected a source, a TAB and its translation, found {len(columns)} columns: {text[:40]!r}")
    return columns[0], columns[1]


def _line_by_line(work: Callable[[list[str]], list[Result]], lines: list[Line]) -> Iterator[Result]:
    """All lines in batches; if one is refused, those before it still come out, and the error names it."""
    try:
        yield from work([text for _, text in lines])
    except UserError:
        for number, text in lines:
            try:
                yield from work([text])
            except UserError as error:
                raise UserError(f"line {number}: {error}") from error


def _stdin() -> BinaryIO:
    """What comes in, no longer `sys.stdin`'s: Python, as it ends, would want the lock that a thread still has which
    waits for more, and abort."""
    assert isinstance(sys.stdin, io.TextIOWrapper)
    return sys.stdin.detach()


def _windows(stream: BinaryIO) -> Iterator[list[Line]]:
    """Lines in groups: those that a reading thread has ready, LINES_AT_ONCE at most."""
    ready: queue.Queue[Line | Exception | None] = queue.Queue(LINES_AHEAD)
    threading.Thread(target=_read, args=(stream, ready), daemon=True).start()
    item = ready.get()
    while item is not None:
        lines: list[Line] = []
        while isinstance(item, tuple):
            lines.append(item)
            if len(lines) == LINES_AT_ONCE:
                break
            try:
                item = ready.get_nowait()
            except queue.Empty:
                break
        if lines:
            yield lines
        if isinstance(item, Exception):
            raise item
        if item is not None:
            item = ready.get()


def _read(stream: BinaryIO, ready: queue.Queue[Line | Exception | None]) -> None:
    try:
        for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
            if len(raw) > LONGEST_LINE:
                raise UserError(f"line {number} of the input is longer than {LONGEST_LINE:,} bytes; break it up")
            ready.put((number, decoded(raw, f"line {number} of the input")))
        ready.put(None)
    except Exception as error:  # to be raised where it is seen
        ready.put(error)


def serve(args: argparse.Namespace) -> None:
    """`args.run`, names or folders of models; `args.engine`, `args.host`, `args.port`; `args.config`, a YAML file, and
    `args.set`, settings as key=value: serves until Ctrl-C or SIGTERM."""
    from seq2see.serve.server import bind, launch
    from seq2see.serve.settings import read_settings

    settings = read_settings(args.config, args.set)
    bind(args.host, args.port).close()  # a port in use is told before seconds of imports
    if settings.page:
        import seq2see.serve.ui.page  # noqa: F401  (a missing gradio is told before a model is loaded)
    loaders = {
        name: partial(Translator.from_pretrained, run, engine=args.engine) for name, run in _names(args.run).items()
    }
    launch(loaders, host=args.host, port=args.port, settings=settings)


def _names(runs: Sequence[str]) -> dict[str, str]:
    """What each model is called: the last part of its path, or, where two would be called the same, all of it."""
    short = [Path(run).resolve().name if Path(run).is_dir() else run.rpartition("/")[2] for run in runs]
    names = [name if short.count(name) == 1 else run for name, run in zip(short, runs, strict=True)]
    return dict(zip(names, runs, strict=True))
