"""Storybook's training behind the demo page: in a process of its own (`demo_worker.py`), which reports what the model
can do so far, and always ends when the demo does.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.lens.alignment_choice import FILE as ALIGNMENT
from seq2see.training.storybook_run import is_finished

SENTENCE = "The cat did not cross the street because it was too tired."
WORKER = [sys.executable, "-m", "seq2see.demo_worker"]
POLL = 0.2  # seconds between checks whether it is done
PATIENCE = 30.0  # seconds allowed for writing a last checkpoint


class DemoRun:
    """`run`: the folder to train in; an interrupted training resumes."""

    def __init__(self, run: Path):
        self.run = run
        self._file = Path(tempfile.mkdtemp(prefix="seq2see-learning-")) / "record.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._record: dict[str, Any] = {"state": "starting", "sentence": SENTENCE}

    @property
    def finished(self) -> bool:
        return is_finished(self.run)

    @property
    def needed(self) -> bool:
        """Whether training or fitting is left to do."""
        return not (self.finished and (self.run / ALIGNMENT).is_file())

    def start(self) -> None:
        """Train if needed, then fit the word alignment."""
        # A session of its own, so that Ctrl-C reaches only us; its stdin closes when this process ends.
        self._process = subprocess.Popen([*WORKER, str(self.run), str(self._file)], stdin=subprocess.PIPE,
                                         start_new_session=True)

    def wait(self) -> None:
        """Wait for the model; UserError if the training ends without one."""
        while not self.finished:
            code = self._process.poll() if self._process else 0
            if code is not None and not self.finished:
                raise UserError(f"the training ended with code {code} (see above); run seq2see demo again to resume it")
            time.sleep(POLL)

    def record(self) -> dict[str, Any]:
        """The latest record of the training: see `demo_worker.ProgressReporter`."""
        with suppress(OSError, ValueError):  # not written yet
            self._record = json.loads(self._file.read_text("utf-8"))
        return self._record

    def stop(self) -> None:
        """End the training, which writes a checkpoint first."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._file.parent, ignore_errors=True)


def end_with_parent(folder: Path) -> None:
    """In the worker: when its parent, which holds the other end of its stdin, ends, remove the folder of records and
    terminate."""

    def watch() -> None:
        while os.read(0, 1):  # not sys.stdin, whose lock would be held at exit
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
