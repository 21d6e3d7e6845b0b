"""Configurations: every packaged one loads and explains itself, and every mistake is one line that names the mend."""

import re
import subprocess
import sys
from dataclasses import asdict, fields, replace
from importlib import resources
from typing import get_type_hints

import pytest
import yaml
from huggingface_hub.errors import StrictDataclassError
from transformers import SchedulerType
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from seq2see import Seq2SeeConfig
from seq2see.errors import UserError
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.checks import check_shape
from seq2see.training.config import (
    IGNORED,
    SHAPE,
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    TokenizerConfig,
    load_config,
    load_record,
    packaged_names,
    training_fields,
)
from seq2see.training.run import build_arguments

SECTIONS = {
    "data": DataConfig, "tokenizer": TokenizerConfig, "model": ModelConfig, "evaluation": EvaluationConfig,
    "training": Seq2SeeTrainingArguments,
}
DEFAULTS = {section: {item.name: item.default for item in fields(cls)} for section, cls in SECTIONS.items()}


def test_overrides_lie_over_the_file_and_types_follow_the_field():
    config = load_config(
        "storybook", ["training.learning_rate=1e-4", "data.target=[fr]", "training.num_train_epochs=3", "name=other"]
    )
    assert config.training["learning_rate"] == 1e-4  # YAML alone reads this as text
    assert config.training["num_train_epochs"] == 3
    assert config.data.targets == ["fr"]
    assert config.name == "other"


def test_a_section_without_lines_takes_overrides(tmp_path):
    (tmp_path / "empty.yaml").write_text("data: {path: storybook}\ntraining:\n  # seed: 1\n", "utf-8")
    config = load_config(str(tmp_path / "empty.yaml"), ["training.seed=3"])
    assert config.training["seed"] == 3


def test_resolved_config_reads_back_the_same(tmp_path):
    config = load_config("multi30k-en-de", ["training.seed=7", "data.target=[de, fr]"])
    (tmp_path / "run.yaml").write_text(config.to_yaml(), "utf-8")
    resumed = {"resume": False, **load_config(str(tmp_path / "run.yaml")).training}  # of one call, and not kept
    assert replace(load_config(str(tmp_path / "run.yaml")), training=resumed) == config


@pytest.mark.parametrize("name", packaged_names())
def test_packaged_configs_load_and_explain_every_key(name):
    config = load_config(name)
    assert config.name == name
    text = resources.files("seq2see.configs").joinpath(f"{name}.yaml").read_text("utf-8")
    assert f"#   seq2see train {name}" in text.splitlines()[1]
    for line in text.splitlines():
        if re.match(r"\s+\w+:", line):
            assert re.search(r"  # \S", line), f"{name}: no comment on {line!r}"
        assert len(line) <= 120
    tree = yaml.safe_load(text)
    left_out = {*SHAPE, "vocab_size"} if name.startswith("finetune") else set()
    left_out |= {"path", "target", "teacher"} if config.data.corpora else {"corpora", "folder", "varied", "offensive"}
    for section in ("data", "tokenizer", "model", "evaluation"):
        assert list(tree[section]) == [key for key in DEFAULTS[section] if key not in left_out]
    assert {"max_tokens", "ema_decay", "patience", "resume"} < set(tree["training"])


