"""Shared by the benchmarks: arguments, sentences, a server, turns, the machine, and the final line of JSON."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

CPUINFO = Path("/proc/cpuinfo")
LOAD = round(os.getloadavg()[0], 2)  # before the start: other load distorts all figures

Name = TypeVar("Name")


def arguments(doc: str | None, *, run: bool = False, text: bool = False) -> argparse.ArgumentParser:
    """--quick, and optionally RUN and --text FILE."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if run:
        parser.add_argument("run", nargs="?", type=folder, default="storybook",
                            help="a trained model: its folder, or the name of a packaged one (%(default)s)")
    if text:
        parser.add_argument("--text", type=Path, help="source sentences, one per line, or a .gz (storybook's test set)")
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    return parser


def folder(name: str) -> str:
    """Where a model lies."""
    from seq2see.pretrained import packaged_folder

    return str(packaged_folder(name) or name)


def is_trained(run: str | Path) -> bool:
    """Whether there is a model to measure; prints a message if not."""
    if (Path(run) / "config.json").is_file():
        return True
    print(f"no trained model at {run}: nothing to measure", file=sys.stderr)
    return False


def sentences(path: Path | None) -> list[str]:
    """The lines of a file, or the sources of storybook's test set."""
    if path is not None:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
    from seq2see.storybook import generate

    return [pair.source for pair in generate(seed=0).test]


def numbered(path: Path | None, count: int) -> list[str]:
    """Sentences in random order, each made unique by a number in place of its last character."""
    found = sentences(path)
    random.Random(0).shuffle(found)
    return [f"{found[number % len(found)][:-1]} {number}." for number in range(count)]


@contextlib.contextmanager
def server(run: str, *settings: str) -> Iterator[tuple[str, int]]:
    """Start `seq2see serve`; yields its address and process id once it is ready."""
    options = [part for one in ("texts_per_minute=0", "deadline_seconds=300", *settings) for part in ("--set", one)]
    command = [sys.executable, "-m", "seq2see", "serve", run, "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", line)
        if not found:
            raise RuntimeError(line)
        try:
            while not answers(found[0]):
                time.sleep(0.05)
            yield found[0], process.pid
        finally:
            process.terminate()
            process.wait()


def answers(url: str) -> bool:
    """Whether a server is ready."""
    try:
        return bool(urllib.request.urlopen(f"{url}/readyz").status == 200)
    except OSError:
        return False


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def turns(names: Sequence[Name], rounds: int) -> Iterator[tuple[int, Name]]:
    """(round, contender): every second round in reverse order, against drift."""
    for number in range(rounds):
        for name in names[:: -1 if number % 2 else 1]:
            yield number, name


def centiles(values: Sequence[float], *, digits: int = 0) -> dict[str, float]:
    """The median, the 95th and 99th percentile and the maximum."""
    cut = statistics.quantiles(values, n=100, method="inclusive") if len(values) > 1 else [*values] * 99
    found = {"p50": cut[49], "p95": cut[94], "p99": cut[98], "most": max(values)}
    return {name: round(value, digits) for name, value in found.items()}


def machine() -> dict[str, Any]:
    found = re.search(r"model name\s*:\s*(.+)", CPUINFO.read_text()) if CPUINFO.is_file() else None
    facts = {"cpu": found[1] if found else platform.processor(), "cores": os.cpu_count(), "load": LOAD,
             "system": platform.platform(), "python": platform.python_version()}
    for package in ("torch", "transformers", "ctranslate2"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    return facts


def show(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


def end(benchmark: str, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """The last line: one JSON object."""
    print(json.dumps({"benchmark": benchmark, "machine": machine(), **more, "rows": rows}))
