"""`seq2see train CONFIG [key=value ...]`: from pairs to a finished run folder.

    prepare       the checkpoint to resume from, the pairs, tokenizer and model     resuming.py, corpora.py, starting.py
    train_model   by Seq2SeeTrainer                                                 trainer.py
    finish        evaluated, saved, with metrics, curve and card                    finishing.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from pathlib import Path

import datasets
import transformers
from transformers.integrations import get_reporting_integration_callbacks

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.settings_file import check_keys
from ..modeling.loading import resolve_folder
from .arguments import Seq2SeeTrainingArguments
from .batching import EncodedPairs
from .before import record_before
from .checkpoints import only_training
from .checks import check_start
from .config import RunConfig
from .finishing import finish
from .freezing import freeze
from .guided_alignment import GuidedTrainer
from .hub import check_hub
from .lora import add_adapter
from .memory_need import memory_remark
from .moments import KeepMoments
from .pairs import TrainingPairs, load_corpus, report_skipped
from .processes import on_all_cores
from .progress import is_first, report
from .reading import absolute
from .resuming import DATA, check_data, checkpoint_to_resume, data_record
from .starting import Prepared, open_start, training_set
from .trainer import Seq2SeeTrainer
from .unknown_tokens import unknown_remark


def run_experiment(config: RunConfig, *, moments: int = 0) -> Path:
    """Train as the configuration says; returns the run folder.

    `moments`: at how many steps weights are kept for a replay (moments.py); 0, or 2 and more.
    Raises UserError for whatever the user can mend.
    """
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()  # of weights being written
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    with only_training(config.output):
        if config.training.get("push_to_hub") and is_first():
            check_hub(config.training.get("hub_token"))
        with on_all_cores(config):
            prepared = prepare(config)
            trainer = train_model(prepared, config, moments=moments)
            saves = prepared.arguments.should_save
        if saves:
            finish(prepared, trainer, config)
    return config.output


def prepare(config: RunConfig, *, dry_run: bool = False) -> Prepared:
    arguments = build_arguments(config)
    checkpoint = checkpoint_to_resume(config, arguments, dry_run=dry_run)
    if config.model.init_from:
        check_start(resolve_folder(config.model.init_from), config)
    transformers.set_seed(arguments.seed)
    corpus = read_corpus(config, seed=arguments.seed)
    if checkpoint:
        check_data(config, corpus, force=arguments.resume == "force")
    start = open_start(config, corpus, checkpoint)
    start.set_generation(config)
    model, adapter = start.model, None
    freeze(model, arguments.freeze or ())
    if config.model.lora:
        adapter = add_adapter(model, rank=config.model.lora, train_embedding=start.new_vocabulary,
                              base=str(config.model.init_from))
        trained = model.num_parameters(only_trainable=True)
        report(f"LoRA of rank {config.model.lora}: {trained:,} parameters are trained, the others are frozen")
    return Prepared(arguments, checkpoint, corpus, start, adapter)


def build_arguments(config: RunConfig) -> Seq2SeeTrainingArguments:
    check_keys(config.training, [item.name for item in fields(Seq2SeeTrainingArguments)], prefix="training.",
               where=config.name)
    try:
        arguments = Seq2SeeTrainingArguments(**{**config.training, "output_dir": str(config.output)})
        for callback in get_reporting_integration_callbacks(arguments.report_to):
            callback()  # says which package is missing
    except (ValueError, TypeError, ImportError, RuntimeError) as error:
        raise UserError(f"training section: {' '.join(str(error).split())}", exit_code=2) from error
    return arguments


def read_corpus(config: RunConfig, *, seed: int) -> TrainingPairs:
    """The pairs, and a line for what there is of them and for what cleaning found."""
    report(f"reading {config.data.path}")
    corpus = load_corpus(config.data, seed=seed)
    test = f", {len(corpus.test)} test pairs" if corpus.test else ""
    report(f"{len(corpus.train)} training and {len(corpus.val)} validation pairs{test} from {config.data.path}")
    report_skipped(str(config.data.path), corpus.skipped)
    return corpus


def train_model(prepared: Prepared, config: RunConfig, *, moments: int = 0) -> Seq2SeeTrainer:
    arguments, corpus, start = prepared.arguments, prepared.corpus, prepared.start
    tokenizer, model, encoder, positions = start.tokenizer, start.model, start.encoder, start.positions
    count = f"{arguments.world_size} x " if arguments.world_size > 1 else ""
    size = f"{model.num_parameters() / 1e6:.2f} M parameters, vocabulary of {len(tokenizer):,} tokens"
    precision = "bfloat16" if arguments.bf16 else "float16" if arguments.fp16 else "float32"
    report(f"model: {size}; training on {count}{arguments.device.type} in {precision}")
    if remark := memory_remark(model, arguments, lora=bool(config.model.lora)):
        report(remark)
    if corpus.test:  # a pair that is too long is refused now, and not when training is over
        EncodedPairs(corpus.test, encoder, max_length=positions)
    train = training_set(prepared, config)
    if lacking := unknown_remark(train.pairs, tokenizer):
        report(lacking)
    trainer = (GuidedTrainer if arguments.guided_weight else Seq2SeeTrainer)(
        model,
        arguments,
        train_dataset=train,
        eval_dataset=EncodedPairs(corpus.val, encoder, max_length=positions),
        processing_class=tokenizer,
        validation_pairs=config.evaluation.eval_samples,
    )
    if arguments.should_save:
        if moments:
            trainer.add_callback(KeepMoments(trainer, config.output, count=moments))
        prepare_folder(config, corpus)
        if config.model.init_from:
            record_before(config, corpus)
    trainer.train(resume_from_checkpoint=str(prepared.checkpoint) if prepared.checkpoint else None)
    return trainer


def prepare_folder(config: RunConfig, corpus: TrainingPairs) -> None:
    """With a run.yaml that names the data from wherever it is read, and what tells whether they have changed."""
    output, kept = config.output, replace(config, data=absolute(config.data))
    try:
        atomic_write(output / "run.yaml", kept.to_yaml())
        atomic_write(output / DATA, json.dumps(data_record(corpus)) + "\n")
    except OSError as error:
        raise UserError(f"cannot write to {output} ({error.strerror}); give another training.output_dir") from error
