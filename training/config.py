"""What an experiment is: dataclasses, read from a commented YAML file and `key=value` overrides, checked key by key.

`load_config("storybook", ["training.num_train_epochs=3"])` reads a file, or else a packaged name.  An unknown key is an
error that names the nearest known one; so is a key that would have no effect.  Nothing heavy is imported, so that a
mistake is reported at once; what the training section has beyond `TrainingFields`, transformers checks (arguments.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

import yaml

from seq2see.errors import nearest
from seq2see.folders import RUNS
from seq2see.settings_file import override, read_settings, wrong
from seq2see.validation import STRICT, checked
from .header import languages_of
from .origin import first_pair, tag_codes

BUILT_IN = ("storybook", "phrasebook")  # corpora of the package, as data.path
EXPECTED = "sections such as data: and training:"
REFERENCE = "reference"  # configs/reference.yaml: every key with its default
VOCABULARY = 8000  # tokens, unless the configuration says otherwise
SHAPE = (  # of a new model; one that is fine-tuned keeps its own
    "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings",
)
KEPT = {  # of a model that is fine-tuned, where the configuration does not set them
    "tokenizer": ("vocab_size",), "model": ("dropout",), "generation": ("num_beams", "length_penalty", "max_length"),
}
OF_EVALUATIONS = {"patience": 0, "load_best_model_at_end": False}  # what needs evaluations, switched off
NO_EFFECT = {  # settings of transformers that people know, by what is used instead
    **dict.fromkeys(("per_device_train_batch_size", "per_device_eval_batch_size"), "use training.max_tokens"),
    "predict_with_generate": "every evaluation translates evaluation.eval_samples pairs",
    "generation_num_beams": "evaluations are greedy; generation.num_beams sets the beam width of the finished model",
    "resume_from_checkpoint": "use training.resume=true",
    "data_seed": "use training.seed, which also sets the order of batches",
}
GONE = {"generation": "shortlist"}  # in the run.yaml of older runs


def setting(default: Any, what: str, **bounds: float) -> Any:
    """A key of a configuration: its default, its comment in configs/reference.yaml, and its bounds (ge, le, lt)."""
    return field(default=default, metadata={"description": what, **bounds})


OnInvalid = Literal["error", "skip"]
OnDuplicates = Literal["keep", "skip", "error"]


@dataclass(frozen=True)
class DataConfig:
    path: str | list[str] | None = setting(
        None, "file, folder, [SOURCE, TARGET] files, storybook, phrasebook or owner/name"
    )
    source: str = setting("en", "language to translate from")
    target: str | list[str] = setting("fr", "language to translate to, or a list of them")
    val_fraction: float = setting(0.01, "share of a table's source sentences used for validation", ge=1e-6, lt=1)
    test_fraction: float = setting(0.0, "share of a table's source sentences set aside for a test", ge=0)
    max_characters: int = setting(1000, "longest side of a valid pair, in characters", ge=1)
    on_invalid: OnInvalid = setting("error", "empty, too long or unreadable pairs: error, or skip (and count) them")
    duplicates: OnDuplicates = setting("keep", "repeated pairs: keep, skip, or error")
    joined: float = setting(0.1, "share of training pairs that are joined to texts of 2 to 6 pairs", ge=0, le=1)

    @property
    def targets(self) -> list[str]:
        """The target languages, each once, in the order in which they are named."""
        return list(dict.fromkeys([self.target] if isinstance(self.target, str) else self.target))


@dataclass(frozen=True)
class TokenizerConfig:
    vocab_size: int | None = setting(VOCABULARY, "size of the joint vocabulary, including 292 tags and bytes")
    model_type: Literal["bpe", "unigram"] = setting(
        "bpe", "bpe, or unigram, where a capital letter is a mark and the small letter"
    )


@dataclass(frozen=True)
class ModelConfig:
    init_from: str | None = setting(None, "folder or Hub id of any encoder-decoder to fine-tune; it keeps its shape")
    lora: int | None = setting(None, "rank of a LoRA adapter for init_from; null: train all weights", ge=1)
    init_share: float = setting(
        0.0, "share of init_from's weights in the finished model: the larger, the less is forgotten", ge=0, lt=1
    )
    d_model: int = setting(128, "size of every hidden vector")
    encoder_layers: int = setting(4, "number of encoder layers")
    decoder_layers: int = setting(4, "number of decoder layers; fewer layers translate faster")
    encoder_attention_heads: int = setting(4, "heads of each encoder layer; must divide d_model")
    decoder_attention_heads: int = setting(4, "heads of each decoder layer; must divide d_model")
    encoder_ffn_dim: int = setting(256, "inner size of the encoder's feed-forward layers")
    decoder_ffn_dim: int = setting(256, "inner size of the decoder's feed-forward layers")
    dropout: float | None = setting(0.1, "dropout probability; with init_from the default is the model's own")
    max_position_embeddings: int = setting(1024, "longest sentence, in tokens")


@dataclass(frozen=True)
class EvaluationConfig:
    eval_samples: int = setting(200, "number of validation pairs to translate, greedily, at each evaluation", ge=1)
    sample: str | None = setting(None, "file of sentences for measuring what init_from forgets; null: storybook's")


@dataclass(frozen=True)
class GenerationSection:
    """How the finished model translates unless a call says otherwise: what its generation_config.json has.

    A model that is fine-tuned keeps its own."""

    num_beams: int | None = setting(4, "default beam width of the finished model", ge=1, le=64)  # as decoding.py has it
    length_penalty: float | None = setting(1.0, "length penalty of the search; above 1 favours longer"
                                                " translations", ge=-10, le=10)
    max_length: int | None = setting(256, "longest translation, in tokens, with start and tag", ge=3)


@dataclass
class TrainingFields:
    """The settings of `Seq2SeeTrainingArguments` (arguments.py) that are ours, or have another default than in
    transformers."""

    __pydantic_config__ = STRICT

    max_tokens: int = setting(4096, "maximum tokens of a batch per side, with padding, over all processes", ge=1)
    num_train_epochs: float = setting(20, "passes over the training pairs", ge=1e-6)
    max_steps: int = setting(-1, "number of steps (batches); -1: use num_train_epochs")
    optim: str = setting("adamw_torch_fused", "optimiser of transformers, or muon (Muon for matrices, otherwise AdamW)")
    muon_lr_scale: float = setting(1.0, "learning rate of Muon, as a multiple of learning_rate", ge=0)
    learning_rate: float = setting(3e-3, "peak learning rate, after the warm-up", ge=0)
    lr_scheduler_type: str = setting(
        "inverse_sqrt", "schedule after the warm-up: inverse_sqrt (1/sqrt(step)), linear (to 0) ..."
    )
    warmup_steps: float = setting(200, "steps until the peak learning rate; below 1: a share of all steps", ge=0)
    weight_decay: float = setting(0.0, "share of a weight, times the learning rate, that a step removes", ge=0)
    adam_beta2: float = setting(0.98, "decay of AdamW's second moment", ge=0, lt=1)
    label_smoothing_factor: float = setting(
        0.1, "label smoothing: probability spread from the right token over all tokens", ge=0, lt=1
    )
    ema_decay: float = setting(
        0.0, "decay per step of the weight average, which is the finished model; 0: none", ge=0, lt=1
    )
    guided_weight: float = setting(0.0, "weight of the guided-alignment loss, which trains one head; 0: none", ge=0)
    guided_layer: int = setting(-1, "decoder layer of the guided head, counted from 0; -1: the last")
    guided_head: int = setting(0, "the guided cross-attention head, counted from 0")
    guided_links: str | None = setting(None, "Pharaoh file of word links, one line per pair; storybook needs none")
    freeze: list[Literal["encoder", "decoder", "embeddings"]] | None = setting(
        None, "parts that are not trained: encoder, decoder, embeddings"
    )
    gradient_accumulation_steps: int = setting(
        1, "parts in which a batch is computed; more parts need less memory", ge=1
    )
    eval_strategy: str = setting("epoch", "when to evaluate: epoch, steps (every eval_steps), or no")
    save_strategy: str = setting("epoch", "when to write a checkpoint: epoch, steps (every save_steps) or no")
    save_total_limit: int | None = setting(2, "number of checkpoints to keep; null: all")
    load_best_model_at_end: bool = setting(True, "true: keep the weights of the best evaluation; false: the last")
    metric_for_best_model: Literal["loss", "bleu", "chrf"] | None = setting(
        "loss", "metric of the best evaluation: loss, bleu or chrf"
    )
    patience: int = setting(0, "evaluations without improvement until early stopping; 0: off", ge=0)
    on_bad_loss: Literal["stop", "skip"] = setting(
        "stop", "what to do if a gradient is NaN or infinite: stop, or skip the batch"
    )
    resume: bool | Literal["force"] = setting(
        False, "true: resume from the newest checkpoint; force: also on changed data"
    )
    seed: int = setting(
        0, "random seed of weights, batch order, dropout and storybook's sentences", ge=0, le=2**32 - 1
    )
    bf16: bool | None = setting(None, "train in bfloat16; null: if it is faster than float32")
    cpu_processes: int = setting(0, "processes on a machine without a GPU; 0: automatic", ge=0)
    logging_steps: float = setting(50, "steps between two log lines")
    report_to: str | list[str] | None = setting("none", "service that plots curves during training: tensorboard,"
                                                        " wandb ...")


@dataclass(frozen=True)
class RunConfig:
    __pydantic_config__ = STRICT

    name: str
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: Mapping[str, Any] = field(default_factory=dict)
    evaluation: EvaluationConfig = EvaluationConfig()
    generation: GenerationSection = GenerationSection()

    @property
    def output(self) -> Path:
        """The run folder."""
        return Path(self.training.get("output_dir") or Path(RUNS) / self.name)

    def to_yaml(self) -> str:
        """Every setting that is in force, without `resume`, which is of one call, and without a token of the Hub: the
        file may be published."""
        tree = asdict(self)
        for key in ("hub_token", "resume"):
            tree["training"].pop(key, None)
        if self.model.init_from:
            tree["model"] = {key: value for key, value in tree["model"].items() if key not in SHAPE}
            del tree["tokenizer"]["model_type"]
        return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


def load_config(name_or_path: str, overrides: Iterable[str] = ()) -> RunConfig:
    """Read a configuration file, or a packaged one by name, and lay `section.key=value` overrides over it; what both
    leave out is as in configs/reference.yaml.

    Raises UserError (exit code 2) for an unknown file, key or type, and for settings that contradict each other.
    """
    path, where, overridden, overrides = Path(name_or_path), name_or_path, dict[str, Any](), list(overrides)
    tree = read_settings(path if path.is_file() else _packaged(name_or_path), where=where, expected=EXPECTED)
    for section, key in GONE.items():
        (tree.get(section) or {}).pop(key, None)
    for settings in (tree, overridden):
        override(settings, overrides, example="data.path=mine.tsv")
    tree = {"name": path.stem} | {key: part for key, part in tree.items() if part is not None}  # a section may be empty
    config = checked(RunConfig, tree, where=where)
    for key, instead in NO_EFFECT.items():
        if key in config.training:
            raise wrong(f"training.{key} in {where} has no effect: {instead}")
    training = _without_evaluations(config.training, overridden.get("training") or {})
    ours = {key: value for key, value in training.items() if key in TrainingFields.__dataclass_fields__}
    ours = vars(checked(TrainingFields, ours, where=where, section="training"))
    config = replace(config, data=_with_languages(tree, config))
    _check_data(config.data, where)
    return _as_started(tree, replace(config, training={**training, **ours}), where)


def load_record(run_yaml: Path) -> RunConfig:
    """What a run was trained with."""
    return load_config(str(run_yaml))


def packaged_names() -> list[str]:
    names = {Path(item.name).stem for item in resources.files("seq2see.configs").iterdir() if item.name[-5:] == ".yaml"}
    return sorted(names - {"serve", REFERENCE})  # of the server, and of all recipes


def _packaged(name: str) -> Traversable:
    if name not in (names := [*packaged_names(), REFERENCE]):
        raise wrong(
            f"no configuration {name!r}: it is neither a YAML file nor a packaged recipe{nearest(name, names)}"
        )
    return resources.files("seq2see.configs").joinpath(f"{name}.yaml")


def notes_on(name: str) -> str | None:
    """What the model card says of a packaged recipe's data and limits, if it has such notes."""
    notes = resources.files("seq2see.configs").joinpath(f"{name}.md")
    return notes.read_text("utf-8") if notes.is_file() else None


