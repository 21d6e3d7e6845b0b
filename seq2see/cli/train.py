"""The verb `train`: a model trained and measured, or shown without training, as a configuration says."""

import argparse
import os

from seq2see.measures.finished_run import measure_run
from seq2see.measures.replay import can_be_replayed
from seq2see.training.checkpoints import numbered
from seq2see.training.config import load_config
from seq2see.training.moments import MOMENTS
from seq2see.training.preview import preview
from seq2see.training.progress import say
from seq2see.training.run import run_experiment


def run(args: argparse.Namespace) -> int:
    """`args.config`, a path or packaged name; `args.overrides`, a list of key=value; `args.dry_run`;
    `args.no_measures`."""
    config = load_config(args.config, args.overrides)
    if args.dry_run:
        preview(config)
        return 0
    try:
        run_experiment(config, moments=MOMENTS if not args.no_measures and can_be_replayed(config) else 0)
    except (KeyboardInterrupt, SystemExit) as stopped:
        output = config.output
        done = "to go on" if numbered(output) else "no checkpoint was written yet: to begin again"
        say(f"stopped; {done}, give the same command with training.resume=true (run folder {output})")
        if isinstance(stopped, SystemExit):
            raise
        return 130
    if not args.no_measures and os.environ.get("RANK", "0") == "0":
        measure_run(config.output)
    return 0
