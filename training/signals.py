"""Ctrl-C and SIGTERM during training: the step is finished, a checkpoint is written, and the training stops.

A second signal stops at once.  Where several processes train together, all stop after the same step: after each step
they agree on whether one of them has received a signal (accelerate's trigger).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from accelerate import Accelerator
from transformers import TrainerCallback

from .progress import is_first

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopOnSignal(TrainerCallback):
    """Has a checkpoint written after the step in which all processes know of a signal, and then stops.

    The checkpoint is that of an uninterrupted training: whatever is due at this step, or at the end of its epoch, is
    done first, and nothing else is evaluated.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.received = 0  # the signal that this process got
        self.agreed = False  # whether all processes stop

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, a signal waits until a step ends.  Only in the main thread, where Python handles signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}
        for number in SIGNALS:
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, self.receive)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.received:  # after the last step
            stop(self.received)

    def receive(self, number: int, frame: FrameType | None) -> None:
        launched = "TORCHELASTIC_RUN_ID" in os.environ  # by torchrun, which passes on a signal that all have had
        if self.received and not launched:
            stop(number)
        self.received = number
        if is_first():
            name, again = signal.Signals(number).name, "" if launched else "; a second signal stops immediately"
            os.write(2, f"\n{name}: stopping after this step, with a checkpoint{again}\n".encode())

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.received:
            self.accelerator.set_trigger()
        self.agreed = self.accelerator.check_trigger()
        if self.agreed and not state.epoch.is_integer():
            control.should_save = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.agreed:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.agreed:
            stop(self.received or signal.SIGTERM)


def stop(number: int) -> NoReturn:
    """End this process as the signal would: Ctrl-C as KeyboardInterrupt, SIGTERM with exit code 143."""
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def ignore_signals(worker: int = 0) -> None:
    """For processes that load data or train along: a signal to the whole group must not end them before a save."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
