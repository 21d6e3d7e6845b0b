"""The verb `distil`: teachers' translations of training pairs, as a data set to train a student on."""

import argparse
from pathlib import Path

from seq2see.errors import UserError
from seq2see.training.config import REFERENCE, load_config
from seq2see.training.distillation import distil
from seq2see.translate.devices import torch_device


def run(args: argparse.Namespace) -> int:
    """`args.teachers`, the folders, with key=value of the data section among them; `args.out`, `args.device`."""
    settings = [item for item in args.teachers if "=" in item]
    teachers = [item for item in args.teachers if "=" not in item]
    if not teachers:
        raise UserError("no teacher is given; name the folder of a trained model before data.path=PATH", exit_code=2)
    distil(teachers, load_config(REFERENCE, settings).data, Path(args.out), device=torch_device(args.device))
    return 0
