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
from .origin import first_pair

BUILT_IN = ("storybook", "phrasebook")  # corpora of the package, as data.path
EXPECTED = "sections such as data: and training:"
REFERENCE = "reference"  # configs/reference.yaml: every key with its default
VOCABULARY = 8000  # tokens, unless the configuration says otherwise
SHAPE = (  # of a new model; one that is fine-tuned keeps its own
    "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings",
)  # fmt: skip
KEPT = {  # of a model that is fine-tuned, where the configuration does not set them
    "tokenizer": ("vocab_size",), "model": ("dropout",), "generation": ("num_beams", "length_penalty", "max_length"),
}  # fmt: skip
OF_EVALUATIONS = {"patience": 0, "load_best_model_at_end": False}  # what needs evaluations, switched off
NO_EFFECT = {  # settings of transformers that people know, by what is used instead
    **dict.fromkeys(("per_device_train_batch_size", "per_device_eval_batch_size"), "use training.max_tokens"),
    "predict_with_generate": "every evaluation translates evaluation.eval_samples pairs",
    "generation_num_beams": "evaluations are greedy, and generation.num_beams is of the finished model",
    "resume_from_checkpoint": "use training.resume=true",
    "data_seed": "use training.seed, which sets the order of batches too",
}


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
    val_fraction: float = setting(0.01, "share of a table's source sentences, for validation", ge=1e-6, lt=1)
    test_fraction: float = setting(0.0, "share of a table's source sentences, for a test of your own", ge=0)
    max_characters: int = setting(1000, "characters; a pair with a longer side is invalid", ge=1)
    on_invalid: OnInvalid = setting("error", "empty, overlong or unreadable pairs: error, or skip and count them")
    duplicates: OnDuplicates = setting("keep", "copies of a pair: keep, skip, or error")
    joined: float = setting(0.1, "share of training pairs that a Seq2See model learns in texts of 2 to 6", ge=0, le=1)

    @property
    def targets(self) -> list[str]:
        """The target languages, each once, in the order in which they are named."""
        return list(dict.fromkeys([self.target] if isinstance(self.target, str) else self.target))


@dataclass(frozen=True)
class TokenizerConfig:
    vocab_size: int | None = setting(VOCABULARY, "tokens of the joint vocabulary, 292 of them tags and bytes")


@dataclass(frozen=True)
class ModelConfig:
    init_from: str | None = setting(None, "folder or Hub id of any encoder-decoder to start from; it keeps its shape")
    lora: int | None = setting(None, "rank of a LoRA adapter to init_from; null trains all weights", ge=1)
    d_model: int = setting(128, "width of every vector")
    encoder_layers: int = setting(4, "layers")
    decoder_layers: int = setting(4, "layers; a shallow decoder translates faster")
    encoder_attention_heads: int = setting(4, "heads of each layer; d_model is a multiple of them")
    decoder_attention_heads: int = setting(4, "heads of each layer; d_model is a multiple of them")
    encoder_ffn_dim: int = setting(256, "inner width of the feed-forward layers")
    decoder_ffn_dim: int = setting(256, "inner width of the feed-forward layers")
    dropout: float | None = setting(0.1, "probability that a value is set to zero in training; init_from has its own")
    max_position_embeddings: int = setting(1024, "tokens of the longest sentence")


@dataclass(frozen=True)
class EvaluationConfig:
    eval_samples: int = setting(200, "validation pairs translated greedily at each evaluation", ge=1)
    sample: str | None = setting(None, "file of sentences that show what init_from forgets; null: of storybook")


@dataclass(frozen=True)
class GenerationSection:
    """How the finished model translates unless a call says otherwise: what its generation_config.json has.

    A model that is fine-tuned keeps its own."""

    num_beams: int | None = setting(4, "default beam width of the finished model", ge=1, le=64)  # as decoding.py has it
    length_penalty: float | None = setting(1.0, "above 1 favours longer translations", ge=-10, le=10)
    max_length: int | None = setting(256, "tokens of the longest translation, with start and tag", ge=3)
    shortlist: int = setting(0, "target tokens for each source token that CTranslate2 chooses among; 0: all", ge=0)


