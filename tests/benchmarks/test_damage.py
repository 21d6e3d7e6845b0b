"""A few of the damages to a checkpoint's files that a benchmark does by the thousand."""

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
