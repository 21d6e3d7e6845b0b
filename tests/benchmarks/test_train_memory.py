"""The benchmark of training's memory: what its child says cannot keep the child from ending."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MUCH = """
import signal, sys, time
signal.alarm(60)  # where nobody reads, it would wait for ever
time.sleep(1)  # and it is looked at ten times a second
sys.stderr.write("x" * 1_000_000)
print("y" * 1_000_000)
print('{"seconds_before": 1.5}')
"""


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("train_memory")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for shared pages in /proc")
def test_a_child_that_says_much_ends(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "TRAIN", MUCH)
    figures = bench.measure(tmp_path)
    assert figures.pop("seconds_before") == 1.5
    assert figures["rss_mib"] >= figures["pss_mib"] > 0


def test_a_child_that_fails_says_why(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "TRAIN", "raise ValueError('no such corpus')")
    with pytest.raises(SystemExit, match="no such corpus"):
        bench.measure(tmp_path)
