"""A few of the damages that two benchmarks do by the thousand: to a checkpoint's files, and to trainings."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize("manifest", [True, False])
def test_damaged_files_are_named_or_a_line_or_no_harm(imported, manifest, tmp_path):
    bench = imported("flip_bits")
    folder = bench.tiny_run(tmp_path / "run")
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert bench.attempt(folder, "torch") == "ok"
    if not manifest:
        (folder / "manifest.json").unlink()
    for name, how, place in bench.damages(folder, export=False, flips=12, cuts=6, seed=1):
        bench.spoil(folder / name, how, place)
        said = bench.attempt(folder, "torch")
        assert not said.startswith("FAULT"), (name, how, place, said)
        assert not manifest or (said.startswith("refused") and name in said)
        (folder / name).write_bytes(whole[name])


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_trainings_end_with_the_same_weights(root):
    # It forks itself, which the many threads of a process of tests do not allow.
    command = [sys.executable, root / "benchmarks/kill_training.py", "--trials", "1", "--pairs", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    [row] = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert row["ours"] == 1 and row["kills"] >= 1
