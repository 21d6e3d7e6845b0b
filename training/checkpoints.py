"""Checkpoints of a run: how one is written, which one to resume from, and how the finished model is put in place.

A checkpoint is written in a hidden folder, given its manifest (manifest.py), and only then renamed: whatever kills a
run, `checkpoint-N` is whole.  Before resuming every file's checksum is compared.  transformers writes in place, and
resumes from the highest number even where half of it is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from seq2see.errors import UserError, as_user_error
from seq2see.folders import numbered
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest, write_manifest
from .progress import is_first

TRAINING_ARGS = "training_args.bin"  # as transformers calls it
STATES = ("trainer_state.json", "optimizer.pt", "scheduler.pt", "rng_state*.pth")  # without one, others are drawn
RAW_WEIGHTS = "raw_weights.safetensors"  # those being trained, where model.safetensors is an average
SAVING, FINISHING, LOCK = ".saving", ".finishing", ".lock"  # in a run folder
LINGER = 6  # seconds that what a killed training leaves behind may live: the processes that load its data


@contextmanager
def only_training(output_dir: Path) -> Iterator[None]:
    """Inside, no other training uses the run folder, which is made.  Of several processes the first holds it for all.

    Raises UserError where another one does, and where nothing can be written.
    """
    if not is_first():
        yield
        return
    lock = FileLock(output_dir / LOCK, timeout=LINGER)
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
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


def newest_intact_checkpoint(output_dir: Path) -> tuple[Path | None, list[str]]:
    """The newest checkpoint that has all that resuming takes, as its manifest has it, if any, and why each newer one
    was passed over."""
    passed_over: list[str] = []
    for folder in numbered(output_dir):
        try:
            if missing := [name for name in (MANIFEST, *STATES) if not any(folder.glob(name))]:
                name = missing[0].replace("*", "")
                raise UserError(f"{folder / name} is missing: the checkpoint is incomplete; copy it again")
            check_manifest(folder)
            return folder, passed_over
        except (OSError, UserError) as error:
            passed_over.append(f"{folder} ({error})")
    return None, passed_over


def find_record(folder: Path, name: str) -> Path | None:
    """A file that a run keeps beside its model (run.yaml, seen_words.json), for a run or one of its checkpoints."""
    return next((place / name for place in (folder, folder.parent) if (place / name).is_file()), None)


def begin(staging: Path) -> None:
    """An empty folder to write in.  Its parent is not recreated: a run folder that has gone is an error."""
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()


def put_in_place(staging: Path, folder: Path) -> None:
    """Make what was written a checkpoint: with its manifest, and only then under its name."""
    (staging / TRAINING_ARGS).unlink()  # a pickle of what run.yaml says
    write_manifest(staging)
    open_to_others(staging)
    shutil.rmtree(folder, ignore_errors=True)  # one of this very step, where it was passed over
    os.replace(staging, folder)


def open_to_others(folder: Path) -> None:
    """Give every file the mode that the umask gave the folder: safetensors lets nobody but the owner read what it
    writes, and a server may have an account of its own."""
    mode = folder.stat().st_mode & 0o666
    for path in filter(Path.is_file, folder.rglob("*")):
        path.chmod(mode)


@contextmanager
def atomic_files(output_dir: Path) -> Iterator[Path]:
    """A folder to write the finished model into; its files are put in place once all are written, the manifest last."""
    staging = output_dir / FINISHING
    try:
        with as_user_error(f"could not write the finished model to {output_dir}; free disk space, and resume the run"):
            begin(staging)
            yield staging
            open_to_others(staging)
            for item in sorted(staging.iterdir(), key=lambda item: (item.name == MANIFEST, item.name)):
                if item.is_dir():
                    shutil.rmtree(output_dir / item.name, ignore_errors=True)  # what a finished run had there before
                os.replace(item, output_dir / item.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
