"""Two of the killed trainings: one at any moment, one inside a save; both end as the one that nobody killed."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_trainings_end_with_the_same_weights(
    imported: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = imported("kill_training")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    row = Counter(bench.measure(tmp_path, trials=2, kills=1, seed=0, processes=1))
    assert row["ours"] == 2
    assert row["kills"] >= 1
