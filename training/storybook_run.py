"""Storybook's model: whether a folder holds a finished run, and training one there."""

import json
from pathlib import Path

from seq2see.errors import UserError


def is_finished(run: Path) -> bool:
    """A run's metrics are the last thing that training writes."""
    return (run / "metrics.json").is_file() and (run / "model.safetensors").is_file()


def is_begun(run: Path) -> bool:
    """Whether a training was begun there; UserError for a folder that holds something else."""
    from .config import load_record

    begun = (run / "run.yaml").is_file() and load_record(run / "run.yaml").data.path == "storybook"
    if run.is_dir() and any(item.name != ".lock" for item in run.iterdir()) and not begun:
        raise UserError(f"{run} is not empty and has no storybook run; show a finished model with `seq2see serve"
                        f" {run}`,"
                        " or give another folder with --run FOLDER")
    return begun


def train_storybook(run: Path) -> None:
    """Train the packaged configuration into `run`, going on where an interrupted training stopped.

    UserError for a folder that holds something else.
    """
    from .config import load_config
    from .run import run_experiment

    begun = is_begun(run)
    print(f"{run}: {'resuming' if begun else 'starting'} the training, which takes a few minutes and happens only"
          " once", flush=True)
    overrides = [f"training.output_dir={json.dumps(str(run))}", f"training.resume={json.dumps(begun)}"]
    run_experiment(load_config("storybook", overrides))
