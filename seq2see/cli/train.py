"""The verb `train`: trains and measures a model from a configuration, or previews it."""

import argparse

from seq2see.folders import newest_model, numbered
from seq2see.training.checks import check_command
from seq2see.training.config import RunConfig


def run(args: argparse.Namespace) -> int:
    """`args.config`, a path or packaged name; `args.overrides`, a list of key=value; `args.dry_run`;
    `args.no_measures`."""
    config = check_command(args)
    if args.dry_run:
        from seq2see.training.preview import preview  # imports torch, which takes seconds

        preview(config)
        return 0
    return train(config, measured=not args.no_measures)


def train(config: RunConfig, *, measured: bool = True, resume: str = "repeat the command with training.resume=true"
          ) -> int:
    """Train and measure a model; returns the exit code.  If the training is stopped, it says how to `resume` it."""
    from seq2see.measures.finished_run import measure_run  # these import torch
    from seq2see.measures.training_replay import can_be_replayed
    from seq2see.training.moments import MOMENTS
    from seq2see.training.progress import is_first, report
    from seq2see.training.run import run_experiment

    try:
        run_experiment(config, moments=MOMENTS if measured and can_be_replayed(config) else 0)
    except (KeyboardInterrupt, SystemExit) as stopped:
        how = "to continue" if numbered(config.output) else "no checkpoint was written yet; to start again"
        newest = newest_model(config.output)
        report(f"stopped; {how}, {resume} (run folder {config.output})"
               + (f"; to use the model as it is, open {newest}" if newest else ""))
        if isinstance(stopped, SystemExit):
            raise
        return 130
    if measured and is_first():
        measure_run(config.output)
    return 0
