"""Ctrl-C and SIGTERM while a model is trained: the step is ended and a checkpoint written, from which it can go on.

The second signal stops at once.  Where several processes train together, all stop after the same step: after each, they
agree on whether one of them was told (accelerate's trigger).
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


class Stopper(TrainerCallback):
    """Has a checkpoint written after the step in which all processes know of a signal, and then stops.

    The checkpoint is that of a training nobody stopped: what is due at this step, or at the end of its epoch, is done
    before, and nothing else is evaluated.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.told = 0  # the signal that this process was sent
        self.agreed = False  # whether all of them stop

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, signals are kept until a step ends; in the main thread alone, as Python has it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}
        for number in SIGNALS:
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, self.note)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.told:  # after the last step
            stop(self.told)

    def note(self, number: int, frame: FrameType | None) -> None:
        launched = "TORCHELASTIC_RUN_ID" in os.environ  # by torchrun, which sends on a signal that all have had
        if self.told and not launched:
            stop(number)
        self.told = number
        if is_first():
            name, again = signal.Signals(number).name, "" if launched else "; a second signal stops immediately"
            os.write(2, f"\n{name}: stopping after this step, with a checkpoint{again}\n".encode())

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.told:
            self.accelerator.set_trigger()
        self.agreed = self.accelerator.check_trigger()
        if self.agreed and not state.epoch.is_integer():
            control.should_save = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.agreed:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.agreed:
            stop(self.told or signal.SIGTERM)


def stop(number: int) -> NoReturn:
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def leave_signals_to_parent(worker: int = 0) -> None:
    """For the processes that load data or train along: a signal to the whole group must not end them before a save."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
