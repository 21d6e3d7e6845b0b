"""Checkpoints of a run: which one to resume from, and how the finished model is put in place.

The Trainer writes a checkpoint file by file, `trainer_state.json` last; a run that is killed leaves a partial one,
which transformers would resume from, silently losing the optimizer.  Here a partial checkpoint is passed over.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError, safe_open

from seq2see.errors import UserError


def find_checkpoint(output_dir: Path, *, averaged: bool) -> tuple[Path | None, list[str]]:
    """The newest complete checkpoint, if any, and for each newer one why it was passed over."""
    found = [item for item in output_dir.glob("checkpoint-*") if re.fullmatch(r"checkpoint-\d+", item.name)]
    passed_over: list[str] = []
    for folder in sorted(found, key=lambda item: -int(item.name.rpartition("-")[2])):
        fault = what_is_missing(folder, averaged=averaged)
        if fault is None:
            return folder, passed_over
        passed_over.append(f"{folder} ({fault})")
    return None, passed_over


def find_record(folder: Path, name: str) -> Path | None:
    """A file that a run keeps beside its model (run.yaml, seen_words.json), for a run or one of its checkpoints."""
    return next((place / name for place in (folder, folder.parent) if (place / name).is_file()), None)


def what_is_missing(folder: Path, *, averaged: bool) -> str | None:
    """What keeps a checkpoint from being resumed exactly; None where nothing does."""
    if (folder / "checkpoint-is-incomplete.txt").exists():
        return "marked as incomplete"
    weights = ["model.safetensors", "raw_weights.safetensors"] if averaged else ["model.safetensors"]
    states = ["optimizer.pt", "scheduler.pt", *sorted(item.name for item in folder.glob("rng_state*.pth"))[:1]]
    documents = ["trainer_state.json", "config.json", "tokenizer.json"]
    for name in [*weights, *states, *documents]:
        if not (folder / name).is_file():
            return f"no {name}"
    if len(states) < 3:
        return "no rng_state.pth"
    for name in weights:
        try:
            with safe_open(folder / name, framework="pt") as file:
                file.keys()
        except (OSError, SafetensorError):
            return f"{name} is damaged"
    for name in states:
        if not zipfile.is_zipfile(folder / name):
            return f"{name} is damaged"
    for name in documents:
        try:
            json.loads((folder / name).read_text("utf-8"))
        except ValueError:
            return f"{name} is damaged"
    return None


@contextmanager
def written_whole(output_dir: Path) -> Iterator[Path]:
    """A folder to write the finished model into; its files are put in place once all are written."""
    staging = output_dir / ".finishing"
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        yield staging
        for item in sorted(staging.iterdir()):
            if item.is_dir():
                shutil.rmtree(output_dir / item.name, ignore_errors=True)  # what a finished run had there before
            os.replace(item, output_dir / item.name)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise UserError(
            f"could not write the finished model to {output_dir} ({reason}); its checkpoints are intact:"
            " make room, then go on with training.resume=true"
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
