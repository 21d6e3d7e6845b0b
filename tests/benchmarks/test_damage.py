"""A run that was killed ends as one that was not."""

import json
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_trainings_end_with_the_same_weights(root):
    # It forks itself, which the many threads of a process of tests do not allow.
    command = [sys.executable, root / "benchmarks/kill_training.py", "--trials", "1", "--pairs", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    [row] = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert row["ours"] == 1 and row["kills"] >= 1
