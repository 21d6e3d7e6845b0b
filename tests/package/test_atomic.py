"""A file is there whole, the new one or the one before; what is no file is written to as it is."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from seq2see.atomic import atomic_write
from tests.full_disk import files_of_at_most

pytest.importorskip("resource", reason="limits of a POSIX process")


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond a kilobyte, as on a disk that is full."""
    with files_of_at_most(1000):
        yield


def test_text_and_bytes_take_the_place_of_what_was_there(tmp_path: Path) -> None:
    for content, expected in (("a\ré\n", "a\ré\n".encode()), (b"\xff\r\n", b"\xff\r\n"), ("", b"")):
        atomic_write(tmp_path / "x", content)
        assert (tmp_path / "x").read_bytes() == expected and os.listdir(tmp_path) == ["x"]


def test_who_reads_what_was_there_reads_it_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with (tmp_path / "x").open() as reader:
        atomic_write(tmp_path / "x", "new")
        assert (reader.read(), (tmp_path / "x").read_text()) == ("old", "new")


def test_what_was_there_stays_where_the_new_cannot_be_written(tmp_path: Path, small_files: None) -> None:
    atomic_write(tmp_path / "x", "good")
    with pytest.raises(OSError, match="too large") as told:
        atomic_write(tmp_path / "x", "a" * 2000)
    assert told.value.filename == str(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "good" and os.listdir(tmp_path) == ["x"]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "x", tmp_path):
        with pytest.raises(OSError, match=r".") as told:
            atomic_write(path, "a")
        assert told.value.filename == str(path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        atomic_write(tmp_path / "file" / "x", "a")


def test_a_link_still_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for content in ("new", "newer"):
        atomic_write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "file").read_text() == content


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    for mode in (0o600, 0o440):
        (tmp_path / "x").touch()
        (tmp_path / "x").chmod(mode)
        atomic_write(tmp_path / "x", "new")
        assert (tmp_path / "x").stat().st_mode & 0o777 == mode


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    atomic_write(tmp_path / "pipe", "through")
    reader.join(10)
    assert read == ["through"] and (tmp_path / "pipe").is_fifo()
