"""The files that `seq2see look` writes: whole, or the one before is left; and no character goes missing in silence."""

import os
import shutil

import pytest
from tiny import calibrate_by_hand

from seq2see.cli.command import main
from seq2see.lens import Calibrator, Trace
from seq2see.lens.maps import NOT_CALIBRATED
from tests.full_disk import files_of_at_most


@pytest.mark.parametrize("suffix", ["html", "json", "npz", "png", "svg"])
def test_a_file_that_cannot_be_written_leaves_the_one_before(folder, tmp_path, capsys, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_text("good")
    with files_of_at_most(1000):
        code = main(["look", str(folder), "--engine", "torch", "The cat.", "--out", str(path)])
    told = f"seq2see: error: cannot write {path} (File too large); choose a writable file with --out\n"
    assert (code, capsys.readouterr().err) == (1, told)
    assert path.read_text() == "good" and os.listdir(tmp_path) == [path.name]


def test_characters_without_a_font_are_told(folder, tmp_path, capsys):
    """A picture has boxes for them; .svg and .html leave them to the reader's own fonts."""
    for suffix, text, told in ((".png", "The 𒀀 cat.", True), (".png", "The cat.", False), (".svg", "The 𒀀.", False)):
        path = tmp_path / f"x{suffix}"
        assert main(["look", str(folder), "--engine", "torch", text, "--out", str(path)]) == 0
        err = capsys.readouterr().err
        assert ("no installed font has these characters, so the picture shows boxes: 𒀀; use .svg" in err) == told


def test_calibrated_probabilities_are_shown_unless_raw_ones_are_asked_for(folder, tmp_path, capsys):
    """And a damaged calibration is told in one line."""
    run = tmp_path / "run"
    shutil.copytree(folder, run)
    calibrate_by_hand(run, "fr", Calibrator(0.1, 0.7))
    argv = ["look", str(run), "--engine", "torch", "The cat."]
    assert main(argv) == 0 and "the mean over its tokens, calibrated" in capsys.readouterr().out
    assert main([*argv, "--raw"]) == 0 and NOT_CALIBRATED in capsys.readouterr().out
    for flags, calibrated in (([], True), (["--raw"], False)):
        assert main([*argv, *flags, "--out", str(tmp_path / "x.json")]) == 0
        assert (Trace.load(tmp_path / "x.json").calibrated is not None) == calibrated
    capsys.readouterr()
    (run / "calibration.json").write_text("{}")
    assert main(argv) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "calibration.json is no calibration" in line and "fit it again with seq2see calibrate RUN" in line
