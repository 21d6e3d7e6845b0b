"""The verb `train`: trains and measures a model from a configuration, or previews it."""

import argparse

from seq2see.folders import newest_model, numbered
from seq2see.training.checks import check_command


def run(args: argparse.Namespace) -> int:
    """`args.config`, a path or packaged name; `args.overrides`, a list of key=value; `args.dry_run`;
    `args.no_measures`."""
    config = check_command(args)
    from seq2see.measures.finished_run import measure_run  # these import torch, which takes seconds
    from seq2see.measures.training_replay import can_be_replayed
    from seq2see.training.moments import MOMENTS
    from seq2see.training.preview import preview
    from seq2see.training.progress import is_first, report
    from seq2see.training.run import run_experiment

    if args.dry_run:
        preview(config)
        return 0
    try:
        run_experiment(config, moments=MOMENTS if not args.no_measures and can_be_replayed(config) else 0)
    except (KeyboardInterrupt, SystemExit) as stopped:
        how = "to continue" if numbered(config.output) else "no checkpoint was written yet; to start again"
        newest = newest_model(config.output)
        report(f"stopped; {how}, repeat the command with training.resume=true (run folder {config.output})"
               + (f"; to use the model as it is, open {newest}" if newest else ""))
        if isinstance(stopped, SystemExit):
            raise
        return 130
    if not args.no_measures and is_first():
        measure_run(config.output)
    return 0
