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
DENSITY = 2.5  # the power by which moments lie closer together at the start


def moments(steps: int, count: int) -> set[int]:
    """At most so many of the steps 1 to `steps`, both among them."""
    return {1 + round((steps - 1) * (number / (count - 1)) ** DENSITY) for number in range(count)}


class KeepMoments(TrainerCallback):
    """Writes the moments of a trainer, `count` of them, into this run."""

    def __init__(self, trainer: Seq2SeeTrainer, run: Path, *, count: int):
        self.trainer, self.folder, self.count = trainer, run / FOLDER, count

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step in moments(state.max_steps, self.count):
            self.folder.mkdir(exist_ok=True)
            with self.trainer.averaged():
                weights = {name: weight.detach().to("cpu", torch.float16)
                           for name, weight in self.trainer.model.named_parameters()}  # fmt: skip
            save_file(weights, self.folder / f"{state.global_step}.safetensors")


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