def _as_started(tree: dict[str, Any], config: RunConfig, where: str) -> RunConfig:
    """The configuration in which null is what the model to start from has; UserError for what that one decides, and
    for null where there is none."""
    model = config.model
    if not model.init_from:
        if model.lora:
            raise wrong(f"model.lora is {model.lora}, but no model is given to adapt; set model.init_from=FOLDER")
        if model.init_share:
            raise wrong(f"model.init_share is {model.init_share}, but no model is given to start from; set"
                        " model.init_from=FOLDER")
        for section, key in ((section, key) for section, keys in KEPT.items() for key in keys):
            if getattr(getattr(config, section), key) is None:
                kind = "number" if key in ("dropout", "length_penalty") else "whole number"
                raise wrong(f"{section}.{key} in {where} is null, expected a {kind}")
        return config
    if given := [key for key in SHAPE if key in tree["model"]]:
        raise wrong(
            f"model.{given[0]} in {where} has no effect with model.init_from, whose model keeps its shape; omit"
            f" {', '.join(given)}, as the recipe finetune does"
        )
    if "model_type" in (tree.get("tokenizer") or {}):
        raise wrong(f"tokenizer.model_type in {where} has no effect with model.init_from, which keeps its own")
    if model.lora and config.training["freeze"]:
        raise wrong(f"training.freeze in {where} has no effect with model.lora, which trains only its adapter")
    if model.lora and model.init_share:
        raise wrong(f"model.init_share in {where} has no effect with model.lora, whose adapter is saved as trained")
    sections = {}
    for section, keys in KEPT.items():
        unset = [key for key in keys if key not in (tree.get(section) or {})]
        sections[section] = replace(getattr(config, section), **dict.fromkeys(unset))
    return replace(config, **sections)


