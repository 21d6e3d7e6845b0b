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
SUBJECTS = (modeling, training, storybook, lasting, lens, lessons, serve, server, dialects, seq2see, page, alignment,
            command_line, data)  # fmt: skip
FAULTS = [fault for subject in SUBJECTS for fault in subject.FAULTS]
SKIPPED = shutil.ignore_patterns(".git", ".venv", "runs", "build", "dist", "__pycache__", "*.egg-info", ".*_cache")


def run_with(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(ROOT, Path(scratch) / "seq2see", symlinks=True, ignore=SKIPPED))
        path = copy / fault.file
        text = path.read_text("utf-8")
        if fault.old not in text:
            raise SystemExit(f"{fault.file} no longer has what the fault '{fault.name}' replaces: {fault.old!r}")
        path.write_text(text.replace(fault.old, fault.new), "utf-8")
        # A bare checkout wins over an installed package, so the copy is what the tests import.
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        options = ["-x", "-q", "--tb=no", "--no-showlocals", "-p", "no:cacheprovider"]
        run = subprocess.run([sys.executable, "-m", "pytest", *fault.tests.split(), *options], cwd=copy,
                             env=environment, capture_output=True, text=True)  # fmt: skip
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    if run.returncode and not failed:
        raise SystemExit(f"pytest ended with {run.returncode}, no test failed:\n{run.stdout[-2000:]}{run.stderr}")
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
