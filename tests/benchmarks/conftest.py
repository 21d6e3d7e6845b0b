"""Benchmarks as modules: they are scripts, and no part of the package."""

import importlib
import sys

import pytest


@pytest.fixture(scope="module")
def imported(root):
    """Imports a benchmark by its name, though `tests/` has a `serving` too; afterwards it is forgotten."""
    names = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "tests")
        patch.syspath_prepend(root / "benchmarks")

        def load(name):
            names.append(name)
            patch.delitem(sys.modules, name, raising=False)
            return importlib.import_module(name)

        yield load
        for name in names:
            sys.modules.pop(name, None)
