"""What can become of a command's input and output: each ends with its exit code and at most one line."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

from seq2see.cli.lines import LONGEST_LINE, windows
from seq2see.errors import UserError

posix = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell and its devices")
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def shell(line):
    """A shell line in which $SEQ2SEE is the command."""
    line = line.replace("$SEQ2SEE", f"{shlex.quote(sys.executable)} -m seq2see")
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=BUFFERED)


class Endless(io.RawIOBase):
    """Text without a line's end, and how much of it was asked for."""

    given = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = b"a" * len(buffer)
        self.given += len(buffer)
        assert self.given < 4 * LONGEST_LINE, "it reads on and on"
        return len(buffer)


def test_a_line_without_end_takes_no_memory_and_the_longest_is_read():
    with pytest.raises(UserError, match="line 1 of the input is longer than 1,048,576 bytes"):
        next(windows(io.BufferedReader(Endless()), str))
    [[(number, text)]] = windows(io.BytesIO(b"a" * (LONGEST_LINE - 1) + b"\n"), str)
    assert (number, len(text)) == (1, LONGEST_LINE - 1)


def test_what_was_printed_before_stays_on_stdout():
    code = (
        "import os, sys; from seq2see.streams import only_results_on_stdout\n"
        "print('before')\n"
        "with only_results_on_stdout(): os.write(1, b'inside'); sys.stdout.flush()\n"
        "print('after')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=BUFFERED)
    assert (done.stdout, done.stderr) == ("before\nafter\n", "inside")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("line", ["$SEQ2SEE --version", "$SEQ2SEE translate --help"])
def test_a_full_disk_is_one_line(line):
    done = shell(f"{line} > /dev/full")
    assert (done.returncode, done.stderr) == (1, "seq2see: error: No space left on device\n")


@posix
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_nothing_to_fail_at(closed):
    done = shell(f"$SEQ2SEE --version {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.few(1)
@posix
@pytest.mark.parametrize("verb", ["translate", "score", "align"])
def test_what_a_library_prints_of_a_folder_is_no_result(verb, tmp_path, command):
    """`tokenizers` prints of what it does not know; a line of output still stands for each of input."""
    folder = tiny.save(tmp_path / "stranger", *tiny.make("marian"))
    settings = folder / "tokenizer_config.json"
    token = {"content": "</s>", "special": True, "colour": "red"}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "added_tokens_decoder": {"0": token}}))
    (tmp_path / "one").write_text("The cat.\n")
    asked = {"translate": ["--engine", "torch"], "score": [],
             "align": ["--src", tmp_path / "one", "--tgt", tmp_path / "one"]}
    given = "The cat.\tThe cat.\n" if verb == "score" else "The cat.\n"
    code, out, err = command(verb, folder, *asked[verb], stdin=given)
    assert code == 0, err
    assert "colour" in err and "colour" not in out and out.count("\n") == 1
