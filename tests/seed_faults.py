"""Do the tests notice?  Plants one fault after another (see tests/planted/) and runs the tests of which one must fail.

    python tests/seed_faults.py [WORD ...]      # only faults with one of the words in their name, target or tests

Prints the first test that fails with each fault, and why; exits with 1 if a fault goes unnoticed.  This module is also
the pytest plug-in that plants the fault which SEQ2SEE_FAULT names.
"""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from planted import Fault, all_faults

ROOT = Path(__file__).resolve().parent.parent
# All tests, those of the browser too, in the order of their files, up to the first that fails.
OPTIONS = ("-p", "seed_faults", "-p", "no:randomly", "-p", "no:cacheprovider", "-x", "--tb=no", "-m", "")


def pytest_sessionstart() -> None:
    """Not earlier: tests/conftest.py prepares the environment that torch is imported in."""
    [fault] = (one for one in all_faults() if one.name == os.environ["SEQ2SEE_FAULT"])
    plant(fault)


def plant(fault: Fault) -> None:
    """Replace the target, also in modules that have imported it by name."""
    owner, name, original = fault.find()
    planted = replacement(original, fault.slip)
    setattr(owner, name, planted)
    for module in [module for path, module in sys.modules.items() if path.startswith("seq2see.")]:
        if vars(module).get(name) is original:
            setattr(module, name, planted)


def replacement(original: Any, slip: Any) -> Any:
    if isinstance(original, property | functools.cached_property):
        return property(functools.partial(slip, original.__get__))
    if not callable(original):
        return slip(original)

    @functools.wraps(original)
    def planted(*args: Any, **kwargs: Any) -> Any:
        return slip(original, *args, **kwargs)

    return planted


def first_failure(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, and why; None if all pass."""
    tests = [f"tests/{file}" for file in fault.tests]
    environment = os.environ | {
        "SEQ2SEE_FAULT": fault.name,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
        "BUILD_NUMBER": "1",  # with it pytest cuts no reason short
    }
    command = [sys.executable, "-m", "pytest", *tests, *OPTIONS]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    failed = re.search(r"^(?:FAILED|ERROR) (.+)", run.stdout, re.MULTILINE)
    if run.returncode and (not failed or f"{fault.name}()" in failed[1]):  # the latter: called with other arguments
        raise SystemExit(f"{fault.name} no longer fits the code:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return failed[1] if failed else None


def main(words: list[str]) -> int:
    unnoticed = 0
    for fault in all_faults():
        text = " ".join((fault.name, fault.target, *fault.tests))
        if not words or any(word in text for word in words):
            failure = first_failure(fault)
            unnoticed += failure is None
            print(f"{fault.name}: {failure or 'NOT NOTICED'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
