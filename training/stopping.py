"""Early stopping: a training ends after `training.patience` evaluations without a gain (Prechelt 1998)."""

from __future__ import annotations

from typing import Any

from transformers import EarlyStoppingCallback, TrainerControl, TrainerState

from .progress import report


class EarlyStopping(EarlyStoppingCallback):
    """transformers' callback, which also counts on where an interrupted training left off.

    A training that had stopped stays stopped when it is resumed.
    """

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        super().on_train_begin(args, state, control, **kwargs)
        for name, value in state.stateful_callbacks[type(self).__name__]["attributes"].items():
            setattr(self, name, value)
        if self.early_stopping_patience_counter >= self.early_stopping_patience:
            control.should_training_stop = True

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, metrics: Any, **kwargs: Any) -> None:
        super().on_evaluate(args, state, control, metrics, **kwargs)
        if self.early_stopping_patience_counter >= self.early_stopping_patience:
            report(f"stopping early, at step {state.global_step}: {self.early_stopping_patience} evaluations without a"
                   f" better {args.metric_for_best_model} (training.patience)")
