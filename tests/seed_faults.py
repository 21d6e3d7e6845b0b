"""Do the tests notice?  Plants one fault after another in a copy of the project and runs the tests on it.

    python tests/seed_faults.py [WORD ...]        only the faults whose name has one of the words

Prints a table, fault by fault, with the first test that failed; exits with 1 if a fault went unnoticed.  The first
ten are faults that transformers' own common test suite lets pass.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from faults import (
    Fault,
    alignment,
    command_line,
    data,
    dialects,
    lasting,
    lens,
    lessons,
    modeling,
    page,
    seq2see,
    serve,
    server,
    storybook,
    training,
)

ROOT = Path(__file__).resolve().parent.parent

FAULTS = [
    *modeling.FAULTS, *training.FAULTS, *storybook.FAULTS, *lasting.FAULTS, *lens.FAULTS, *lessons.FAULTS,
    *serve.FAULTS, *server.FAULTS, *dialects.FAULTS, *seq2see.FAULTS, *page.FAULTS, *alignment.FAULTS,
    *command_line.FAULTS, *data.FAULTS,
]  # fmt: skip


def run_with(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "seq2see"
        skipped = shutil.ignore_patterns(
            ".git", ".venv", "runs", "build", "dist", "__pycache__", "*.egg-info", ".*_cache"
        )
        shutil.copytree(ROOT, copy, symlinks=True, ignore=skipped)
        path = copy / fault.file
        text = path.read_text(encoding="utf-8")
        if fault.old not in text:
            raise SystemExit(
                f"{fault.file} no longer has the text that the fault '{fault.name}' replaces: {fault.old!r}"
            )
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        # A bare checkout wins over an installed package, so the copy is what the tests import.
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        command = [
            sys.executable,
            "-m",
            "pytest",
            *fault.tests.split(),
            "-x",
            "-q",
            "--tb=no",
            "--no-showlocals",
            "-p",
            "no:cacheprovider",
        ]
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
        if run.returncode and not failed:
            raise SystemExit(
                f"pytest ended with {run.returncode} and named no test:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
            )
        return failed[1] if failed else None


def main(words: list[str]) -> int:
    unnoticed = 0
    for fault in FAULTS:
        if words and not any(word in fault.name for word in words):
            continue
        caught_by = run_with(fault)
        unnoticed += caught_by is None
        print(f"{fault.name:48s} {'noticed by ' + caught_by if caught_by else 'NOT NOTICED'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
