"""`seq2see train CONFIG [key=value ...]`: from pairs to a finished run folder.

Data, tokenizer and model are made (or taken from `model.init_from`, or from the checkpoint that is resumed), trained by
Seq2SeeTrainer, evaluated, and saved with the resolved configuration, metrics and a model card.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import datasets
import tokenizers
import transformers
from huggingface_hub.errors import StrictDataclassError
from transformers import GenerationConfig, PreTrainedModel, TrainerCallback, TrainerState

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.manifest import write_manifest
from ..modeling import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from ..modeling.loading import load_checkpoint, resolve_folder
from ..tokenizer.layout import tag_slots
from ..tokenizer.subwords import train_backend
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from .arguments import Seq2SeeTrainingArguments
from .batching import EncodedPairs
from .cache import fingerprint, get_or_build
from .card import model_card
from .checkpoints import atomic_files, find_checkpoint, only_training, step_of
from .checks import check_output, check_start
from .config import VOCABULARY, RunConfig, load_record
from .corpora import load_corpus
from .curve import draw_curve
from .distillation import with_teachers
from .evaluation import evaluate_run
from .finetuning import has_new_languages, start_from
from .guided import GuidedPairs, GuidedTrainer, training_links
from .hub import check_hub, push_run
from .joining import JoinedPairs
from .lora import add_adapter, count_trained, merge_adapter
from .moments import KeepMoments
from .pairs import Corpus, Texts, tell
from .processes import on_all_cores
from .progress import Watched, duration, say
from .reading import absolute
from .reporting import check_reporters
from .scores import print_scores
from .seen import seen_words, source_limits
from .shortlist import write_shortlist
from .trainer import Seq2SeeTrainer

SETTINGS = ("init_from", "lora")  # of the model section, that are no part of the model's shape
DATA = "data.json"  # in a run: how many pairs it is trained on, and their fingerprint
SHARED_SECTIONS = ("data", "tokenizer", "model")  # which must not change when a run is resumed


def run_experiment(config: RunConfig, *, callbacks: Sequence[TrainerCallback] = (), moments: int = 0) -> Path:
    """Train as the configuration says, with these callbacks of transformers beside our own; returns the run folder.

    `moments`: at how many steps weights are kept for a replay (moments.py); 0, or 2 and more.
    Raises UserError for whatever the user can mend.
    """
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()  # of weights being written; the Trainer has its own
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    output = config.output
    with only_training(output):
        if config.training.get("push_to_hub") and os.environ.get("RANK", "0") == "0":
            check_hub(config.training.get("hub_token"))
        with on_all_cores(config):
            trained = train_model(config, output, callbacks, moments=moments)
        if trained.saves:
            finish(trained, config, output)
    return output


@dataclass(frozen=True)
class Trained:
    model: PreTrainedModel
    adapter: Any
    tokenizer: Seq2SeeTokenizer
    corpus: Corpus
    dataset: JoinedPairs  # the training pairs
    state: TrainerState
    arguments: Seq2SeeTrainingArguments
    seconds: float  # before any interruption too
    saves: bool  # whether this process writes the results
    repository: str | None  # of the Hub, that the finished run is pushed to


@dataclass(frozen=True)
class Prepared:
    """All that training starts from."""

    arguments: Seq2SeeTrainingArguments
    checkpoint: Path | None
    corpus: Corpus
    tokenizer: Seq2SeeTokenizer
    model: PreTrainedModel
    adapter: Any  # peft's PeftModel around the model, or None


def prepare(config: RunConfig, output: Path, *, dry_run: bool = False) -> Prepared:
    arguments = build_arguments(config, output)
    checkpoint = choose_checkpoint(config, arguments, output, dry_run=dry_run)
    if config.model.init_from:
        check_start(config, resolve_folder(config.model.init_from))
    transformers.set_seed(arguments.seed)
    say(f"reading {config.data.where}")
    corpus = load_corpus(config.data, seed=arguments.seed)
    if checkpoint:
        check_data(config, corpus, output, force=arguments.resume == "force")
    test = f", {len(corpus.test)} test pairs" if corpus.test else ""
    say(f"{len(corpus.train)} training and {len(corpus.val)} validation pairs{test} from {config.data.where}")
    for data, part in corpus.parts:
        say(f"of these, from {data.where} to {', '.join(data.targets)}: {counts_of(part)}")
    tell(config.data.where, corpus.skipped, corpus.noticed)
    if config.data.teachers:
        if arguments.guided_alignment:
            raise UserError("data.teacher writes pairs whose links nobody knows, and training.guided_alignment needs"
                            " those of every pair; leave one of the two out", exit_code=2)
        begin = arguments.process_index / arguments.world_size
        corpus = with_teachers(corpus, config.data, device=arguments.device, begin=begin)
        wrote = " and ".join(config.data.teachers)
        say(f"with what {wrote} wrote: {len(corpus.train)} training pairs")
    tokenizer, model = make_model(config, corpus, checkpoint)
    set_generation(model, tokenizer, config)
    adapter = None
    if config.model.lora:
        new, base = has_new_languages(config, tokenizer), str(config.model.init_from)
        adapter = add_adapter(model, rank=config.model.lora, train_embedding=new, base=base)
        say(f"LoRA of rank {config.model.lora}: {count_trained(model):,} parameters are trained, the others kept")
    return Prepared(arguments, checkpoint, corpus, tokenizer, model, adapter)


def train_model(config: RunConfig, output: Path, callbacks: Sequence[TrainerCallback] = (), *, moments: int = 0
                ) -> Trained:
    prepared = prepare(config, output)
    arguments, corpus, tokenizer, model = prepared.arguments, prepared.corpus, prepared.tokenizer, prepared.model
    place = arguments.device.type if arguments.world_size == 1 else f"{arguments.world_size} x {arguments.device.type}"
    size = f"{model.num_parameters() / 1e6:.2f} M parameters, {len(tokenizer)} pieces"
    precision = "bfloat16" if arguments.bf16 else "float16" if arguments.fp16 else "float32"
    say(f"model of {size}; training on {place}, in {precision}")
    positions = model.config.max_position_embeddings
    if corpus.test:  # a pair that is too long is refused now, and not when training is over
        EncodedPairs(corpus.test, tokenizer, max_length=positions)
    dataset = training_set(config, prepared, max_length=positions)
    trainer = (GuidedTrainer if arguments.guided_alignment else Seq2SeeTrainer)(
        model,
        arguments,
        train_dataset=dataset,
        eval_dataset=EncodedPairs(corpus.val, tokenizer, max_length=positions),
        processing_class=tokenizer,
        validation_pairs=config.evaluation.pairs,
    )
    for callback in callbacks:
        trainer.add_callback(callback)
    if moments and arguments.should_save:
        trainer.add_callback(KeepMoments(trainer, output, count=moments))
    if arguments.should_save:
        prepare_folder(output, config, corpus)
    trainer.train(resume_from_checkpoint=str(prepared.checkpoint) if prepared.checkpoint else None)
    set_generation(model, tokenizer, config)  # anew: the Trainer has filled in what was unset
    state, seconds, saves = trainer.state, trainer.pace.elapsed(), arguments.should_save
    repository = trainer.hub_model_id
    return Trained(model, prepared.adapter, tokenizer, corpus, dataset, state, arguments, seconds, saves, repository)


def training_set(config: RunConfig, prepared: Prepared, *, max_length: int) -> JoinedPairs:
    pairs, arguments = encoded_training_pairs(config, prepared, max_length=max_length), prepared.arguments
    most = min(max_length, arguments.max_tokens)
    return JoinedPairs(pairs, share=config.data.joined, max_length=most, seed=arguments.seed)


def encoded_training_pairs(config: RunConfig, prepared: Prepared, *, max_length: int) -> EncodedPairs:
    pairs, tokenizer = prepared.corpus.train, prepared.tokenizer
    if prepared.arguments.guided_alignment:
        links = training_links(config, prepared.arguments, pairs)
        return GuidedPairs(pairs, tokenizer, max_length=max_length, links=links)
    return EncodedPairs(pairs, tokenizer, max_length=max_length)


def build_arguments(config: RunConfig, output: Path) -> Seq2SeeTrainingArguments:
    try:
        arguments = Seq2SeeTrainingArguments(**{**config.training, "output_dir": str(output)})
    except (ValueError, TypeError, ImportError) as error:
        raise UserError(f"training section: {' '.join(str(error).split())}", exit_code=2) from error
    check_reporters(arguments.report_to)
    return arguments


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
            f"no checkpoint in {output} can be resumed from; see to what is wrong with them, or start afresh with"
            " another training.output_dir"
        )
    say(f"resuming from {checkpoint}" if checkpoint else f"no checkpoint in {output}: starting afresh")
    if checkpoint and (wrote := len(list(checkpoint.glob("rng_state*")))) != arguments.world_size:
        say(f"processes then {wrote}, now {arguments.world_size}: the same batches, with other dropout masks")
    if checkpoint and (output / "run.yaml").exists():
        before = what_stays(load_record(output / "run.yaml"))
        for name, value in what_stays(config).items():
            may_change = name == "data.path" and (arguments.resume == "force" or same_path(before[name], value))
            if before[name] != value and not may_change:
                remedy = f"{name}={before[name]}" if name != "data.path" or not config.data.corpora else "data.folder"
                raise UserError(
                    f"{name} is {value!r}, but the run in {output} has {before[name]!r};"
                    f" give {remedy}, or another training.output_dir",
                    exit_code=2,
                )
    return checkpoint


def what_stays(config: RunConfig) -> dict[str, Any]:
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
    return shared | {f"training.{key}": chosen[key] for key in ("optim", "muon", "seed", "max_tokens")}


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


def counts_of(corpus: Corpus) -> str:
    """How many pairs each side of a corpus has, in words."""
    sides = {"training": corpus.train, "validation": corpus.val, "test": corpus.test}
    return ", ".join(f"{len(pairs)} {name}" for name, pairs in sides.items() if pairs)


def corpora_record(corpus: Corpus) -> dict[str, Any]:
    """How many pairs each of several corpora has."""
    rows = [{"path": data.path, "target": data.target, "pairs": len(part.train), "val": len(part.val)}
            for data, part in corpus.parts]
    return {"corpora": rows} if rows else {}


def data_record(corpus: Corpus) -> dict[str, Any]:
    return {"train": len(corpus.written_by_people), "val": len(corpus.val), "fingerprint": corpus.fingerprint}


def make_model(
    config: RunConfig, corpus: Corpus, checkpoint: Path | None
) -> tuple[Seq2SeeTokenizer, PreTrainedModel]:
    """Tokenizer and model: of the checkpoint, fine-tuned from another model, or new."""
    if checkpoint:
        tokenizer = Seq2SeeTokenizer.from_pretrained(checkpoint)
        if config.model.lora:  # the checkpoint holds matrices and adapter apart, for the Trainer to load
            return tokenizer, Seq2SeeForConditionalGeneration(Seq2SeeConfig.from_pretrained(checkpoint))
        return tokenizer, load_checkpoint(checkpoint)
    if config.model.init_from:
        return start_from(config, corpus)
    tokenizer = learn_tokenizer(config, corpus)
    shape = {key: getattr(config.model, key) for key in config.model.__dataclass_fields__ if key not in SETTINGS}
    pairs = [[config.data.source, target] for target in config.data.targets]
    try:
        return tokenizer, Seq2SeeForConditionalGeneration(
            Seq2SeeConfig(vocab_size=len(tokenizer), language_pairs=pairs, **shape)
        )
    except (StrictDataclassError, ValueError) as error:
        raise UserError(f"model section: {str(error).strip().splitlines()[-1].strip()}", exit_code=2) from error


def learn_tokenizer(config: RunConfig, corpus: Corpus) -> Seq2SeeTokenizer:
    """Learnt once from a corpus and kept beside it: each process of a run would learn the same."""
    size, languages = config.tokenizer.vocab_size or VOCABULARY, sorted(config.data.targets)
    made_by = (train_backend, tag_slots, Seq2SeeTokenizer, Texts)
    code = [Path(inspect.getfile(item)).read_text("utf-8") for item in made_by]
    texts = Texts(corpus.train)
    total = 2 * min(len(texts.pairs), texts.most)
    say(f"vocabulary of {size:,} tokens")
    folder = get_or_build(
        corpus.train.folder / f"tokenizer-{fingerprint(code, tokenizers.__version__, size, languages)}",
        lambda folder: train_tokenizer(
            Watched(texts, "learning a vocabulary, texts", total), vocab_size=size, languages=languages
        ).save_pretrained(folder),
    )
    return Seq2SeeTokenizer.from_pretrained(folder)


def set_generation(model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, config: RunConfig) -> None:
    """Say how the model translates, before the Trainer fills in what is unset."""
    tokenizer.tgt_lang = config.data.targets[0]
    model.config.blank_token_ids = tokenizer.blank_token_ids
    beams = config.evaluation.num_beams
    only_with_beams = {"early_stopping": True, "length_penalty": config.evaluation.length_penalty} if beams > 1 else {}
    model.generation_config = GenerationConfig(
        pad_token_id=model.config.pad_token_id,
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        decoder_start_token_id=model.config.decoder_start_token_id,
        forced_bos_token_id=tokenizer.tag_id(config.data.targets[0]),
        num_beams=beams,
        max_length=min(config.evaluation.max_length, model.config.max_position_embeddings),
        **only_with_beams,
    )


def prepare_folder(output: Path, config: RunConfig, corpus: Corpus) -> None:
    """With a run.yaml that names the data from wherever it is read, and what tells whether they have changed."""
    kept = replace(config, data=absolute(config.data))
    try:
        atomic_write(output / "run.yaml", kept.to_yaml())
        atomic_write(output / DATA, json.dumps(data_record(corpus)) + "\n")
    except OSError as error:
        raise UserError(f"cannot write to {output} ({error.strerror}); give another training.output_dir") from error


def finish(trained: Trained, config: RunConfig, output: Path) -> None:
    """Evaluate the trained model and put the finished files in place."""
    model, tokenizer, corpus, state = trained.model, trained.tokenizer, trained.corpus, trained.state
    model.eval()
    with atomic_files(output) as folder:
        if trained.adapter:
            model = merge_adapter(trained.adapter, folder / "adapter")
        start = resolve_folder(config.model.init_from) if config.model.init_from else None
        for name, number in source_limits(trained.dataset, start=start).items():
            setattr(model.generation_config, name, number)  # `update` passes over what transformers does not know
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_json(folder / "seen_words.json", seen_words(corpus.written_by_people, start=start))
        if config.evaluation.shortlist:
            pairs = EncodedPairs(corpus.train, tokenizer, max_length=model.config.max_position_embeddings)
            write_shortlist(folder, pairs, size=config.evaluation.shortlist)
        write_manifest(folder)
    kept = step_kept(trained)
    metrics: dict[str, Any] = {
        "evaluation": evaluate_run(model, tokenizer, config, corpus),
        "training": {
            "steps": state.global_step,
            "kept_step": state.global_step if kept is None else kept,
            "epochs": round(state.epoch or 0, 2),
            "seconds": round(trained.seconds, 1),
            "parameters": model.num_parameters(),
            "pairs": len(corpus.train),
            **corpora_record(corpus),
            "skipped_pairs": corpus.skipped,
            "noticed_in_data": corpus.noticed,
            "left_out_batches": sum("left_out" in row for row in state.log_history),
            "log": state.log_history,
        },
    }
    with atomic_files(output) as folder:
        write_json(folder / "metrics.json", metrics)
        draw_curve(
            folder / "curve.png",
            state.log_history,
            title=f"{config.name}: {model.num_parameters() / 1e6:.2f} M parameters, trained in"
                  f" {duration(trained.seconds)}",
            label_smoothing=trained.arguments.label_smoothing_factor,
            kept=kept,
        )  # fmt: skip
        (folder / "README.md").write_text(
            model_card(config, metrics, folder=output, supervised=model.config.supervised_heads or ()), "utf-8")
    say(f"finished in {trained.seconds:.0f} s, evaluations and saves among them: {output}")
    for split, row in metrics["evaluation"].items():
        print_scores(f"{output} {split}", row)
    if trained.repository:
        push_run(output, trained.repository, trained.arguments)


def step_kept(trained: Trained) -> int | None:
    """The step of the checkpoint whose weights the model has; None where it has simply the last ones.

    Says so where the best evaluation was at another step: evaluations may be more frequent than checkpoints.
    """
    if not trained.arguments.load_best_model_at_end:
        return None
    best, checkpoint = trained.state.best_global_step, trained.state.best_model_checkpoint
    kept = step_of(Path(checkpoint)) if checkpoint else None
    if best != kept:
        weights = "the last ones" if kept is None else f"those of step {kept}"
        say(f"the weights of the best evaluation, at step {best}, were never saved: the model has {weights}")
    return kept


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
