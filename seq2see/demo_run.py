"""Storybook's training before the demo: in a process of its own (`demo_worker.py`), which ends when the demo does."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from seq2see.errors import UserError
from seq2see.lens.alignment_choice import FILE as ALIGNMENT
from seq2see.training.storybook_run import is_finished

WORKER = [sys.executable, "-m", "seq2see.demo_worker"]
POLL = 0.2  # seconds between checks whether it is done
PATIENCE = 30.0  # seconds allowed for writing a last checkpoint


class DemoRun:
    """`run`: the folder to train in; an interrupted training resumes."""

    def __init__(self, run: Path):
        self.run = run
        self._process: subprocess.Popen[bytes] | None = None

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
        self._process = subprocess.Popen([*WORKER, str(self.run)], stdin=subprocess.PIPE,
                                         start_new_session=True)

    def wait(self) -> None:
        """Wait for the model; UserError if the training ends without one."""
        while not self.finished:
            code = self._process.poll() if self._process else 0
            if code is not None and not self.finished:
                raise UserError(f"the training ended with code {code} (see above); run seq2see demo again to resume"
                                " the training")
            time.sleep(POLL)

    def stop(self) -> None:
        """End the training, which writes a checkpoint first."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def end_with_parent() -> None:
    """In the worker: terminate when its parent, which holds the other end of its stdin, ends."""

    def watch() -> None:
        while os.read(0, 1):  # not sys.stdin, whose lock would be held at exit
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
