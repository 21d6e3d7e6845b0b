"""How far training has come: its pace in target tokens per second, the time left, and how both are shown.

Where stderr is a terminal there is a bar, with a line above it for each evaluation; elsewhere a line for each log.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from torch import Tensor
from tqdm.auto import tqdm
from transformers import ProgressCallback, TrainerCallback, TrainerState
from transformers.trainer_callback import ExportableState

from .progress import duration

FIRST = ("loss", "target_tokens_per_second")
HIDDEN = (  # of what transformers logs at the end: not counted, not of all processes, or of the last resumption alone
    "total_flos", "train_loss", "train_samples_per_second", "train_steps_per_second",
)  # fmt: skip


class Pace(TrainerCallback, ExportableState):
    """Counts target tokens and the seconds they took: loading and training them, not evaluating or saving.

    A checkpoint has its sums, and a run that is resumed goes on from them.
    """

    def __init__(self) -> None:
        self.tokens: Tensor | int = 0  # since the last log; a tensor on a GPU is read only there
        self.seconds = 0.0  # since the last log
        self.total = 0.0  # since training began, before any interruption
        self.before = 0.0  # seconds of all, evaluating and saving too, up to the checkpoint that was resumed
        self.mark = 0.0
        self.begun, self.first_step = time.perf_counter(), 0

    def state(self) -> dict[str, Any]:
        return {"args": {}, "attributes": {"total": self.total, "before": self.elapsed()}}

    def elapsed(self) -> float:
        """Seconds since training began, evaluating and saving too, but not those while it was interrupted."""
        return self.before + time.perf_counter() - self.begun

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self.mark = self.begun = time.perf_counter()
        self.first_step = state.global_step
        if state.global_step and (kept := state.stateful_callbacks.get(Pace.__name__)):
            self.total, self.before = kept["attributes"]["total"], kept["attributes"]["before"]

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        now = time.perf_counter()
        self.seconds += now - self.mark
        self.total += now - self.mark
        self.mark = now

    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self.mark = time.perf_counter()

    on_save = on_evaluate

    def figures(self, logs: dict[str, float]) -> dict[str, float]:
        """What belongs into a log: the rate since the last one, when it was evaluated, or how long it all took."""
        if "train_runtime" in logs:
            return {"train_runtime": round(self.elapsed(), 2)}
        if "eval_loss" in logs:
            return {"train_seconds": round(self.total, 2)}
        if "loss" not in logs or not self.seconds:
            return {}
        rate = int(self.tokens) / self.seconds
        self.tokens, self.seconds = 0, 0.0
        return {"target_tokens_per_second": round(rate, 1)}

    def seconds_left(self, state: TrainerState) -> float | None:
        """At the mean speed so far, evaluations and all; None while there is none."""
        done = state.global_step - self.first_step
        return (time.perf_counter() - self.begun) / done * (state.max_steps - state.global_step) if done else None


class LogLines(TrainerCallback):
    """One line to stderr for each log, where there is no terminal for a bar."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        if state.is_world_process_zero and logs:
            print(line_of(state, logs, self.pace.seconds_left(state)), file=sys.stderr, flush=True)


class ProgressBar(ProgressCallback):
    """transformers' bar, with the last loss and pace beside it; evaluations stay above it as lines."""

    training_bar: tqdm | None

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        if not self.training_bar or not logs:
            return
        if "loss" in logs:
            self.training_bar.set_postfix_str("  ".join(spelled({name: logs[name] for name in FIRST if name in logs})))
        elif "eval_loss" in logs:
            self.training_bar.write(line_of(state, logs, None), file=sys.stderr)

    def close(self) -> None:
        """Leave the bar as it is and go to the next line."""
        if self.training_bar:
            self.training_bar.close()
        self.training_bar = None


def line_of(state: TrainerState, logs: dict[str, float], seconds_left: float | None) -> str:
    items = [f"step {state.global_step}/{state.max_steps}", *spelled(logs)]
    if seconds_left is not None and state.global_step < state.max_steps:
        items.append(f"{duration(seconds_left)} left")
    return "  ".join(items)


def spelled(logs: dict[str, float]) -> Iterator[str]:
    for name in sorted(logs, key=lambda name: name not in FIRST):
        value = logs[name]
        if name == "target_tokens_per_second":
            yield f"{value:,.0f} target tokens/s"
        elif name == "train_seconds":
            yield f"after {duration(value)} of training"
        else:
            yield f"{name} {value:.4g}"
