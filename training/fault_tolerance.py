"""FaultTolerantTrainer: transformers' Seq2SeqTrainer, which survives kills, signals, full disks and bad batches.

- A checkpoint is put in place whole (checkpoints.py), and resuming goes on exactly: also at the very end of a training,
  and in the count of evaluations that brought no gain.
- A signal has a checkpoint written before the training stops (stopping.py).
- A batch whose loss is no number, or far too large, never reaches the weights: it stops the training, or is left out.
"""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm
from transformers import EarlyStoppingCallback, Seq2SeqTrainer, TrainerCallback, TrainerState
from transformers.trainer_callback import ExportableState

from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .checkpoints import SAVING, as_user_error, begin, put_in_place, remove_old
from .stopping import SIGNALS, Stopper

EXPLODED = 5  # times the loss of a model that knows nothing: more is no learning any more
MOST_LEFT_OUT = 10  # batches in a row; more are no accident of the data


class FaultTolerantTrainer(Seq2SeqTrainer):
    """Overrides two private methods of transformers: `_run_epoch`, without which a run that is resumed where it had
    ended takes another step, and `_save_checkpoint`, which writes in place."""

    args: Seq2SeeTrainingArguments

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.step_loss: Tensor | float = 0.0  # of this step's micro-batches so far, in this process
        self.left_out = 0  # batches in a row that never reached the weights
        self.patience = EarlyStoppingCallback(self.args.patience) if self.args.patience else None
        self.stopper = Stopper()
        for callback in filter(None, (self.patience, self.stopper, Guard(self))):
            self.add_callback(callback)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        with self.stopper.listening():
            return super().train(*args, **kwargs)

    # Steps that would spoil the weights

    def training_step(self, *args: Any, **kwargs: Any) -> Tensor:
        loss = super().training_step(*args, **kwargs)
        self.step_loss = self.step_loss + loss
        return loss

    def check_step(self) -> None:
        """All processes agree on whether this step is to be made, and on whether it is the last."""
        grads = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        norm = torch.nn.utils.get_total_norm(grads)
        loss, norm_there, self.stopper.agreed = self.agree(self.step_loss, norm, self.stopper.told)
        self.step_loss = 0.0
        fault = self.fault_of_step(loss, norm_there)
        self.left_out = self.left_out + 1 if fault else 0
        if fault:
            self.leave_out(fault)

    def agree(self, loss: Tensor | float, norm: Tensor | float, told: int) -> tuple[float, float, int]:
        """The batch's loss per token and the norm of its gradient, and the signal that any process was sent, or 0."""
        mine = (loss, norm, *(told == number for number in SIGNALS))
        numbers = torch.stack([torch.as_tensor(x, dtype=torch.float32, device=self.args.device) for x in mine])
        if self.args.world_size > 1:
            torch.distributed.all_reduce(numbers)
        whole, norms, *told_by = numbers.tolist()
        agreed = next((number for number, count in zip(SIGNALS, told_by, strict=True) if count), 0)
        return whole / self.args.world_size, norms / self.args.world_size, agreed

    def fault_of_step(self, loss: float, norm: float) -> str | None:
        most = EXPLODED * math.log(self.model.config.vocab_size)
        if not math.isfinite(loss):
            return f"the loss is {loss}"
        if loss > most:
            return f"the loss is {loss:.4g} a token, above {most:.0f}, {EXPLODED} times that of guessing"
        if not math.isfinite(norm) and not self.args.fp16:  # there it is the scaler's to find how far it can go
            return f"the gradient is {norm}"
        return None

    def leave_out(self, fault: str) -> None:
        """Take this step back before it is made, or stop, as `on_bad_loss` has it."""
        where = f"step {self.state.global_step + 1}, after {self.state.epoch:.3g} epochs: {fault}"
        if self.args.on_bad_loss == "stop":
            raise UserError(
                f"{where}; the last checkpoint is intact: go on from it without such batches by training.resume=true"
                " training.on_bad_loss=skip, or train again with a lower training.learning_rate"
            )
        if self.left_out > MOST_LEFT_OUT:
            raise UserError(
                f"{where}, and {MOST_LEFT_OUT} batches before it were left out for the like; the last checkpoint is"
                " intact, but this does not mend itself: train again with a lower training.learning_rate"
            )
        for parameter in self.model.parameters():
            parameter.grad = None  # which optimizers pass over, momentum and decay included
        self.state.log_history.append({"step": self.state.global_step + 1, "left_out": fault})
        if self.args.should_save:
            tqdm.write(f"{where}; left out", file=sys.stderr)

    # Checkpoints

    def best_checkpoint(self) -> str | None:
        """The checkpoint of the best evaluation, where the run folder is now; None where there is none: evaluations may
        be more frequent than checkpoints."""
        best = Path(self.args.output_dir) / f"checkpoint-{self.state.best_global_step}"
        return str(best) if best.is_dir() else self.state.best_model_checkpoint

    def go_on(self) -> None:
        """Count evaluations without a gain on from where they were, and find the best checkpoint."""
        kept = self.state.stateful_callbacks
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, ExportableState):
                kept.setdefault(type(callback).__name__, callback.state())
        if self.patience:
            vars(self.patience).update(kept[EarlyStoppingCallback.__name__]["attributes"])
        self.state.best_model_checkpoint = self.best_checkpoint()

    def _run_epoch(self, **kwargs: Any) -> None:
        stopped = self.patience and self.patience.early_stopping_patience_counter >= self.args.patience
        if stopped or self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            super()._run_epoch(**kwargs)

    def _save_checkpoint(self, model: torch.nn.Module, trial: Any) -> None:
        """All processes write their part into one folder, and the first puts it in place; see checkpoints.py."""
        run = Path(self.args.output_dir)
        folder, staging = run / f"checkpoint-{self.state.global_step}", run / SAVING
        if not all(parameter.isfinite().all() for parameter in self.model.parameters()):
            raise UserError(f"{folder} was not written: its weights are not finite; earlier checkpoints are intact")
        try:
            with as_user_error(folder):
                if self.args.should_save:
                    begin(staging)
            self.accelerator.wait_for_everyone()
            with as_user_error(folder):
                self.args.output_dir = str(staging)
                super()._save_checkpoint(model, trial)
            self.args.output_dir = str(run)
            self.accelerator.wait_for_everyone()
            with as_user_error(folder):
                if self.args.should_save:
                    put_in_place(staging / folder.name, folder)
                    best = self.state.best_global_step
                    remove_old(folder, best=run / f"checkpoint-{best}", limit=self.args.save_total_limit)
            self.accelerator.wait_for_everyone()
            self.state.best_model_checkpoint = self.best_checkpoint()
        finally:
            self.args.output_dir = str(run)
            if self.args.should_save:
                shutil.rmtree(staging, ignore_errors=True)


class Guard(TrainerCallback):
    """Has the trainer look at each step before the optimizer makes it, and at where it goes on from."""

    def __init__(self, trainer: FaultTolerantTrainer):
        self.trainer = trainer

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self.trainer.go_on()

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.trainer.check_step()
