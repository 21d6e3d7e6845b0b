"""Damage done to a checkpoint, in a small sample: with a manifest it is named, without one it is a line or no harm."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("flip_bits")


@pytest.mark.parametrize("manifest", [True, False])
def test_a_sample_of_flips_and_cuts(bench: Any, manifest: bool, tmp_path: Path) -> None:
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
    shutil.rmtree(folder)
