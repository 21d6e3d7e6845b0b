"""Checkpoints of a run: how one is written, which one to resume from, and how the finished model is put in place.

A checkpoint is written in a hidden folder, brought to the disk, given its manifest (manifest.py), and only then
renamed: whatever kills a run, `checkpoint-N` is whole.  Before resuming every file's checksum is compared.
transformers writes in place, and resumes from the highest number even where half of it is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors import SafetensorError
from transformers.trainer import TRAINING_ARGS_NAME

from seq2see.errors import UserError
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest, write_manifest

WEIGHTS, RAW_WEIGHTS = "model.safetensors", "raw_weights.safetensors"  # RAW: those trained, where WEIGHTS is an average
STATE = "trainer_state.json"
SAVING, FINISHING, LOCK = ".saving", ".finishing", ".lock"  # in a run folder
LINGER = 6  # seconds that what a killed training leaves behind may live: the processes that load its data


@contextmanager
def only_training(output_dir: Path) -> Iterator[None]:
    """Inside, no other training uses the run folder, which is made.  Of several processes the first holds it for all.

    Raises UserError where another one does, and where nothing can be written.
    """
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    lock = FileLock(output_dir / LOCK, timeout=LINGER)
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        shutil.rmtree(output_dir / SAVING, ignore_errors=True)  # of a run that was killed while it saved
    except Timeout:
        raise UserError(
            f"another training is writing to {output_dir}; wait until it ends, or give another training.output_dir"
        ) from None
    except OSError as error:
        raise UserError(f"cannot write to {output_dir} ({error.strerror}); give another training.output_dir") from error
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):
            if [item.name for item in output_dir.iterdir()] == [LOCK]:  # refused before anything was written
                shutil.rmtree(output_dir)


# Which one to resume from

def numbered(output_dir: Path) -> list[Path]:
    """The folders checkpoint-N, the newest first: by number, since clocks may go backwards."""
    found = [item for item in output_dir.glob("checkpoint-*") if re.fullmatch(r"checkpoint-\d+", item.name)]
    return sorted(found, key=step_of, reverse=True)


def step_of(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])


def newest_intact_checkpoint(output_dir: Path, *, averaged: bool) -> tuple[Path | None, list[str]]:
    """The newest complete checkpoint, if any, and for each newer one why it was passed over."""
    passed_over: list[str] = []
    for folder in numbered(output_dir):
        fault = what_is_wrong(folder, averaged=averaged)
        if fault is None:
            return folder, passed_over
        passed_over.append(f"{folder} ({fault})")
    return None, passed_over


def find_record(folder: Path, name: str) -> Path | None:
    """A file that a run keeps beside its model (run.yaml, seen_words.json), for a run or one of its checkpoints."""
    return next((place / name for place in (folder, folder.parent) if (place / name).is_file()), None)


def what_is_wrong(folder: Path, *, averaged: bool) -> str | None:
    """What keeps a checkpoint from being resumed exactly; None where nothing does."""
    try:
        check_manifest(folder)
        marked = json.loads((folder / MANIFEST).read_text("utf-8"))["sha256"]
        step = json.loads((folder / STATE).read_text("utf-8"))["global_step"]
    except FileNotFoundError as error:
        return f"not complete: no {Path(error.filename).name}"
    except (OSError, UserError) as error:
        return str(error)
    for name in [WEIGHTS, "config.json", "tokenizer.json", "optimizer.pt", "scheduler.pt"]:
        if name not in marked:
            return f"no {name}"
    if (RAW_WEIGHTS in marked) != averaged:
        return f"its weights are {'not ' * averaged}averaged, and training.ema_decay is {'not ' * averaged}0"
    return None if step == step_of(folder) else f"{STATE} is of step {step}"


# How one is written

@contextmanager
def as_user_error(folder: Path) -> Iterator[None]:
    """Turns whatever the disk refuses into a UserError that says that this was not written."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        advice = "earlier checkpoints are intact: make room, then go on with training.resume=true"
        if not folder.parent.is_dir():
            reason, advice = f"{folder.parent} has vanished", "put it back, and go on with training.resume=true"
        raise UserError(f"could not write {folder} ({reason}); {advice}") from error


def begin(staging: Path) -> None:
    """An empty folder to write in.  Its parent is not recreated: a run folder that has gone is an error."""
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()


def put_in_place(staging: Path, folder: Path) -> None:
    """Make what was written a checkpoint: on the disk, marked, and only then under its name."""
    (staging / TRAINING_ARGS_NAME).unlink()  # a pickle of what run.yaml says
    write_manifest(staging)
    open_to_others(staging)
    flush(staging)
    shutil.rmtree(folder, ignore_errors=True)  # one of this very step, where it was passed over
    os.replace(staging, folder)
    flush_entry(folder.parent)


def remove_old(newest: Path, *, best: Path, limit: int | None) -> None:
    """Leave at most `limit` checkpoints, the oldest going first; never the newest, nor the best."""
    there = numbered(newest.parent)
    spare = [folder for folder in reversed(there) if folder not in (newest, best)]
    for folder in spare[: max(0, len(there) - limit)] if limit and limit > 0 else ():
        shutil.rmtree(folder, ignore_errors=True)


def open_to_others(folder: Path) -> None:
    """Give every file the mode that the umask gave the folder: safetensors lets nobody but the owner read what it
    writes, and a server may have an account of its own."""
    mode = folder.stat().st_mode & 0o666
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_mode & 0o666 != mode:
            path.chmod(mode)


def flush(folder: Path) -> None:
    """Have the files of a folder on the disk, and their names."""
    for path in folder.iterdir():
        if path.is_dir():
            flush(path)
        else:
            with path.open("r+b") as file:  # Windows flushes nothing that is open for reading alone
                os.fsync(file.fileno())
    flush_entry(folder)


def flush_entry(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def atomic_files(output_dir: Path) -> Iterator[Path]:
    """A folder to write the finished model into; its files are put in place once all are written, the manifest last."""
    staging = output_dir / FINISHING
    try:
        with as_user_error(output_dir / "the finished model"):
            begin(staging)
            yield staging
            open_to_others(staging)
            flush(staging)
            for item in sorted(staging.iterdir(), key=lambda item: (item.name == MANIFEST, item.name)):
                if item.is_dir():
                    shutil.rmtree(output_dir / item.name, ignore_errors=True)  # what a finished run had there before
                os.replace(item, output_dir / item.name)
            flush_entry(output_dir)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
