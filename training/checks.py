"""What a training is refused for at once: before torch is imported, which takes seconds, and before data are read."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from itertools import islice
from pathlib import Path

from seq2see.errors import UserError
from seq2see.folders import local_folder
from seq2see.json_files import read_json
from seq2see.streams import LINES_CHECKED
from seq2see.vetting import SIZES, vet
from ..tokenizer.layout import FIRST_TAG, TAG_SLOTS, tagged_languages
from .config import DataConfig, ModelConfig, RunConfig, load_config
from .progress import say
from .reading import find_part, is_nowhere, is_table


def check_command(args: argparse.Namespace) -> None:
    """The command's first line, or a UserError: a configuration that is wrong, or a folder that cannot be used."""
    config = load_config(args.config, args.overrides)
    if config.model.init_from and (folder := local_folder(config.model.init_from)):
        check_start(config, folder)
    check_shape(config.model)
    first = os.environ.get("RANK", "0") == "0"  # it may have begun to fill the folder before another process looks
    if first and not args.dry_run and not config.training.get("resume"):
        check_output(config.output)
    check_data(config.data)
    say(f"run folder {config.output}; loading PyTorch and transformers")


def check_shape(model: ModelConfig) -> None:
    """UserError where `Seq2SeeConfig` would refuse these sizes of the network."""
    sizes = {name: value for name, value in vars(model).items() if name in SIZES}
    for name, value in sizes.items():
        if not 1 <= value <= SIZES[name]:
            raise UserError(f"model.{name} is {value}, expected 1 to {SIZES[name]}", exit_code=2)
    for name in ("encoder_attention_heads", "decoder_attention_heads"):
        if model.d_model % sizes[name]:
            raise UserError(f"model.d_model is {model.d_model}, expected a multiple of the {sizes[name]} of"
                            f" model.{name}", exit_code=2)
    if model.d_model % 2:
        raise UserError(f"model.d_model is {model.d_model}, expected an even number", exit_code=2)


def check_output(output: Path) -> None:
    """UserError for a folder that holds a run: it is never trained over."""
    if holds_run(output):
        raise UserError(
            f"{output} already holds a run; go on with it by training.resume=true,"
            " or give another folder by training.output_dir=FOLDER",
            exit_code=2,
        )


def holds_run(output: Path) -> bool:
    return (output / "run.yaml").exists() or any(output.glob("checkpoint-*"))


def check_data(data: DataConfig) -> None:
    """UserError where the training pairs are nowhere, or in files whose beginning, or the whole of a short one, is
    refused."""
    for part in data.parts():
        _check_part(part)


def _check_part(data: DataConfig) -> None:
    in_files = is_table(data) or (isinstance(data.path, str) and Path(data.path).is_dir())
    if data.path == "storybook" or not (in_files or is_nowhere(data)):
        return
    part = find_part(data, "train")
    assert part is not None
    from .pairs import Cleaner  # with pyarrow, which a wrong setting need not wait for

    rows = list(islice(part.rows(), LINES_CHECKED))
    if len(rows) < LINES_CHECKED:
        for _ in Cleaner(data).pairs(replace(part, rows=lambda: iter(rows))):
            pass


def check_start(config: RunConfig, folder: Path) -> None:
    """UserError where the folder is no Seq2See model, or has no use for `tokenizer.vocab_size`."""
    vet(folder)
    kind = read_json(folder / "config.json")["model_type"]
    if kind != "seq2see":
        raise UserError(f"model.init_from={folder} is a {kind} model; give a Seq2See model's folder")
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise UserError(f"model.init_from={folder} has no tokenizer.json: it is half copied, or not a run")
    wanted = config.tokenizer.vocab_size
    if wanted is None:
        return
    tokens = {token["id"]: token["content"] for token in read_json(path)["added_tokens"]}
    known = tagged_languages([tokens.get(FIRST_TAG + slot, "") for slot in range(TAG_SLOTS)])
    size = read_json(folder / "config.json")["vocab_size"]
    if set(config.data.targets) <= set(known):
        raise UserError(
            f"tokenizer.vocab_size has no effect beside model.init_from={folder}, which keeps its {size} tokens: it"
            f" knows {', '.join(config.data.targets)} already; leave it out",
            exit_code=2,
        )
    if wanted < size:
        raise UserError(
            f"tokenizer.vocab_size is {wanted}, expected at least the {size} tokens of model.init_from={folder}",
            exit_code=2,
        )
