"""Early checks of a training: before torch is imported, which takes seconds, and before data are read."""

from __future__ import annotations

import argparse
from pathlib import Path

from seq2see.errors import UserError
from seq2see.folders import local_folder
from .config import DataConfig, RunConfig, load_config
from .origin import model_type
from .progress import is_first, report
from .reading import Fault, find_part, locate


def check_command(args: argparse.Namespace) -> RunConfig:
    """The configuration, after the command's first line; or a UserError: it is wrong, or a folder cannot be used."""
    config = load_config(args.config, args.overrides)
    if config.model.init_from and (folder := local_folder(config.model.init_from)):
        check_start(folder, config)
    if is_first() and not args.dry_run and not config.training.get("resume"):  # which then fills the folder
        check_output(config.output)
    if locate(config.data)[0] in ("files", "folder", "nowhere"):
        check_first_rows(config.data)
    report(f"run folder {config.output}; loading PyTorch and transformers")
    return config


def check_first_rows(data: DataConfig) -> None:
    """UserError where there are no such pairs, or a header or the first row does not have these languages."""
    for part in filter(None, (find_part(data, split) for split in ("train", "val"))):
        line, sides = next(part.rows(), (0, []))
        if isinstance(sides, Fault) and data.on_invalid == "error":
            raise UserError(f"{part.where}, line {line}: {sides}; correct the file, or skip such pairs with"
                            " data.on_invalid=skip")


def check_output(output: Path) -> None:
    """UserError for a folder that holds a run: it is never trained over."""
    if (output / "run.yaml").exists() or any(output.glob("checkpoint-*")):
        raise UserError(
            f"{output} already contains a run; resume it with training.resume=true,"
            " or give another folder with training.output_dir=FOLDER",
            exit_code=2,
        )


def check_start(folder: Path, config: RunConfig) -> None:
    """UserError where the model to start from decides what the configuration sets."""
    kind = model_type(folder)
    given = {
        "tokenizer.vocab_size": config.tokenizer.vocab_size is not None,
        "training.guided_weight": bool(config.training.get("guided_weight")),
    }
    if kind != "seq2see" and any(given.values()):
        named = ", ".join(key for key, is_given in given.items() if is_given)
        raise UserError(f"{named}: only for Seq2See models, but model.init_from={folder} is a {kind} model, which keeps"
                        f" its vocabulary and decoding; omit {named}", exit_code=2)
