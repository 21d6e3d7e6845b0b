"""Do the tests notice?  Plants one fault after another while pytest runs the tests that must fail.

    python tests/seed_faults.py [WORD ...]        only the faults whose name, target or tests have one of the words

Prints a table, fault by fault, with the first test that failed and why; exits with 1 if a fault went unnoticed.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from planted import Fault, all_faults

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 2
# Browser tests too; one failure is enough, and the order of the file finds the same one each time.
OPTIONS = "-p planted -p no:randomly -p no:cacheprovider -x -q --tb=no --no-showlocals -m"


def first_failure(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, and why; None if all pass."""
    environment = os.environ | {"SEQ2SEE_FAULT": fault.name, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
                                "BUILD_NUMBER": "1"}  # fmt: skip  # with which pytest cuts no reason short
    tests = [f"tests/{test}" for test in fault.tests.split()]
    run = subprocess.run([sys.executable, "-m", "pytest", *tests, *OPTIONS.split(), ""], cwd=ROOT, env=environment,
                         capture_output=True, text=True)  # fmt: skip
    failed = re.search(r"^(?:FAILED|ERROR) (.+)", run.stdout, re.MULTILINE)
    if run.returncode and not failed:
        raise SystemExit(
            f"{fault.name}: pytest ended with {run.returncode}, no test failed:\n"
            f"{run.stdout[-2000:]}{run.stderr[-2000:]}"
        )
    return failed[1] if failed else None


def main(words: list[str]) -> int:
    faults = [
        one
        for one in all_faults()
        if not words or any(word in f"{one.name} {one.target} {one.tests}" for word in words)
    ]
    unnoticed = 0
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for fault, failure in zip(faults, threads.map(first_failure, faults), strict=True):
            unnoticed += failure is None
            print(f"{fault.name:60s} {failure or 'NOT NOTICED'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
