"""What an experiment is: dataclasses, read from a commented YAML file and `key=value` overrides, checked key by key.

`load_config("storybook", ["training.num_train_epochs=3"])` reads a file, or else a packaged name.  An unknown key is an
error that names the nearest known one; so is a key that would have no effect.  The `training` section holds the fields
of `Seq2SeeTrainingArguments`.  Nothing heavy is imported: a mistake is told at once.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from seq2see.folders import RUNS
from seq2see.settings_file import check_keys, nearest, override, read_settings, wrong

SECTIONS = "sections such as data: and training:"
REFERENCE = "reference"  # configs/reference.yaml: every key with its default
VOCABULARY = 8000  # tokens, unless the configuration says otherwise
SHAPE = (  # of a new model; one that is fine-tuned keeps its own
    "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings",
)  # fmt: skip
PART = ("target", "max_characters", "on_invalid", "duplicates", "offensive")  # of a corpus, and of the data section
IGNORED = {  # fields of transformers' arguments that Seq2SeeTrainer has no use for, by what is used instead
    "batches are made by length, each of at most training.max_tokens tokens a side": (
        "per_device_train_batch_size", "per_device_eval_batch_size", "auto_find_batch_size", "eval_accumulation_steps",
        "train_sampling_strategy", "length_column_name", "sortish_sampler", "accelerator_config",
    ),
    "every pair is loaded, in training.dataloader_num_workers processes": (
        "dataloader_drop_last", "dataloader_pin_memory", "dataloader_persistent_workers", "dataloader_prefetch_factor",
        "dataloader_multiprocessing_context", "dataloader_in_order", "remove_unused_columns", "label_names",
    ),
    "an evaluation measures the loss, BLEU and chrF, as the evaluation section says": (
        "prediction_loss_only", "eval_do_concat_batches", "eval_use_gather_object", "include_for_metrics",
        "batch_eval_metrics", "predict_with_generate", "generation_max_length", "generation_num_beams",
        "generation_config",
    ),
    "an evaluation has the precision of the training: use training.bf16 or training.fp16": (
        "bf16_full_eval", "fp16_full_eval",
    ),
    "use seq2see train, seq2see evaluate or seq2see translate": ("do_train", "do_eval", "do_predict"),
    "use training.resume=true": ("resume_from_checkpoint",),
    "use training.seed, which sets the order of batches too": ("data_seed",),
    "use torchrun": ("local_rank",),
    "the model has no buffers that change": ("ddp_broadcast_buffers",),
    "Liger has no kernels for this model": ("use_liger_kernel", "liger_kernel_config"),
}  # fmt: skip


def setting(default: Any, what: str, *, least: float = -math.inf, most: float = math.inf) -> Any:
    """A key of a configuration: its default, its comment in configs/reference.yaml, and its bounds."""
    return field(default=default, metadata={"help": what, "least": least, "most": most})


OnInvalid = typing.Literal["error", "skip"]
OnDuplicates = typing.Literal["keep", "skip", "error"]
OnOffensive = typing.Literal["keep", "skip"]


@dataclass(frozen=True)
class CorpusConfig:
    """One of several corpora of a run; what it leaves out is as in the data section."""

    path: str | list[str]
    target: str | list[str]
    share: float = 1.0  # of its training pairs; above 1 they are repeated
    max_characters: int | None = None
    on_invalid: OnInvalid | None = None
    duplicates: OnDuplicates | None = None
    offensive: OnOffensive | None = None


@dataclass(frozen=True)
class DataConfig:
    path: str | list[str] | None = setting(None, "file, folder, [SOURCE, TARGET] files, storybook or owner/name")
    corpora: list[CorpusConfig] | None = setting(None, "instead of path: several corpora, as everyday.yaml lists them")
    folder: str | None = setting(None, "folder that relative paths of corpora start from")
    source: str = setting("en", "language to translate from")
    target: str | list[str] = setting("fr", "language to translate to, or a list of them")
    val_fraction: float = setting(0.01, "share of a table's source sentences, for validation")
    test_fraction: float = setting(0.0, "share of a table's source sentences, for a test of your own")
    max_characters: int = setting(1000, "characters; a pair with a longer side is invalid", least=1)
    on_invalid: OnInvalid = setting("error", "empty, overlong or unreadable pairs: error, or skip and count them")
    duplicates: OnDuplicates = setting("keep", "copies of a pair: keep and count them, skip, or error")
    offensive: OnOffensive = setting("keep", "skip leaves out pairs with a word of training/offensive_words.yaml")
    joined: float = setting(0.1, "share of training pairs that are learnt in texts of 2 to 6 pairs", least=0, most=1)
    varied: float = setting(0.0, "share of training pairs written another way; with corpora", least=0, most=1)

    @property
    def targets(self) -> list[str]:
        """The target languages, each once, in the order in which they are named."""
        named = [one.target for one in self.parts()] if self.corpora else [self.target]
        return list(dict.fromkeys(code for each in named for code in ([each] if isinstance(each, str) else each)))

    @property
    def where(self) -> str:
        """The data as messages name them."""
        return ", ".join(str(one.path) for one in self.parts()) if self.corpora else str(self.path)

    def parts(self) -> list[DataConfig]:
        """Each corpus as if it were alone: itself where there are no `corpora`."""
        if not self.corpora:
            return [self]
        alone = replace(self, corpora=None, folder=None)
        return [replace(alone, **{key: value for key, value in vars(one).items() if value is not None and key in PART},
                        path=self._found(one.path)) for one in self.corpora]  # fmt: skip

    def _found(self, path: str | list[str]) -> str | list[str]:
        if isinstance(path, list):
            return [str(self._found(one)) for one in path]
        found = Path(self.folder or "", path)
        return str(found) if self.folder and path != "storybook" else path


@dataclass(frozen=True)
class TokenizerConfig:
    vocab_size: int | None = setting(VOCABULARY, "tokens of the joint vocabulary, 292 of them tags and bytes")


@dataclass(frozen=True)
class ModelConfig:
    init_from: str | None = setting(None, "folder or Hub id of a Seq2See model to start from; it keeps its shape")
    lora: int | None = setting(None, "rank of a LoRA adapter to init_from; null trains all weights")
    d_model: int = setting(128, "width of every vector")
    encoder_layers: int = setting(4, "layers")
    decoder_layers: int = setting(4, "layers; a shallow decoder translates faster")
    encoder_attention_heads: int = setting(4, "heads of each layer; d_model is a multiple of them")
    decoder_attention_heads: int = setting(4, "heads of each layer; d_model is a multiple of them")
    encoder_ffn_dim: int = setting(256, "inner width of the feed-forward layers")
    decoder_ffn_dim: int = setting(256, "inner width of the feed-forward layers")
    dropout: float = setting(0.1, "probability that a value is set to zero in training")
    max_position_embeddings: int = setting(1024, "tokens of the longest sentence")


@dataclass(frozen=True)
class EvaluationConfig:
    eval_samples: int = setting(200, "validation pairs translated greedily at each evaluation", least=1)
    num_beams: int = setting(4, "beams of the finished model", least=1, most=64)  # as vetting.py has it
    length_penalty: float = setting(1.0, "above 1 favours longer translations", least=-10, most=10)
    max_length: int = setting(256, "tokens of the longest translation, with start and tag", least=3)
    shortlist: int = setting(0, "target tokens for each source token that CTranslate2 chooses among; 0: all", least=0)


@dataclass(frozen=True)
class RunConfig:
    name: str
    data: DataConfig
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: Mapping[str, Any] = field(default_factory=dict)
    evaluation: EvaluationConfig = EvaluationConfig()

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
        for key in ("target",) if self.data.corpora else ("corpora", "folder"):
            del tree["data"][key]
        if self.model.init_from:
            tree["model"] = {key: value for key, value in tree["model"].items() if key not in SHAPE}
        return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


def load_config(name_or_path: str, overrides: Iterable[str] = ()) -> RunConfig:
    """Read a configuration file, or a packaged one by name, and lay `section.key=value` overrides over it; what both
    leave out is as in configs/reference.yaml.

    Raises UserError (exit code 2) for an unknown file, key or type.
    """
    path = Path(name_or_path)
    tree = read_settings(path if path.is_file() else _packaged(name_or_path), where=str(path), expected=SECTIONS)
    override(tree, overrides, example="data.path=mine.tsv")
    rename_old_keys(tree, where=str(path))
    tree.setdefault("name", path.stem)
    training = tree.get("training") or {}
    if isinstance(training, dict):
        tree["training"] = read_settings(_packaged(REFERENCE), expected=SECTIONS)["training"] | training
    return _build_run(tree, str(path))


def load_data(overrides: Iterable[str]) -> DataConfig:
    """The data section that these `data.key=value` make."""
    return load_config(REFERENCE, overrides).data


def load_record(run_yaml: Path) -> RunConfig:
    """What a run was trained with; also where an earlier version wrote it, which kept settings that had no effect,
    joined no sentences, and had settings that are gone."""
    tree = read_settings(run_yaml, expected=SECTIONS)
    rename_old_keys(tree, where=None)
    data, model, tokenizer, training = (tree.get(name) or {} for name in ("data", "model", "tokenizer", "training"))
    if model.get("init_from") and "d_model" in model:
        tokenizer.pop("vocab_size", None)
        tree["model"] = {key: value for key, value in model.items() if key not in SHAPE}
    ignored = {key for names in IGNORED.values() for key in names}
    tree["training"] = {key: value for key, value in training.items() if key not in ignored}
    data.setdefault("joined", 0.0)
    return _build_run(tree, str(run_yaml))


def rename_old_keys(tree: dict[str, Any], *, where: str | None) -> None:
    """Give keys of earlier versions their present names, in place.

    UserError for a setting that is gone, where it is on and `where` names the file that asks for it.
    """
    data, tokenizer, training, evaluation = (
        section if isinstance(section := tree.get(name), dict) else {}
        for name in ("data", "tokenizer", "training", "evaluation")
    )
    corpora = data.get("corpora") or []
    for part in (data, *(one for one in corpora if isinstance(one, dict))):
        if "on_bad" in part:
            part["on_invalid"] = part.pop("on_bad")
        for key in ("on_invalid", "duplicates"):
            if part.get(key) == "refuse":
                part[key] = "error"
    if "pairs" in evaluation:
        evaluation["eval_samples"] = evaluation.pop("pairs")
    if scale := training.pop("muon", None):
        training |= {"optim": "muon", "muon_lr_scale": scale}
    elif scale == 0 and training.get("optim") == "muon":
        training["optim"] = "adamw_torch_fused"
    for name, section, key, instead in (
        ("data", data, "teacher", "use seq2see distil TEACHER... data.path=PATH --out FOLDER, then data.path=FOLDER"),
        ("tokenizer", tokenizer, "bpe_dropout", "it made translations worse (LOG.md); leave it out"),
        ("training", training, "r_drop", "it made translations worse (LOG.md); leave it out"),
    ):  # fmt: skip
        if section.pop(key, None) and where:
            raise wrong(f"{name}.{key} in {where} is gone: {instead}")


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


def _build_run(tree: dict[str, Any], where: str) -> RunConfig:
    check_keys(tree, [item.name for item in fields(RunConfig)], where=where)
    sections: dict[str, Any] = {"name": check_type(tree["name"], str, "name")}
    for name, cls in (
        ("data", DataConfig), ("tokenizer", TokenizerConfig), ("model", ModelConfig), ("evaluation", EvaluationConfig)
    ):
        sections[name] = _build(cls, tree.get(name), name, where)
    _check_corpora(sections["data"], tree.get("data") or {}, where)
    if sections["model"].init_from:
        given = [key for key in SHAPE if key in (tree.get("model") or {})]
        if given:
            raise wrong(
                f"model.{given[0]} in {where} has no effect beside model.init_from, whose model keeps its shape; leave"
                f" out {', '.join(given)}, as the recipe finetune does"
            )
        if "vocab_size" not in (tree.get("tokenizer") or {}):
            sections["tokenizer"] = replace(sections["tokenizer"], vocab_size=None)
    elif sections["tokenizer"].vocab_size is None:
        raise wrong("tokenizer.vocab_size is null, expected int")
    sections["training"] = _checked(tree.get("training"), training_fields(), "training", where)
    config = RunConfig(**sections)
    _check_ranges(config)
    return config


@lru_cache
def training_fields() -> dict[str, Any]:
    """The type of each field that the training section may have.

    They are those of `Seq2SeeTrainingArguments`, read off the source: it takes seconds to import torch.
    """

    class Names(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            """A class of transformers stands for itself: no value in YAML is of it."""
            return getattr(typing, name, None) or getattr(builtins, name, None) or type(name, (), {})

    package = find_spec("transformers")
    assert package and package.submodule_search_locations
    theirs, ours = Path(package.submodule_search_locations[0]), Path(__file__).parent
    found: dict[str, Any] = {}
    for path in (theirs / "training_args.py", theirs / "training_args_seq2seq.py", ours / "arguments.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("TrainingArguments"):
                for line in node.body:
                    if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                        kind: Any = ast.unparse(line.annotation)
                        while isinstance(kind, str):  # an annotation may itself be in quotes
                            kind = eval(kind, {}, Names())
                        found[line.target.id] = kind
    ignored = {key for names in IGNORED.values() for key in names}
    return {name: kind for name, kind in found.items() if name not in ignored and not name.startswith("_")}


def _check_corpora(data: DataConfig, section: Mapping[str, Any], where: str) -> None:
    """UserError where pairs come from nowhere, or a setting has no effect."""
    if data.path is None and not data.corpora:
        raise wrong(f"{where} has no data.path; add it, or give data.path=... on the command line")
    if data.corpora:
        given = [key for key in ("path", "target") if section.get(key) is not None]
        if given:
            raise wrong(f"data.{given[0]} in {where} has no effect beside data.corpora; leave it out")
        for one in data.corpora:
            if not 0 < one.share <= 100:
                raise wrong(f"share of {one.path} is {one.share}, expected a number above 0, of 100 at most")
    elif data.folder is not None:
        raise wrong(f"data.folder in {where} has no effect without data.corpora; write it into data.path")


def _build(cls: type, section: Any, name: str, where: str) -> Any:
    hints = typing.get_type_hints(cls)
    if cls is DataConfig and isinstance(section, dict) and isinstance(section.get("corpora"), list):
        corpora = [_build(CorpusConfig, one, f"data.corpora[{index}]", where)
                   for index, one in enumerate(section["corpora"])]  # fmt: skip
        section = section | {"corpora": corpora}
    values = _checked(section, hints, name, where)
    required = [item.name for item in fields(cls) if item.default is MISSING and item.default_factory is MISSING]
    for key in required:
        if values.get(key) is None:
            raise wrong(f"{where} has no {name}.{key}; add it, or give {name}.{key}=... on the command line")
    return cls(**values)


def _checked(section: Any, hints: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    section = {} if section is None else section
    if not isinstance(section, dict):
        raise wrong(f"{name} in {where} is {section!r}, expected a section of key: value lines")
    for instead, names in IGNORED.items() if name == "training" else ():
        for key in section:
            if key in names:
                raise wrong(f"training.{key} in {where} has no effect: {instead}")
    check_keys(section, list(hints), prefix=f"{name}.", where=where)
    return {key: check_type(value, hints[key], f"{name}.{key}") for key, value in section.items()}


def _check_ranges(config: RunConfig) -> None:
    sections: list[tuple[str, Any]] = [("data", part) for part in config.data.parts()]
    for name, section in [*sections, ("evaluation", config.evaluation)]:
        for one in fields(section):
            value, least, most = getattr(section, one.name), one.metadata["least"], one.metadata["most"]
            if isinstance(value, int | float) and not least <= value <= most:
                expected = f"a number from {least} to {most}" if most < math.inf else f"at least {least}"
                raise wrong(f"{name}.{one.name} is {value}, expected {expected}")
    for part in config.data.parts():
        targets = [part.target] if isinstance(part.target, str) else part.target
        if targets and config.data.source not in targets and len(set(targets)) == len(targets):
            continue
        raise wrong(f"data.target is {targets}, expected languages, each once, other than {config.data.source}")
    if not 0 < config.data.val_fraction < 1:
        raise wrong(f"data.val_fraction is {config.data.val_fraction}, expected a number between 0 and 1")
    if not 0 <= config.data.test_fraction < 1 - config.data.val_fraction:
        raise wrong(f"data.test_fraction is {config.data.test_fraction}, expected at least 0 and less than the rest")
    if config.data.varied and not config.data.corpora:
        raise wrong("data.varied has no effect without data.corpora; leave it out, or name the one corpus there")
    if config.model.lora is not None and (config.model.lora < 1 or not config.model.init_from):
        raise wrong(
            f"model.lora is {config.model.lora}: expected a rank of at least 1, and model.init_from=FOLDER, the trained"
            " model to adapt; model.lora=null trains all weights"
        )
    if (count := config.training.get("cpu_processes", 0)) < 0:  # asked for before the arguments are made
        raise wrong(f"training.cpu_processes is {count}, expected at least 0")


def check_type(value: Any, hint: Any, key: str) -> Any:
    """`value` as `hint` wants it; YAML reads `3e-3` as text and `1` as an int, which a float field takes."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    for option in options:
        origin = typing.get_origin(option) or option
        if origin is typing.Literal and value in typing.get_args(option):
            return value
        if origin is typing.Any or (isinstance(origin, type) and type(value) is origin):
            if origin is list and any(type(item) is not cls for item in value for cls in typing.get_args(option)[:1]):
                continue
            return value
    if float in options and isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    expected = " or ".join(_spell(option) for option in options)
    raise wrong(f"{key} is {value!r} ({type(value).__name__}), expected {expected}")


def _spell(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    return "null" if hint is type(None) else getattr(hint, "__name__", str(hint))
