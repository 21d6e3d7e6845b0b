"""How does a file of a million lines go through `seq2see translate`: how fast, in how much memory, and after kills?

    python benchmarks/corpus.py               1,000,000 lines; minutes
    python benchmarks/corpus.py --lines N     so many
    python benchmarks/corpus.py --quick       a smoke test

*copied*: with an engine that returns its sources, all that is measured is the work around the model; every line must
come out as it went in.  `first MB` and `last MB` are the most memory of all processes in the first and in the last
fifth of the run: flat if they are equal.  *killed*: the same, killed with SIGKILL at random moments and resumed each
time; the output must be the same file.  *model*: RUN, greedily, with one process or with one for each core; they take
turns.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from _frame import arguments, end, numbered, show, turns

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # for `identity`

LINES, MODEL_LINES, KILLS, ROUNDS = 1_000_000, 20_000, 10, 3
EVERY = 0.2  # seconds between two looks at the memory


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--lines", type=int, help="lines to copy (1,000,000)")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(**json.loads(args.work))
        return
    count = args.lines or (3_000 if args.quick else LINES)
    with tempfile.TemporaryDirectory() as scratch:
        source = write(Path(scratch) / "corpus.en", numbered(args.text, count))
        rows = [copied(source, count), killed(source, count, kills=2 if args.quick else KILLS)]
        show(rows)
        some = write(Path(scratch) / "some.en", numbered(args.text, 500 if args.quick else MODEL_LINES))
        compared = [model(some, args.run, rounds=1 if args.quick else ROUNDS)]
        show(compared)
    end("corpus", rows + compared, lines=count, run=args.run)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def work(*, source: str, out: str, resume: bool, pooled: int, run: str | None) -> None:
    """What a process of its own does: translate a file with RUN or, without, copy it."""
    from identity import copying_lines

    from seq2see import Translator
    from seq2see.cli.translating import line_files
    from seq2see.cli.translating.request import TranslationRequest

    line_files.POOLED = pooled
    load = partial(by_model, run) if run else copying_lines
    asked = by_model(run, threads=None) if run else load()
    assert isinstance(asked, TranslationRequest) and isinstance(asked.translator, Translator)
    lines = line_files.LineFile.checked(Path(source))
    line_files.translate_lines(lines, Path(out), asked, load, resume=resume, overwrite=True)


def by_model(run: str, *, threads: int | None = 1) -> Any:
    from seq2see import Translator
    from seq2see.cli.translating.request import TranslationRequest

    return TranslationRequest(Translator.from_pretrained(run, threads=threads), (None,),
                 {"source": None, "num_beams": 1, "keep": "", "alternatives": 1})


def start(source: Path, out: Path, *, resume: bool = False, pooled: int = 0, run: str | None = None) -> psutil.Popen:
    job = {"source": str(source), "out": str(out), "resume": resume, "pooled": pooled, "run": run}
    return psutil.Popen([sys.executable, __file__, "--work", json.dumps(job)])


def copied(source: Path, count: int) -> dict[str, Any]:
    out, began, sizes = source.with_suffix(".copy"), time.perf_counter(), []
    with start(source, out) as process:
        while process.poll() is None:
            sizes.append(memory(process))
            time.sleep(EVERY)
    seconds = time.perf_counter() - began
    fifth = max(1, len(sizes) // 5)
    return {"name": "copied", "lines": count, "seconds": round(seconds, 1), "lines/s": round(count / seconds),
            "first MB": max(sizes[:fifth]), "last MB": max(sizes[-fifth:]), "most MB": max(sizes),
            "same": source.read_bytes() == out.read_bytes()}


def memory(process: psutil.Process) -> int:
    """MB that a process and those it has started hold, without what they share."""
    found = 0
    for one in [process, *descendants(process)]:
        try:
            found += one.memory_full_info().uss
        except psutil.Error:
            continue
    return round(found / 1e6)


def descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def killed(source: Path, count: int, *, kills: int) -> dict[str, Any]:
    """Killed at moments that are random, but spread over the lines."""
    out, rng, done, resumed = source.with_suffix(".killed"), random.Random(0), 0, []
    part = out.with_name(f"{out.name}.part")
    for number in range(kills):
        wanted = round(source.stat().st_size * (number + rng.random()) / kills)
        process = start(source, out, resume=bool(number))
        while process.poll() is None and (not part.exists() or part.stat().st_size < wanted):
            time.sleep(0.02)
        process.kill()
        process.wait()
        done += process.returncode != 0
        resumed.append(part.stat().st_size if part.exists() else 0)
    left = start(source, out, resume=True).wait()
    return {"name": "killed", "lines": count, "kills": done, "left bytes": resumed, "exit": left,
            "same": out.exists() and source.read_bytes() == out.read_bytes()}


def model(source: Path, run: str, *, rounds: int) -> dict[str, Any]:
    """Seconds with one process, whose engine has all cores, and with one process for each core."""
    count, seconds = len(source.read_bytes().splitlines()), {"one": [], "each": []}
    outs = {name: source.with_suffix(f".{name}") for name in seconds}
    for _, name in turns(list(seconds), rounds):
        began = time.perf_counter()
        with start(source, outs[name], run=run, pooled=sys.maxsize if name == "one" else 0) as process:
            assert process.wait() == 0
        seconds[name].append(time.perf_counter() - began)
    one, each = (statistics.median(found) for found in seconds.values())
    return {"name": "model", "lines": count, "one process lines/s": round(count / one),
            "process for each core lines/s": round(count / each), "ratio": round(one / each, 2),
            "same": outs["one"].read_bytes() == outs["each"].read_bytes()}


if __name__ == "__main__":
    main()
