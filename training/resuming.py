"""Which checkpoint a run resumes from, and whether settings and data are still those that it was trained with."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from accelerate.utils import gather_object

from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .checkpoints import newest_intact_checkpoint
from .checks import check_output
from .config import RunConfig, load_record
from .pairs import TrainingPairs
from .progress import report

DATA = "data.json"  # in a run: how many pairs it is trained on, and their fingerprint
FREE = ("data.path", "model.init_share")  # what is read there, the fingerprint tells; the share counts at the end
UNCHANGEABLE = (  # what the states of a checkpoint are of, and batches
    "optim", "learning_rate", "lr_scheduler_type", "muon_lr_scale", "weight_decay", "adam_beta1", "adam_beta2",
    "adam_epsilon", "ema_decay", "freeze", "metric_for_best_model", "seed", "max_tokens",
)
WITH_STATE = {"reduce_lr_on_plateau", "greedy"}  # schedules that are no function of the step alone; others may change


def checkpoint_to_resume(config: RunConfig, arguments: Seq2SeeTrainingArguments, *, dry_run: bool) -> Path | None:
    """The checkpoint to resume from, or None to start afresh; a folder that holds a run is never trained over."""
    output = config.output
    if not arguments.resume:  # the first process alone looks: it may have begun to fill the folder
        if arguments.should_save and not dry_run:
            check_output(output)
        return None
    checkpoint, passed_over = newest_intact_checkpoint(output)
    check_agreement(checkpoint, output)
    for item in passed_over:
        report(f"skipped checkpoint {item}")
    if passed_over and not checkpoint:
        raise UserError(
            f"no checkpoint in {output} passes the integrity checks; fix or delete them, or start again with another"
            " training.output_dir"
        )
    report(f"resuming from {checkpoint}" if checkpoint else f"no checkpoint in {output}: starting from the beginning")
    if checkpoint and (wrote := len(list(checkpoint.glob("rng_state*")))) != arguments.world_size:
        report(f"number of processes: {wrote} before, {arguments.world_size} now; batches are the same, dropout"
               " masks differ")
    if checkpoint and (output / "run.yaml").exists():
        before = resume_invariants(load_record(output / "run.yaml"))
        for name, value in resume_invariants(config).items():
            if name == "training.lr_scheduler_type" and WITH_STATE.isdisjoint((before[name], value)):
                continue
            if before[name] != value:
                raise UserError(
                    f"{name} is {value!r}, but the run in {output} has {before[name]!r};"
                    f" give {name}={before[name]}, or another training.output_dir",
                    exit_code=2,
                )
    return checkpoint


def check_agreement(checkpoint: Path | None, output: Path) -> None:
    """Raises UserError where processes on several machines would resume from different checkpoints, or some from none:
    they would train on different batches, or wait for each other for ever."""
    names = gather_object([checkpoint.name if checkpoint else "none"])
    if len(set(names)) > 1:
        raise UserError(
            f"the processes find different checkpoints in {output} ({', '.join(dict.fromkeys(names))}); give a"
            " training.output_dir that all machines share",
            exit_code=2,
        )


def resume_invariants(config: RunConfig) -> dict[str, Any]:
    """The settings that must not change when a run is resumed, because training would go on with the old ones."""
    sections = asdict(config)
    shared = {f"{section}.{key}": value for section in ("data", "tokenizer", "model", "evaluation")
              for key, value in sections[section].items()}
    chosen = {item.name: item.default for item in fields(Seq2SeeTrainingArguments)} | dict(config.training)
    return {key: value for key, value in shared.items() if key not in FREE} | {
        f"training.{key}": chosen[key] for key in UNCHANGEABLE
    }


def check_data(config: RunConfig, corpus: TrainingPairs, *, force: bool) -> None:
    """Raises UserError where these are not the pairs that the run in this folder was trained on, or says so where that
    is to be; a run of an earlier version does not tell."""
    output = config.output
    if not (output / DATA).exists():
        return
    before, now = json.loads((output / DATA).read_text("utf-8")), data_record(corpus)
    if now == before:
        return
    counts = (f"{found['train']} training and {found['val']} validation pairs" for found in (before, now))
    changed = f"{config.data.path} has changed since {output} was trained on it ({', now '.join(counts)})"
    if not force:
        raise UserError(
            f"{changed}; restore it, or resume on the changed data with training.resume=force, or give another"
            " training.output_dir",
            exit_code=2,
        )
    report(f"{changed}; resuming on the changed data")


def data_record(corpus: TrainingPairs) -> dict[str, Any]:
    return {"train": len(corpus.train), "val": len(corpus.val), "fingerprint": corpus.fingerprint}
