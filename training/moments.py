"""Weights kept at some moments of a training, close together at its start: what its replay is made of.

A moment is a file of weights in half precision in the run's folder, `moments/STEP.safetensors`.  They are the averaged
weights where there are some, as everything that is saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel, TrainerCallback

from .trainer import Seq2SeeTrainer

FOLDER = "moments"  # in a run
MOMENTS = 18  # of a training that is to be replayed
DENSITY = 2.5  # the power by which moments lie closer together at the start


def moments(steps: int, count: int) -> set[int]:
    """At most so many of the steps 1 to `steps`, both among them."""
    return {1 + round((steps - 1) * (number / (count - 1)) ** DENSITY) for number in range(count)}


class KeepMoments(TrainerCallback):
    """Writes the moments of a trainer, `count` of them, into this run.

    Those of a training that was interrupted stay up to the checkpoint that it goes on from.
    """

    def __init__(self, trainer: Seq2SeeTrainer, run: Path, *, count: int):
        self.trainer, self.run, self.count = trainer, run, count

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for step, file in moments_of(self.run).items():
            if step > state.global_step:
                file.unlink()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step in moments(state.max_steps, self.count):
            with self.trainer.averaged():
                weights = {name: weight.detach().to("cpu", torch.float16)
                           for name, weight in self.trainer.model.named_parameters()}
            file = self.run / FOLDER / f"{state.global_step}.safetensors"
            file.parent.mkdir(exist_ok=True)
            save_file(weights, file)


def moments_of(run: Path) -> dict[int, Path]:
    """The files that a run has kept, by their steps, first to last."""
    files = {int(file.stem): file for file in (run / FOLDER).glob("*.safetensors")}
    return dict(sorted(files.items()))


def load_moment(model: PreTrainedModel, file: Path) -> None:
    """Give the model the weights of a moment, in its own precision."""
    kept = load_file(file)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(kept[name])
