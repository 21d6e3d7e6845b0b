"""How far training has come: a line to stderr for each log, with target tokens per second and the time left."""

from __future__ import annotations

import sys
import time
from typing import Any

from torch import Tensor
from transformers import TrainerCallback, TrainerState
from transformers.trainer_callback import ExportableState

from .progress import duration


class Pace(TrainerCallback, ExportableState):
    """Counts target tokens and the seconds they took: loading and training them, not evaluating or saving.

    A checkpoint has the seconds so far, and a run that is resumed goes on from them.
    """

    def __init__(self) -> None:
        self.tokens: Tensor | int = 0  # since the last log; a tensor on a GPU is read only there
        self.seconds = 0.0  # since the last log
        self.before = 0.0  # seconds of all, evaluating and saving too, up to the checkpoint that was resumed
        self.begun = self.mark = time.perf_counter()
        self.first_step = 0

    def state(self) -> dict[str, Any]:
        return {"args": {}, "attributes": {"before": self.elapsed()}}

    def elapsed(self) -> float:
        """Seconds since training began, evaluating and saving too, but not those while it was interrupted."""
        return self.before + time.perf_counter() - self.begun

    def rate(self) -> float:
        """Target tokens per second since the last time this was asked."""
        rate = int(self.tokens) / max(self.seconds, 1e-9)
        self.tokens, self.seconds = 0, 0.0
        return round(rate, 1)

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self.begun = self.mark = time.perf_counter()
        self.first_step = state.global_step
        if state.global_step and (kept := state.stateful_callbacks.get(Pace.__name__)):
            self.before = kept["attributes"]["before"]

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        now = time.perf_counter()
        self.seconds += now - self.mark
        self.mark = now

    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self.mark = time.perf_counter()

    on_save = on_evaluate

    def on_log(self, args: Any, state: TrainerState, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """At the mean speed so far, evaluations and all, is the time left."""
        if not state.is_world_process_zero:
            return
        items = [f"step {state.global_step}/{state.max_steps}"]
        items += [f"{name} {value:,.0f}" if value >= 1000 else f"{name} {value:.4g}" for name, value in logs.items()]
        done, left = state.global_step - self.first_step, state.max_steps - state.global_step
        if done and left and "train_runtime" not in logs:  # which is logged at the end, even if that is early
            items.append(f"{duration((time.perf_counter() - self.begun) / done * left)} left")
        print("  ".join(items), file=sys.stderr, flush=True)
