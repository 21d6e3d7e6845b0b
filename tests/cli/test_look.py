"""The files that `seq2see look` writes: whole, or the one before is left; and no character goes missing in silence."""

import os

import pytest

from seq2see.cli.command import main
from tests.full_disk import files_of_at_most


@pytest.mark.parametrize("suffix", ["html", "json", "npz", "png", "svg"])
def test_a_file_that_cannot_be_written_leaves_the_one_before(folder, tmp_path, capsys, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_text("good")
    with files_of_at_most(1000):
        code = main(["look", str(folder), "--engine", "torch", "The cat.", "--out", str(path)])
    told = f"seq2see: error: cannot write {path} (File too large); by --out give a file that can be written\n"
    assert (code, capsys.readouterr().err) == (1, told)
    assert path.read_text() == "good" and os.listdir(tmp_path) == [path.name]


def test_characters_without_a_font_are_told(folder, tmp_path, capsys):
    """A picture has boxes for them; .svg and .html leave them to the reader's own fonts."""
    for suffix, text, told in ((".png", "The 𒀀 cat.", True), (".png", "The cat.", False), (".svg", "The 𒀀.", False)):
        path = tmp_path / f"x{suffix}"
        assert main(["look", str(folder), "--engine", "torch", text, "--out", str(path)]) == 0
        err = capsys.readouterr().err
        assert ("no font here has these characters, so the picture shows boxes: 𒀀; .svg and .html" in err) == told
