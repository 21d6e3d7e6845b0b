"""What can become of a command's input and output: each ends with its exit code and at most one line.

pytest tests/cli/test_streams.py
"""

import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

from seq2see.cli import command as cli
from seq2see.cli.lines import LONGEST_LINE, windows
from seq2see.errors import UserError
from seq2see.serve.server import bind

posix = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell and its devices")


def shell(line: str, **options) -> subprocess.CompletedProcess[str]:
    """A shell line in which $SEQ2SEE is the command."""
    environment = {**os.environ, "SEQ2SEE": f"{sys.executable} -m seq2see"}
    environment.pop("PYTHONUNBUFFERED", None)  # a line sets it where it wants to
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment, **options)


class Endless(io.RawIOBase):
    """Text without a line's end, and how much of it was asked for."""

    def __init__(self) -> None:
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        buffer[:] = b"a" * len(buffer)
        self.given += len(buffer)
        assert self.given < 4 * LONGEST_LINE, "it reads on and on"
        return len(buffer)


def test_a_line_without_end_takes_no_memory() -> None:
    with pytest.raises(UserError, match="line 1 of the input is longer than 1,048,576 bytes"):
        windows(io.BufferedReader(Endless()), str)


def test_the_longest_line_is_read() -> None:
    [[(number, text)]] = windows(io.BytesIO(b"a" * (LONGEST_LINE - 1) + b"\n"), str)
    assert (number, len(text)) == (1, LONGEST_LINE - 1)


def test_what_was_printed_before_stays_on_stdout() -> None:
    code = (
        "import os, sys; from seq2see.streams import only_results_on_stdout\n"
        "print('before')\n"
        "with only_results_on_stdout(): os.write(1, b'inside'); sys.stdout.flush()\n"
        "print('after')"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("before\nafter\n", "inside")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("asked", ["--version", "--help", "translate --help"])
@pytest.mark.parametrize("before", ["", "PYTHONUNBUFFERED=1"])
def test_a_full_disk_is_one_line(before: str, asked: str) -> None:
    done = shell(f"{before} $SEQ2SEE {asked} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "seq2see: error: No space left on device\n"


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_nothing_to_fail_at(closed: str) -> None:
    done = shell(f"$SEQ2SEE --version {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.parametrize("before", ["", "PYTHONUNBUFFERED=1"])
def test_results_that_a_closed_stdout_would_lose_are_an_error(before: str) -> None:
    done = shell(f"{before} $SEQ2SEE env >&-")
    assert (done.returncode, done.stderr) == (1, "seq2see: error: standard output is closed\n")


@posix
def test_what_is_wrong_goes_nowhere_but_to_stderr() -> None:
    done = shell("$SEQ2SEE trian 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


@posix
@pytest.mark.parametrize("verb", ["translate", "score", "align"])
def test_what_a_library_prints_of_a_folder_is_no_result(
    verb: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tokenizers` prints of what it does not know; a line of output still stands for each of input."""
    folder = tiny.save(tmp_path / "stranger", *tiny.make("marian"))
    settings = folder / "tokenizer_config.json"
    token = {"content": "</s>", "special": True, "colour": "red"}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "added_tokens_decoder": {"0": token}}))
    (tmp_path / "one").write_text("The cat.\n")
    asked = {"translate": ["--engine", "torch"], "score": [],
             "align": ["--src", f"{tmp_path}/one", "--tgt", f"{tmp_path}/one"]}  # fmt: skip
    given = b"The cat.\tThe cat.\n" if verb == "score" else b"The cat.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    capfd.readouterr()
    code = cli.main([verb, str(folder), *asked[verb]])
    out, err = capfd.readouterr()  # what was written by number: the library knows no sys.stdout
    assert code == 0, err
    assert "colour" in err and "colour" not in out and out.count("\n") == 1


def test_a_busy_port_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1 port {port}: .*choose another with --port"):
            bind("127.0.0.1", port)


def test_a_busy_port_is_told_before_the_page_is_imported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        argv = ["serve", "runs/x", "--port", str(taken.getsockname()[1])]
        code = f"import sys; sys.modules['gradio'] = None\nfrom seq2see.cli.command import main; sys.exit(main({argv}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot listen on 127.0.0.1" in done.stderr and done.stderr.count("\n") == 1


def test_output_that_cannot_be_written_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("nowhere/look.html", "nowhere/look.json", "nowhere/look.npz", "nowhere/look.png"):
        code = cli.main(["look", str(folder), "The cat.", "--engine", "torch", "--out", str(tmp_path / name)])
        out, err = capsys.readouterr()
        assert (code, out) == (1, "")
        [line] = err.splitlines()
        assert line.startswith("seq2see: error: ") and name in line


@pytest.mark.parametrize("width", [0, 1, 7, 20])
def test_a_narrow_terminal_shows_the_map_in_blocks(folder: Path, width: int, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert cli.main(["look", str(folder), "The cat.", "--engine", "torch"]) == 0
    out, err = capsys.readouterr()
    assert out and "Traceback" not in err
