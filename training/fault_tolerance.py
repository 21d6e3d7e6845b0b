"""FaultTolerantTrainer: transformers' Seq2SeqTrainer, which survives kills, signals, full disks and bad batches.

- A checkpoint appears complete or not at all (checkpoints.py), and resuming is exact: also at the very end of a
  training, and in the count of evaluations without a gain (stopping.py).
- After a signal a checkpoint is written before the training stops (signals.py).
- A gradient with NaN or infinity never reaches the weights: it stops the training, or its batch is left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from tqdm.auto import tqdm
from transformers import Seq2SeqTrainer, TrainerCallback, TrainerControl, TrainerState
from transformers.trainer_callback import ExportableState
from transformers.trainer_utils import rotate_checkpoints

from seq2see.errors import UserError, as_user_error
from .arguments import Seq2SeeTrainingArguments
from .checkpoints import SAVING, begin, put_in_place
from .signals import StopOnSignal
from .stopping import EarlyStopping


class FaultTolerantTrainer(Seq2SeqTrainer, TrainerCallback):
    """A trainer that is one of its own callbacks.

    It overrides two private methods of transformers: `_run_epoch`, since a run that is resumed where it had ended would
    take another step, and `_save_checkpoint`, which writes in place.
    """

    args: Seq2SeeTrainingArguments

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.left_out = False  # whether this step's gradient never reached the weights
        self.on_signal = StopOnSignal(self.accelerator)
        self.add_callback(self)  # before EarlyStopping, for which it completes the state
        if self.args.patience:
            self.add_callback(EarlyStopping(self.args.patience))
        self.add_callback(self.on_signal)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        with self.on_signal.listening():
            return super().train(*args, **kwargs)

    def on_pre_optimizer_step(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        """Take this step back before it is made, or stop, as `on_bad_loss` has it, where its gradient is not finite.
        All processes have the same gradient, and so decide alike."""
        norm = torch.nn.utils.get_total_norm([p.grad for p in self.model.parameters() if p.grad is not None])
        self.left_out = not (norm.isfinite() or self.args.fp16)  # there it is the scaler's to find how far it can go
        if not self.left_out:
            return
        fault = f"the gradient is {norm.item()}"
        where = f"step {self.state.global_step + 1}, after {self.state.epoch:.3g} epochs: {fault}"
        if self.args.on_bad_loss == "stop":
            raise UserError(
                f"{where}; to skip such batches, continue from the last checkpoint with training.resume=true"
                " training.on_bad_loss=skip; or train again with a lower training.learning_rate"
            )
        for parameter in self.model.parameters():
            parameter.grad = None  # which optimizers pass over, momentum and decay included
        self.state.log_history.append({"step": self.state.global_step + 1, "left_out": fault})
        if self.args.should_save:
            tqdm.write(f"{where}; batch skipped", file=sys.stderr)

    def best_checkpoint(self) -> str | None:
        """The checkpoint of the best evaluation, where the run folder is now; None where there is none: evaluations may
        be more frequent than checkpoints."""
        best = Path(self.args.output_dir) / f"checkpoint-{self.state.best_global_step}"
        return str(best) if best.is_dir() else self.state.best_model_checkpoint

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Complete the state of a checkpoint that was written without a callback of now, and find the best one."""
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, ExportableState):
                state.stateful_callbacks.setdefault(type(callback).__name__, callback.state())
        state.best_model_checkpoint = self.best_checkpoint()
        if state.global_step >= state.max_steps:
            control.should_training_stop = True

    def _run_epoch(self, **kwargs: Any) -> None:
        if not self.control.should_training_stop:
            super()._run_epoch(**kwargs)

    def _save_checkpoint(self, model: torch.nn.Module, trial: Any) -> None:
        """All processes write their part into one folder, and the first puts it in place; see checkpoints.py."""
        run = Path(self.args.output_dir)
        folder, staging = run / f"checkpoint-{self.state.global_step}", run / SAVING
        if not all(parameter.isfinite().all() for parameter in self.model.parameters()):
            raise UserError(f"{folder} was not written, because the weights are not finite; earlier checkpoints are"
                            " intact")
        advice = "earlier checkpoints are intact; free disk space, then continue with training.resume=true"
        try:
            with as_user_error(f"could not write {folder} ({advice})"):
                if self.args.should_save:
                    begin(staging)
                self.accelerator.wait_for_everyone()
                self.args.output_dir = str(staging)
                super()._save_checkpoint(model, trial)
                self.args.output_dir = str(run)
                self.accelerator.wait_for_everyone()
                if self.args.should_save:
                    put_in_place(staging / folder.name, folder)
                self.accelerator.wait_for_everyone()
                self.state.best_model_checkpoint = self.best_checkpoint()
                if self.args.should_save:
                    rotate_checkpoints(
                        str(run), self.args.save_total_limit, self.state.best_model_checkpoint, use_mtime=True
                    )
        finally:
            self.args.output_dir = str(run)
            if self.args.should_save:
                shutil.rmtree(staging, ignore_errors=True)
