"""Which checkpoint a run resumes from, and whether settings and data are still those that it was trained with."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .checkpoints import find_checkpoint
from .checks import check_output
from .config import RunConfig, load_record
from .pairs import Corpus
from .progress import say

DATA = "data.json"  # in a run: how many pairs it is trained on, and their fingerprint
SHARED_SECTIONS = ("data", "tokenizer", "model")  # which must not change when a run is resumed


def choose_checkpoint(
    config: RunConfig, arguments: Seq2SeeTrainingArguments, output: Path, *, dry_run: bool
) -> Path | None:
    """The checkpoint to resume from, or None to start afresh; a folder that holds a run is never trained over."""
    if not arguments.resume:  # the first process alone looks: it may have begun to fill the folder
        if arguments.should_save and not dry_run:
            check_output(output)
        return None
    checkpoint, passed_over = find_checkpoint(output, averaged=bool(arguments.ema_decay))
    for item in passed_over:
        say(f"passed over {item}")
    if passed_over and not checkpoint:
        raise UserError(
            f"no checkpoint in {output} passes the integrity checks; fix or delete them, or start afresh with another"
            " training.output_dir"
        )
    say(f"resuming from {checkpoint}" if checkpoint else f"no checkpoint in {output}: starting afresh")
    if checkpoint and (wrote := len(list(checkpoint.glob("rng_state*")))) != arguments.world_size:
        say(f"processes then {wrote}, now {arguments.world_size}: the same batches, with other dropout masks")
    if checkpoint and (output / "run.yaml").exists():
        before = resume_invariants(load_record(output / "run.yaml"))
        for name, value in resume_invariants(config).items():
            may_change = name == "data.path" and (arguments.resume == "force" or same_path(before[name], value))
            if before[name] != value and not may_change:
                remedy = f"{name}={before[name]}" if name != "data.path" or not config.data.corpora else "data.folder"
                raise UserError(
                    f"{name} is {value!r}, but the run in {output} has {before[name]!r};"
                    f" give {remedy}, or another training.output_dir",
                    exit_code=2,
                )
    return checkpoint


def resume_invariants(config: RunConfig) -> dict[str, Any]:
    """The settings that must not change when a run is resumed.  Among them are the optimizer's kind, whose state a
    checkpoint has, and what batches are made by, of which it has the number that are done."""
    sections = asdict(config)
    chosen = {item.name: item.default for item in fields(Seq2SeeTrainingArguments)} | dict(config.training)
    shared = {f"{section}.{key}": value for section in SHARED_SECTIONS for key, value in sections[section].items()}
    del shared["data.folder"]
    if config.data.corpora:
        paths = [part.path for part in config.data.parts()]
        shared["data.path"] = [one for path in paths for one in (path if isinstance(path, list) else [path])]
        shared["data.corpora"] = [one | {"path": None} for one in shared["data.corpora"]]
    return shared | {f"training.{key}": chosen[key] for key in ("optim", "muon_lr_scale", "seed", "max_tokens")}


def same_path(kept: str | list[str], given: str | list[str]) -> bool:
    """Whether `data.path` is what run.yaml has of it: the absolute path that it leads to, or that ends in it where the
    data were moved with the run."""
    kept, given = ([path] if isinstance(path, str) else path for path in (kept, given))
    return len(kept) == len(given) and all(
        os.path.abspath(one) == os.path.abspath(other) or one.endswith(f"{os.sep}{Path(other)}")
        for one, other in zip(kept, given, strict=True)
    )


def check_data(config: RunConfig, corpus: Corpus, output: Path, *, force: bool) -> None:
    """Raises UserError where these are not the pairs that the run in this folder was trained on, or says so where that
    is to be; a run of an earlier version does not tell."""
    try:
        before = json.loads((output / DATA).read_text("utf-8"))
    except FileNotFoundError:
        return
    except ValueError:
        if force:
            return
        raise UserError(f"{output / DATA} is damaged; to resume without it, give training.resume=force") from None
    now = data_record(corpus)
    if now != before:
        counts = (f"{found['train']} training and {found['val']} validation pairs" for found in (before, now))
        changed = f"{config.data.where} has changed since {output} was trained on it ({', now '.join(counts)})"
        if force:
            say(f"{changed}; resuming on the changed data")
            return
        raise UserError(
            f"{changed}; restore it, or resume on the changed data with training.resume=force, or give another"
            " training.output_dir",
            exit_code=2,
        )


def data_record(corpus: Corpus) -> dict[str, Any]:
    return {"train": len(corpus.train), "val": len(corpus.val), "fingerprint": corpus.fingerprint}
