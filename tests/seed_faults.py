"""Do the tests notice?  Plants one fault after another (see tests/planted/) and runs the tests of which one must fail.

    python tests/seed_faults.py [WORD ...]      # only faults with one of the words in their name, target or tests

Prints the first test that fails with each fault, and why; exits with 1 if a fault goes unnoticed.  This module is also
the pytest plug-in that plants the fault which SEQ2SEE_FAULT names.
"""

import functools
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
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
    """The first test that fails with the fault planted, and why; None if all pass.  Tried in a fork of this process,
    which has imported the libraries, and none of ours."""
    with tempfile.TemporaryFile("w+") as file:
        if (child := os.fork()) == 0:
            os.environ["SEQ2SEE_FAULT"] = fault.name
            os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
            try:
                code = pytest.main([*OPTIONS, *(f"tests/{name}" for name in fault.tests)])
            finally:
                sys.stdout.flush()
                os._exit(int(code))
        code = os.waitpid(child, 0)[1]
        file.seek(0)
        said = file.read()
    failed = re.search(r"^(?:FAILED|ERROR) (.+)", said, re.MULTILINE)
    if code and (not failed or f"{fault.name}()" in failed[1]):  # the latter: called with other arguments
        raise SystemExit(f"{fault.name} no longer fits the code:\n{said[-4000:]}")
    return failed[1] if failed else None


def main(words: list[str]) -> int:
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(ROOT)  # for what tests start
    os.environ["BUILD_NUMBER"] = "1"  # with it pytest cuts no reason short
    import conftest  # noqa: F401  # prepares the environment that torch is imported in
    import torch  # noqa: F401
    import transformers.models.auto.modeling_auto  # noqa: F401

    sys.path.insert(0, str(ROOT))
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
