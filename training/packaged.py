"""The packaged storybook model: whether a folder holds it, and training it there."""

import json
from pathlib import Path

from seq2see.errors import UserError


def is_finished(run: Path) -> bool:
    """A run's metrics are the last thing that training writes."""
    return (run / "metrics.json").is_file() and (run / "model.safetensors").is_file()


def train_storybook(run: Path) -> None:
    """Train the packaged configuration into `run`, going on where an interrupted training stopped.

    UserError for a folder that holds something else.
    """
    from seq2see.training.config import load_config
    from seq2see.training.run import run_experiment

    begun = (run / "run.yaml").is_file()
    if run.is_dir() and any(run.iterdir()) and not begun:
        raise UserError(f"{run} holds something that is not a run of ours; show it with `seq2see serve {run}`,"
                        " or give another folder by --run FOLDER")
    print(f"{run}: {'going on with' if begun else 'starting'} the training; it takes a few minutes, once", flush=True)
    overrides = [f"training.output_dir={json.dumps(str(run))}", f"training.resume={json.dumps(begun)}"]
    run_experiment(load_config("storybook", overrides))
