"""Two of the killed trainings, each killed at any moment and inside a save; both end as the one that nobody killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_trainings_end_with_the_same_weights(root: Path) -> None:
    # It forks itself, which the many threads of a process of tests do not allow.
    command = [sys.executable, root / "benchmarks/kill_training.py", "--trials", "2", "--pairs", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    [row] = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert row["ours"] == 2
    assert row["kills"] >= 1
