"""Benchmarks as modules: they are scripts, and no part of the package."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def imported(root: Path) -> Iterator[Callable[[str], Any]]:
    """Imports a benchmark by its name, though `tests/` has a `serving` too; afterwards it is forgotten."""
    names: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "tests")
        patch.syspath_prepend(root / "benchmarks")

        def load(name: str) -> Any:
            names.append(name)
            patch.delitem(sys.modules, name, raising=False)
            return importlib.import_module(name)

        yield load
        for name in names:
            sys.modules.pop(name, None)
