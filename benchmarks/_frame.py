"""Shared by the benchmarks: arguments, sentences, the machine, and the final line of JSON."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
LOAD = round(os.getloadavg()[0], 2)  # before the start: other load distorts all figures


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


def machine(**more: Any) -> dict[str, Any]:
    found = re.search(r"model name\s*:\s*(.+)", CPUINFO.read_text()) if CPUINFO.is_file() else None
    facts = {"cpu": found[1] if found else platform.processor(), "cores": os.cpu_count(), "load": LOAD,
             "system": platform.platform(), "python": platform.python_version()}
    for package in ("torch", "transformers", "ctranslate2"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    return facts | more


def show(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


def end(benchmark: str, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """The last line: one JSON object."""
    print(json.dumps({"benchmark": benchmark, "machine": machine(), **more, "rows": rows}))
