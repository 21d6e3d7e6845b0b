"""Benchmarks as modules: they are scripts, and no part of the package."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def imported(root: Path) -> Iterator[Callable[[str], Any]]:
    """Imports a benchmark by its name; afterwards it is forgotten."""
    names: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "benchmarks")
        patch.syspath_prepend(root / "tests")

        def load(name: str) -> Any:
            names.append(name)
            return importlib.import_module(name)

        yield load
    for name in names:
        sys.modules.pop(name, None)