@pytest.mark.parametrize("name", packaged_names())
def test_packaged_configs_state_the_true_defaults(name):
    text = resources.files("seq2see.configs").joinpath(f"{name}.yaml").read_text("utf-8")
    section = ""
    for line in text.splitlines():
        if found := re.match(r"(\w+):", line):
            section = found[1]
        elif found := re.match(r"  (\w+): .*# default ([^\s;:]+)", line):
            key, stated = found.groups()
            default = DEFAULTS[section][key]
            assert stated == str(default).lower().replace("none", "null") or float(stated) == default, line
        else:
            assert line.startswith(("#", "    ")) or "# no default: " in line  # what is indented more is a corpus


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.lerning_rate=1", "unknown key training.lerning_rate .*did you mean training.learning_rate"),
        ("data.pth=x", "unknown key data.pth .*did you mean data.path"),
        ("modle.d_model=3", "unknown key modle .*did you mean model"),
        ("model.d_model=wide", r"model.d_model is 'wide' \(str\), expected int"),
        ("model.dropout=true", r"model.dropout is True \(bool\), expected float"),
        ("training.max_tokens=1.5", r"training.max_tokens is 1.5 \(float\), expected int"),
        ("data.on_bad=ignore", "data.on_bad is 'ignore' .*expected 'refuse' or 'skip'"),
        ("data.target=[fr, 3]", "data.target is .*expected str or list"),
        ("data.target=en", "data.target is"),
        ("data.target=[]", "data.target is"),
        ("data.val_fraction=2", "data.val_fraction is 2.0"),
        ("data.test_fraction=0.99", "data.test_fraction is 0.99"),
        ("evaluation.num_beams=0", "evaluation.num_beams is 0"),
        ("evaluation.num_beams=65", "evaluation.num_beams is 65, expected a number from 1 to 64"),
        ("evaluation.max_length=2", "evaluation.max_length is 2, expected at least 3"),
        ("data.path=", "storybook has no data.path; add it"),
        ("data=3", "data in storybook is 3, expected a section"),
        ("data.path.x=3", "data.path is a value, not a section|path is a value, not a section"),
        ("epochs", "'epochs' is not key=value"),
        ("model.d_model=[1", "is not YAML"),
        ("evaluation.shortlist=-1", "evaluation.shortlist is -1, expected 0 or more"),
        ("evaluation.length_penalty=nan", "evaluation.length_penalty is nan"),
        ("training.cpu_processes=-1", "training.cpu_processes is -1, expected 0 or more"),
        ("training.per_device_train_batch_size=8", "training.per_device_train_batch_size .* no effect: .*max_tokens"),
        ("training.generation_num_beams=8", "training.generation_num_beams .* no effect: .*evaluation section"),
        ("training.resume_from_checkpoint=x", "no effect: use training.resume=true"),
        ("model.init_from=runs/x", "model.d_model .* no effect beside .*; leave out d_model, .* recipe finetune"),
        ("tokenizer.vocab_size=null", "tokenizer.vocab_size is null, expected int"),
    ],
)
def test_mistakes_name_the_mend(override, message):
    with pytest.raises(UserError, match=message) as caught:
        load_config("storybook", [override])
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_the_training_section_is_the_fields_of_the_arguments_but_for_those_that_have_no_effect():
    """Read off the source, they are what Python makes of it."""
    hints = get_type_hints(Seq2SeeTrainingArguments)
    expected = {item.name: hints[item.name] for item in fields(Seq2SeeTrainingArguments) if item.init}
    ignored = {key for names in IGNORED.values() for key in names}
    assert ignored < set(expected)

    def spelled(hint) -> str:
        return re.sub(r"[\w.<>]*\.", "", str(hint))

    assert {name: spelled(kind) for name, kind in training_fields().items()} == {
        name: spelled(kind) for name, kind in expected.items() if name not in ignored
    }


@pytest.mark.parametrize("arguments", [
    ["nowhere"], ["storybook", "training.seed=x"], ["storybook", "training.sead=1"],
    ["finetune", "model.init_from=nowhere"], ["finetune", "model.init_from=FOLDER"],
    ["storybook", "data.path=nowhere.tsv"], ["storybook", "data.path=[nowhere.en,nowhere.fr]"],
    ["everyday", "data.folder=FOLDER"], ["storybook", "training.output_dir=RUN"],
    ["storybook", "model.d_model=130"], ["storybook", "model.d_model=0"],
    ["storybook", "model.encoder_layers=257"], ["storybook", "model.d_model=1", "model.encoder_attention_heads=1",
                                                "model.decoder_attention_heads=1"],
])  # fmt: skip
def test_what_is_wrong_is_told_before_anything_heavy_is_imported(arguments, tmp_path):
    code = "import sys\nfrom seq2see.cli.command import main\nprint(main(sys.argv[1:]), 'torch' in sys.modules)"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.yaml").touch()
    arguments = [item.replace("FOLDER", str(tmp_path)).replace("RUN", str(tmp_path / "run")) for item in arguments]
    command = [sys.executable, "-c", code, "train", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.split() in (["1", "False"], ["2", "False"])
    assert done.stderr.startswith("seq2see: error: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("shape", [
    {}, {"d_model": 6, "encoder_attention_heads": 3, "decoder_attention_heads": 2}, {"d_model": 8192},
    {"d_model": 8196}, {"d_model": 0}, {"d_model": -4}, {"d_model": 126}, {"encoder_attention_heads": 3},
    {"decoder_attention_heads": 0},
    {"d_model": 5, "encoder_attention_heads": 5, "decoder_attention_heads": 1}, {"decoder_ffn_dim": 65537},
    {"encoder_layers": 256}, {"encoder_layers": 257}, {"decoder_layers": 0}, {"max_position_embeddings": 0},
], ids=str)  # fmt: skip
def test_a_shape_is_refused_at_once_where_the_network_would_refuse_it(shape):
    def refuses(refusal, make):
        try:
            make()
        except refusal:
            return True
        return False

    at_once = refuses(UserError, lambda: check_shape(ModelConfig(**shape)))
    assert at_once is refuses(StrictDataclassError, lambda: Seq2SeeConfig(**asdict(ModelConfig(**shape))))


