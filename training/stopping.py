"""Early stopping: a training ends after `training.patience` evaluations without a gain (Prechelt 1998)."""

from __future__ import annotations

from typing import Any

from transformers import EarlyStoppingCallback, TrainerControl, TrainerState


class EarlyStopping(EarlyStoppingCallback):
    """transformers' callback, which also counts on where an interrupted training left off.

    A training that had stopped stays stopped when it is resumed.
    """

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        super().on_train_begin(args, state, control, **kwargs)
        self.__dict__.update(state.stateful_callbacks[type(self).__name__]["attributes"])
        if self.early_stopping_patience_counter >= self.early_stopping_patience:
            control.should_training_stop = True
