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
from huggingface_hub import HfApi
from torch import Tensor
from tqdm.auto import tqdm
from transformers import EarlyStoppingCallback, Seq2SeqTrainer
from transformers.trainer import TRAINING_ARGS_NAME
from transformers.trainer_callback import ExportableState
from transformers.trainer_utils import HubStrategy
from transformers.utils.hub import PushInProgress

from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .batching import plan_epoch
from .checkpoints import SAVING, STATE, as_user_error, begin, put_in_place, remove_old
from .hub import create_repository, push_checkpoint
from .stopping import SIGNALS, Stopper

EXPLODED = 5  # times the loss of a model that knows nothing: more is no learning any more
MOST_LEFT_OUT = 10  # batches in a row; more are no accident of the data


class FaultTolerantTrainer(Seq2SeqTrainer):
    """Overrides five private methods of transformers, which has no public place for them: `_get_grad_norm` is the last
    call before the optimizer's step, `_init_training_state` and `_run_epoch` are where a run is resumed, and
    `_save_checkpoint` and `_push_from_checkpoint` write in place, and from there."""

    args: Seq2SeeTrainingArguments
    push_in_progress: PushInProgress | None

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.step_loss: Tensor | float = 0.0  # of this step's micro-batches so far, in this process
        self.left_out = 0  # batches in a row that never reached the weights
        self.patience = EarlyStoppingCallback(self.args.patience) if self.args.patience else None
        self.stopper = Stopper()
        for callback in filter(None, (self.patience, self.stopper)):
            self.add_callback(callback)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        with self.stopper.listening():
            return super().train(*args, **kwargs)

    # Steps that would spoil the weights

    def training_step(self, *args: Any, **kwargs: Any) -> Tensor:
        loss = super().training_step(*args, **kwargs)
        self.step_loss = self.step_loss + loss
        return loss

    def _get_grad_norm(self, model: torch.nn.Module, grad_norm: Any = None) -> Any:
        """As in transformers, and the last thing before the optimizer's step: here all processes agree on it."""
        norm = super()._get_grad_norm(model, grad_norm)
        loss, norm_there, self.stopper.agreed = self.agree(self.step_loss, norm, self.stopper.told)
        self.step_loss = 0.0
        fault = self.fault_of_step(loss, norm_there)
        self.left_out = self.left_out + 1 if fault else 0
        if fault:
            self.leave_out(fault)
        return norm

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
        where = f"step {self.state.global_step + 1}: {fault}, for {self.batch_at_hand()}"
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

    def batch_at_hand(self) -> str:
        epoch = int(self.state.epoch or 0)
        data = self.train_dataset
        plan = plan_epoch(data.lengths(), max_tokens=self.args.max_tokens, seed=self.args.seed, epoch=epoch)
        number = self.state.global_step % len(plan)
        batch = plan[number]
        first = data.source_text(int(batch[0]))
        return f"batch {number + 1} of epoch {epoch + 1} ({len(batch)} examples, one of them {first[:40]!r})"

    # Checkpoints

    def _init_training_state(self, *args: Any) -> Any:
        """As in transformers.  Resumed, it also counts evaluations without a gain on from where it was, and finds the
        best checkpoint where the run folder is now."""
        begun = super()._init_training_state(*args)
        counted = self.state.stateful_callbacks.get(EarlyStoppingCallback.__name__)
        if self.patience and isinstance(counted, dict):
            self.patience.early_stopping_patience_counter = counted["attributes"]["early_stopping_patience_counter"]
        self.state.best_model_checkpoint = self.best_checkpoint()
        return begun

    def best_checkpoint(self) -> str | None:
        best = Path(self.args.output_dir) / f"checkpoint-{self.state.best_global_step}"
        if best.is_dir() or self.state.best_global_step == self.state.global_step:  # the one about to be written
            return str(best)
        return self.state.best_model_checkpoint  # evaluations may be more frequent than checkpoints

    def _run_epoch(self, **kwargs: Any) -> None:
        """As in transformers, but a run that is resumed where it had ended takes no further step, and one that is
        resumed within an epoch has its pairs cut as in that epoch: a loader that skips batches does not tell them."""
        self.train_dataset.set_epoch(kwargs["epoch"])
        stopped = self.patience and self.patience.early_stopping_patience_counter >= self.args.patience
        if stopped or self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            super()._run_epoch(**kwargs)

    def _save_checkpoint(self, model: torch.nn.Module, trial: Any) -> None:
        """All processes write their part into one folder, and the first puts it in place; see checkpoints.py."""
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        staging = folder.with_name(SAVING)
        self.state.best_model_checkpoint = self.best_checkpoint()
        try:
            with as_user_error(folder):
                if self.args.should_save:
                    begin(staging)
            self.accelerator.wait_for_everyone()
            with as_user_error(folder):
                self._write_state(str(staging))
            self.accelerator.wait_for_everyone()
            with as_user_error(folder):
                if self.args.should_save:
                    put_in_place(staging, folder)
                    best = self.state.best_model_checkpoint
                    remove_old(folder, best=Path(best) if best else None, limit=self.args.save_total_limit)
            self.accelerator.wait_for_everyone()
        except UserError:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        if self.args.push_to_hub:
            self._push_from_checkpoint(str(folder))

    def init_hf_repo(self, *args: Any, **kwargs: Any) -> None:
        self.push_in_progress = None
        if self.is_world_process_zero():
            self.hub_model_id = create_repository(self.args)

    def _push_from_checkpoint(self, checkpoint_folder: str) -> None:
        """In a thread, as in transformers; which copies the model over the run folder's own first, without its code."""
        if not self.is_world_process_zero() or self.args.hub_strategy == HubStrategy.END:
            return
        waiting = [job for job in self.push_in_progress.jobs if not job.done()] if self.push_in_progress else []
        if self.args.hub_always_push or not waiting:
            job = HfApi().run_as_future(push_checkpoint, Path(checkpoint_folder), self.hub_model_id, self.args)
            self.push_in_progress = PushInProgress([*waiting, job])

    def _write_state(self, folder: str) -> None:
        """What this process has to give: the first one everything but the others' random numbers."""
        self.save_model(folder, _internal_call=True)
        if not self.args.save_only_model:
            self._save_optimizer_and_scheduler(folder)
            self._save_scaler(folder)
            self._save_rng_state(folder)
        if self.args.should_save:
            for item in [*self.callback_handler.callbacks, self.control]:
                if isinstance(item, ExportableState):
                    self.state.stateful_callbacks[type(item).__name__] = item.state()
            self.state.save_to_json(f"{folder}/{STATE}")

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        super()._save(output_dir, state_dict)
        if self.args.should_save:
            (Path(output_dir or self.args.output_dir) / TRAINING_ARGS_NAME).unlink()  # a pickle of what run.yaml says