@dataclass
class TrainingFields:
    """The settings of `Seq2SeeTrainingArguments` (arguments.py) that are ours, or have another default than in
    transformers."""

    __pydantic_config__ = STRICT

    max_tokens: int = setting(4096, "tokens of either side of a batch, with padding, over all processes", ge=1)
    num_train_epochs: float = setting(20, "passes over the training pairs", ge=1e-6)
    max_steps: int = setting(-1, "steps, each of one batch; -1: as num_train_epochs says")
    optim: str = setting("adamw_torch_fused", "muon: Muon for matrices, AdamW for the rest; or one of transformers'")
    muon_lr_scale: float = setting(1.0, "a step of Muon in those of AdamW", ge=0)
    learning_rate: float = setting(3e-3, "peak learning rate, after the warm-up", ge=0)
    lr_scheduler_type: str = setting(
        "inverse_sqrt", "after the warm-up: inverse_sqrt falls as 1/sqrt(step), linear straight to 0"
    )
    warmup_steps: float = setting(200, "steps until the peak learning rate; below 1 a share of all", ge=0)
    weight_decay: float = setting(0.0, "share of each weight, times the learning rate, taken off in a step", ge=0)
    adam_beta2: float = setting(0.98, "decay of AdamW's second moment", ge=0, lt=1)
    label_smoothing_factor: float = setting(
        0.1, "probability taken from the right token and spread over all", ge=0, lt=1
    )
    ema_decay: float = setting(
        0.0, "decay, a step, of the moving average that is the finished model; 0: none", ge=0, lt=1
    )
    guided_weight: float = setting(0.0, "weight of the loss that teaches one head the word links; 0: none", ge=0)
    guided_layer: int = setting(-1, "decoder layer of that head, counted from 0; -1: the last")
    guided_head: int = setting(0, "that cross-attention head, counted from 0")
    guided_links: str | None = setting(None, "Pharaoh file of word links, a line for each pair; storybook has its own")
    freeze: list[Literal["encoder", "decoder", "embeddings"]] | None = setting(
        None, "parts that stay as they are: encoder, decoder, embeddings"
    )
    gradient_accumulation_steps: int = setting(
        1, "parts of a batch computed one after another; more needs less memory", ge=1
    )
    eval_strategy: str = setting("epoch", "when to evaluate: epoch, steps (every eval_steps) or no: no early stopping")
    save_strategy: str = setting("epoch", "when to write a checkpoint: epoch, steps (every save_steps) or no")
    save_total_limit: int | None = setting(2, "checkpoints that are kept; null: all")
    load_best_model_at_end: bool = setting(True, "true keeps the best evaluation's weights, false the last")
    metric_for_best_model: Literal["loss", "bleu", "chrf"] | None = setting(
        "loss", "what is best: loss, bleu or chrf"
    )
    patience: int = setting(0, "evaluations without a gain before training stops; 0: never", ge=0)
    on_bad_loss: Literal["stop", "skip"] = setting(
        "stop", "a batch whose gradient is NaN or infinite: stop, or skip it"
    )
    resume: bool | Literal["force"] = setting(
        False, "true resumes the newest checkpoint; force: on changed data too"
    )
    seed: int = setting(
        0, "of the weights, the order of batches, dropout, and of storybook's sentences", ge=0, le=2**32 - 1
    )
    bf16: bool | None = setting(None, "bfloat16; null: where it is faster than float32")
    cpu_processes: int = setting(0, "processes without a GPU; 0: chosen by the processor and max_tokens", ge=0)
    logging_steps: float = setting(50, "steps between two lines")
    report_to: str | list[str] | None = setting("none", "where to plot curves live: tensorboard, wandb ...")


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
        return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


