"""The planted faults still fit the code: a fault whose text is gone says nothing about the tests."""

import importlib
from pathlib import Path

import pytest


def test_every_fault_finds_the_text_that_it_replaces(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(root / "tests")
    faults = importlib.import_module("seed_faults").FAULTS
    gone = [fault.name for fault in faults if fault.old not in (root / fault.file).read_text("utf-8")]
    assert len(faults) > 80 and not gone
    assert len({fault.name for fault in faults}) == len(faults)
