"""Storybook's training behind the demo's page: in a process of its own (`learner.py`), which tells what the model can
do so far, and ends with the demo, however that ends.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.lens.alignment import FILE as ALIGNMENT
from seq2see.training.packaged import is_finished

SENTENCE = "The cat did not cross the street because it was too tired."
LEARNER = [sys.executable, "-m", "seq2see.demo_worker"]
POLL = 0.2  # seconds between two looks whether it is done
PATIENCE = 30.0  # seconds in which it may write a last checkpoint


class Learning:
    """`run`: the folder to train in; a training that was stopped goes on."""

    def __init__(self, run: Path):
        self.run = run
        self._folder = Path(tempfile.mkdtemp(prefix="seq2see-learning-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._read: tuple[float, dict[str, Any]] = (-1.0, {"state": "starting", "sentence": SENTENCE})

    @property
    def finished(self) -> bool:
        return is_finished(self.run)

    @property
    def needed(self) -> bool:
        """Whether there is anything left to train, or to fit."""
        return not (self.finished and (self.run / ALIGNMENT).is_file())

    def start(self) -> None:
        """Train, where there is something to train, then fit what is to be read off the maps."""
        # A session of its own, so that Ctrl-C is ours to pass on; its stdin ends when this process does.
        self._process = subprocess.Popen([*LEARNER, str(self.run), str(self._file)], stdin=subprocess.PIPE,
                                         start_new_session=True)

    def wait(self) -> None:
        """Until the model is there; UserError where the training ends without."""
        while not self.finished:
            code = self._process.poll() if self._process else 0
            if code is not None and not self.finished:
                raise UserError(f"the training ended with code {code}: see above; seq2see demo goes on with it")
            time.sleep(POLL)

    def record(self) -> dict[str, Any]:
        """What the training told last: see `learner.Telling`."""
        try:
            changed = self._file.stat().st_mtime
            if changed != self._read[0]:
                self._read = changed, json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):  # not there yet
            pass
        return self._read[1]

    def stop(self) -> None:
        """End the training, which writes a checkpoint first."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _file(self) -> Path:
        return self._folder / "record.json"


def end_with_parent(folder: Path) -> None:
    """In the other process: what started it holds the other end of its stdin; when that closes, it is told to end, and
    the folder of records, which nobody reads any more, goes."""

    def watch() -> None:
        while os.read(0, 1):  # not by sys.stdin, whose lock would be held when Python ends
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