def load_config(name_or_path: str, overrides: Iterable[str] = ()) -> RunConfig:
    """Read a configuration file, or a packaged one by name, and lay `section.key=value` overrides over it; what both
    leave out is as in configs/reference.yaml.

    Raises UserError (exit code 2) for an unknown file, key or type, and for settings that contradict each other.
    """
    path, where, asked, overrides = Path(name_or_path), name_or_path, dict[str, Any](), list(overrides)
    tree = read_settings(path if path.is_file() else _packaged(name_or_path), where=where, expected=EXPECTED)
    for settings in (tree, asked):
        override(settings, overrides, example="data.path=mine.tsv")
    tree = {"name": path.stem} | {key: part for key, part in tree.items() if part is not None}  # a section may be empty
    config = checked(RunConfig, tree, where=where)
    for key, instead in NO_EFFECT.items():
        if key in config.training:
            raise wrong(f"training.{key} in {where} has no effect: {instead}")
    training = _without_evaluations(config.training, asked.get("training") or {})
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
            f"no configuration {name!r}: neither a YAML file nor the name of a packaged one{nearest(name, names)}"
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
            raise wrong(f"model.lora is {model.lora} without model.init_from=FOLDER, the trained model to adapt")
        for section, key in ((section, key) for section, keys in KEPT.items() for key in keys):
            if getattr(getattr(config, section), key) is None:
                kind = "number" if key in ("dropout", "length_penalty") else "whole number"
                raise wrong(f"{section}.{key} in {where} is null, expected a {kind}")
        return config
    if given := [key for key in SHAPE if key in tree["model"]]:
        raise wrong(
            f"model.{given[0]} in {where} has no effect beside model.init_from, whose model keeps its shape; leave"
            f" out {', '.join(given)}, as the recipe finetune does"
        )
    if model.lora and config.training["freeze"]:
        raise wrong(f"training.freeze in {where} has no effect beside model.lora, which trains its adapter alone")
    sections = {}
    for section, keys in KEPT.items():
        unset = [key for key in keys if key not in (tree.get(section) or {})]
        sections[section] = replace(getattr(config, section), **dict.fromkeys(unset))
    return replace(config, **sections)


def _without_evaluations(training: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The training section where there are no evaluations: then what needs them is off, unless it was set beside
    `eval_strategy=no`, in the overrides `asked` or in the file, which Seq2SeeTrainingArguments refuses."""
    if training.get("eval_strategy") != "no":
        return {**training}
    beside = asked if "eval_strategy" in asked else training
    return {**training, **{key: off for key, off in OF_EVALUATIONS.items() if key not in beside}}


def _with_languages(tree: dict[str, Any], config: RunConfig) -> DataConfig:
    """The data with the languages that the header of their table names, else those of the model to start from, where
    the configuration leaves them to them.  UserError for a model of many languages, where neither says which."""
    data, given = config.data, {*("source", "target")} & {*(tree.get("data") or {})}
    if not isinstance(data.path, str) or data.path in BUILT_IN or len(given) == 2:
        return data
    named = languages_of(Path(data.path))
    if len(named) == 2:
        source, target = named
        if "target" in given and [source] == data.targets or "source" in given and target == data.source:
            source, target = target, source
        return replace(data, **{"source": source, "target": target} | {key: getattr(data, key) for key in given})
    if given or not config.model.init_from:
        return data
    if pair := first_pair(config.model.init_from):
        return replace(data, source=pair[0], target=pair[1])
    raise wrong(f"nothing says which languages {data.path} is of: name its two columns by language codes, or set"
                " data.source and data.target")  # fmt: skip


def _check_data(data: DataConfig, where: str) -> None:
    """UserError where pairs come from nowhere, or settings contradict each other."""
    if data.path is None:
        raise wrong(f"{where} has no data.path; add it, or give data.path=... on the command line")
    if data.val_fraction + data.test_fraction >= 1:
        raise wrong(f"data.test_fraction is {data.test_fraction}, expected less than 1 - data.val_fraction")
    if not data.targets or data.source in data.targets:
        raise wrong(f"data.target is {data.target}, expected languages other than {data.source}")