@pytest.mark.parametrize("override", [
    "patience=-1", "num_train_epochs=0", "num_train_epochs=-3", "num_train_epochs=inf", "ema_decay=1", "ema_decay=-0.1",
    "r_drop=-1", "muon=nan", "label_smoothing_factor=1", "label_smoothing_factor=-0.1", "max_tokens=0",
    "weight_decay=-0.1", "learning_rate=-1e-3", "learning_rate=nan", "learning_rate=inf", "seed=-1", "seed=4294967296",
    "gradient_accumulation_steps=0", "dataloader_num_workers=-1", "adam_beta1=1", "adam_beta2=-0.1",
    "metric_for_best_model=accuracy", "lr_scheduler_type=cosine_with_min_lr", "lr_scheduler_type=warmup_stable_decay",
    "lr_scheduler_kwargs={steepness: 2}",
])  # fmt: skip
def test_training_out_of_range_is_one_line_that_names_it(override, tmp_path):
    with pytest.raises(UserError, match=f"training section: .*{override.split('=')[0]}=") as refused:
        build_arguments(load_config("storybook", [f"training.{override}"]), tmp_path)
    assert refused.value.exit_code == 2 and "\n" not in str(refused.value)


@pytest.mark.parametrize(("field", "names"), [
    ("lr_scheduler_type", {kind.value for kind in SchedulerType}),
    ("report_to", {"none", "all", *INTEGRATION_TO_CALLBACK}),
])
def test_what_transformers_knows_by_name_is_refused_with_the_configuration(field, names):
    for name in names:
        load_config("storybook", [f"training.{field}={name}"])
    with pytest.raises(UserError, match=f"^training.{field} is 'other'"):
        load_config("storybook", [f"training.{field}=other"])


def test_patience_wants_a_metric(tmp_path):
    overrides = ["training.patience=2", "training.metric_for_best_model=null"]
    with pytest.raises(UserError, match="patience needs a metric_for_best_model"):
        build_arguments(load_config("storybook", overrides), tmp_path)


@pytest.mark.parametrize("overrides", [
    ["ema_decay=0", "learning_rate=0", "label_smoothing_factor=0", "weight_decay=0", "adam_beta1=0", "seed=4294967295"],
    ["num_train_epochs=0.01", "max_tokens=1", "gradient_accumulation_steps=1", "ema_decay=0.9999", "warmup_steps=0.1"],
    ["metric_for_best_model=eval_bleu", "lr_scheduler_type=warmup_stable_decay", "warmup_steps=0",
     "lr_scheduler_kwargs={num_decay_steps: 10}"],
    ["metric_for_best_model=chrf", "lr_scheduler_type=reduce_lr_on_plateau",
     "lr_scheduler_kwargs={min_lr: [1e-5, 1e-6]}"],
    ["metric_for_best_model=null", "lr_scheduler_type=cosine_with_min_lr", "lr_scheduler_kwargs={min_lr_rate: 0.1}"],
    ["lr_scheduler_type=constant"], ["lr_scheduler_type=polynomial", "warmup_steps=100000"],
])  # fmt: skip
def test_what_lies_at_the_edge_is_taken(overrides, tmp_path):
    build_arguments(load_config("storybook", [f"training.{item}" for item in overrides]), tmp_path)


def test_a_message_of_several_lines_is_told_whole(tmp_path):
    """transformers names the two strategies that do not match on lines of their own."""
    overrides = ["training.eval_strategy=no", "training.patience=0", "training.load_best_model_at_end=true"]
    with pytest.raises(UserError, match="section: .*match.* Evaluation strategy.*NO.* Save strategy.*EPOCH") as told:
        build_arguments(load_config("storybook", overrides), tmp_path)
    assert "\n" not in str(told.value)


def test_unknown_configuration_names_the_nearest(tmp_path):
    with pytest.raises(UserError, match="did you mean storybook"):
        load_config("storybok")
    with pytest.raises(UserError, match="xyz.*; expected one of everyday, finetune, ") as caught:
        load_config("xyz")
    assert str(caught.value).count("multi30k-en-de-fast") == 1
    (tmp_path / "list.yaml").write_text("[1, 2]")
    with pytest.raises(UserError, match="contains list"):
        load_config(str(tmp_path / "list.yaml"))
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(UserError, match="is not YAML"):
        load_config(str(tmp_path / "broken.yaml"))


def test_a_run_of_an_earlier_version_is_read_without_what_had_no_effect(tmp_path):
    record = tmp_path / "run.yaml"
    record.write_text(
        "name: old\ndata: {path: pairs.tsv}\ntokenizer: {vocab_size: 8000}\n"
        "model: {init_from: runs/base, lora: null, d_model: 128, dropout: 0.2}\n"
        "training: {seed: 3, per_device_train_batch_size: 8}\n", "utf-8",
    )  # fmt: skip
    with pytest.raises(UserError, match="has no effect"):
        load_config(str(record))
    config = load_record(record)
    assert (config.model.init_from, config.model.dropout, config.tokenizer.vocab_size) == ("runs/base", 0.2, None)
    assert config.training == {"seed": 3} and config.data.joined == 0.0
