"""A manifest names what is not as it was saved."""

import json

import pytest

from seq2see.errors import UserError
from seq2see.manifest import _checksum_of, check_manifest, refresh_manifest, write_manifest


@pytest.fixture
def folder(tmp_path):
    for name in ("config.json", "model.safetensors", "code.py", "README.md", "trust.json"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "below").mkdir()
    write_manifest(tmp_path)
    return tmp_path


def test_it_covers_what_is_loaded_and_no_notes(folder):
    listed = json.loads((folder / "manifest.json").read_text())["sha256"]
    assert list(listed) == ["code.py", "config.json", "model.safetensors"]
    check_manifest(folder)
    (folder / "README.md").write_text("a better card")
    (folder / "added.json").write_text("later")
    (folder / "code.py").unlink()
    check_manifest(folder)


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "said"), [("config.json", r"config\.json is damaged"),
                                            ("model.safetensors", r"model\.safetensors is damaged"),
                                            ("code.py", r"code\.py is damaged"), ("manifest.json", "")])
def test_any_flip_or_cut_is_refused_by_name(folder, name, said):
    whole = (folder / name).read_bytes()
    for at, byte in enumerate(whole):
        flips = [whole[:at] + bytes([byte ^ 1 << bit]) + whole[at + 1 :] for bit in range(8)]
        for damaged in (*flips, whole[:at]):
            (folder / name).write_bytes(damaged)
            with pytest.raises(UserError, match=said):
                check_manifest(folder)
    (folder / name).write_bytes(whole)
    check_manifest(folder)


def test_what_is_written_later_is_listed_anew_and_nothing_else(folder):
    for name in ("config.json", "model.safetensors", "README.md"):
        (folder / name).write_text("newer")
    refresh_manifest(folder, ["config.json", "README.md"])
    with pytest.raises(UserError, match=r"model\.safetensors is damaged"):
        check_manifest(folder)
    refresh_manifest(folder, ["model.safetensors"])
    check_manifest(folder)
    assert "README.md" not in json.loads((folder / "manifest.json").read_text())["sha256"]


def test_a_file_that_is_missing_is_refused(folder):
    (folder / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json is missing"):
        check_manifest(folder)


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", "below/config.json", ".."])
def test_it_looks_nowhere_else(folder, name):
    checksums = {name: "0" * 64}
    (folder / "manifest.json").write_text(json.dumps({"sha256": checksums, "of_these_sums": _checksum_of(checksums)}))
    with pytest.raises(UserError, match="manifest.json is damaged|is missing"):
        check_manifest(folder)