def _without_evaluations(training: Mapping[str, Any], overridden: Mapping[str, Any]) -> dict[str, Any]:
    """The training section where there are no evaluations: then what needs them is off, unless it was set beside
    `eval_strategy=no`, in the overrides or in the file, which Seq2SeeTrainingArguments refuses."""
    if training.get("eval_strategy") != "no":
        return {**training}
    beside = overridden if "eval_strategy" in overridden else training
    return {**training, **{key: off for key, off in OF_EVALUATIONS.items() if key not in beside}}


def _with_languages(tree: dict[str, Any], config: RunConfig) -> DataConfig:
    """The data with the languages that the header of their table names, else those of the model to start from, where
    the configuration leaves them to them.  UserError for a model of many languages, where neither says which."""
    data, given = config.data, {*("source", "target")} & {*(tree.get("data") or {})}
    if not isinstance(data.path, str) or data.path in BUILT_IN or len(given) == 2:
        return data
    own = tag_codes(config.model.init_from) if config.model.init_from else ()
    named = languages_of(Path(data.path), own=own)
    if len(named) == 2:
        source, target = named
        if "target" in given and [source] == data.targets or "source" in given and target == data.source:
            source, target = target, source
        return replace(data, **{"source": source, "target": target} | {key: getattr(data, key) for key in given})
    if given or not config.model.init_from:
        return data
    if pair := first_pair(config.model.init_from):
        return replace(data, source=pair[0], target=pair[1])
    raise wrong(f"the languages of {data.path} are unknown: name its two columns by language codes, or set"
                " data.source and data.target")


def _check_data(data: DataConfig, where: str) -> None:
    """UserError where pairs come from nowhere, or settings contradict each other."""
    if data.path is None:
        raise wrong(f"{where} has no data.path; add it, or give data.path=... on the command line")
    if data.val_fraction + data.test_fraction >= 1:
        raise wrong(f"data.test_fraction is {data.test_fraction}, expected less than 1 - data.val_fraction")
    if not data.targets or data.source in data.targets:
        raise wrong(f"data.target is {data.target}, expected languages other than {data.source}")
