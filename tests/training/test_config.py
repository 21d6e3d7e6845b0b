"""Configurations: every packaged one loads and explains itself, and every mistake is one line that names the mend."""

import re
import subprocess
import sys
from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest
import yaml

from seq2see.cli.parser import recipes
from seq2see.errors import UserError
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.config import (
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    TokenizerConfig,
    TrainingFields,
    load_config,
    load_record,
    packaged_names,
)
from seq2see.training.reference import reference
from seq2see.training.run import build_arguments

SECTIONS = {
    "data": DataConfig, "tokenizer": TokenizerConfig, "model": ModelConfig, "evaluation": EvaluationConfig,
    "training": TrainingFields,
}
DEFAULTS = {section: {item.name: item.default for item in fields(cls)} for section, cls in SECTIONS.items()}


def test_overrides_lie_over_the_file_and_types_follow_the_field():
    config = load_config(
        "storybook", ["training.learning_rate=1e-4", "data.target=[fr]", "training.num_train_epochs=3", "name=other"]
    )
    assert config.training["learning_rate"] == 1e-4
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
    assert load_config(str(tmp_path / "run.yaml")) == config


@pytest.mark.parametrize("name", packaged_names())
def test_a_recipe_says_what_it_is_for_and_only_what_differs(name):
    config = load_config(name)
    assert config.name == name
    text = resources.files("seq2see.configs").joinpath(f"{name}.yaml").read_text("utf-8")
    lines = text.splitlines()
    assert re.fullmatch(r"# [A-Z].*\.", lines[0]) and lines[1].startswith(f"#   seq2see train {name}")
    assert all(len(line) <= 120 for line in lines)
    for section, keys in yaml.safe_load(text).items():
        for key, value in keys.items():
            assert key in DEFAULTS[section] and value != DEFAULTS[section][key], f"{name}: {section}.{key}"


def test_the_reference_is_what_is_generated_and_its_values_are_the_defaults():
    text = resources.files("seq2see.configs").joinpath("reference.yaml").read_text("utf-8")
    assert text == reference(), "python -m seq2see.training.reference"
    assert all(len(line) <= 120 for line in text.splitlines())
    for section, keys in yaml.safe_load(text).items():
        assert keys == {key: DEFAULTS[section][key] for key in keys}
        assert list(keys) == list(DEFAULTS[section])
    config = load_config("reference", ["data.path=storybook"])
    assert (config.model, config.evaluation) == (ModelConfig(), EvaluationConfig())
    build_arguments(config, Path("run"))


def test_the_help_of_train_lists_every_recipe():
    listed = [line.split(maxsplit=1) for line in recipes().splitlines()[1:]]
    assert sorted(name for name, _ in listed) == packaged_names()
    assert all(summary.endswith(".") for _, summary in listed)


def test_keys_of_earlier_versions_work(tmp_path):
    old = ["data.on_bad=skip", "data.duplicates=refuse", "training.muon=2", "evaluation.pairs=7",
           "tokenizer.bpe_dropout=0", "training.r_drop=0", "data.teacher=null"]  # fmt: skip
    new = ["data.on_invalid=skip", "data.duplicates=error", "training.optim=muon", "training.muon_lr_scale=2",
           "evaluation.eval_samples=7"]  # fmt: skip
    assert load_config("storybook", old) == load_config("storybook", new)
    assert load_config("storybook", ["training.muon=0"]).training["optim"] == Seq2SeeTrainingArguments.optim
    (tmp_path / "run.yaml").write_text(
        "name: old\ndata: {teacher: runs/x, corpora: [{path: storybook, target: fr, on_bad: refuse}]}\n"
        "tokenizer: {bpe_dropout: 0.1}\ntraining: {r_drop: 1, muon: 1.5}\n", "utf-8",
    )  # fmt: skip
    record = load_record(tmp_path / "run.yaml")
    assert record.data.corpora[0].on_invalid == "error"
    assert record.training == {"optim": "muon", "muon_lr_scale": 1.5}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.pth=x", "unknown key data.pth .*did you mean data.path"),
        ("modle.d_model=3", "unknown key modle .*did you mean model"),
        ("model.d_model=wide", r"model.d_model is 'wide' \(str\), expected int"),
        ("model.dropout=true", r"model.dropout is True \(bool\), expected float"),
        ("training.max_tokens=1.5", r"training.max_tokens is 1.5 \(float\), expected int"),
        ("data.on_invalid=ignore", "data.on_invalid is 'ignore' .*expected 'error' or 'skip'"),
        ("data.target=[fr, 3]", "data.target is .*expected str or list"),
        ("data.target=en", "data.target is en, expected languages other than en"),
        ("data.target=[]", "data.target is"),
        ("data.val_fraction=2", "data.val_fraction is 2.0, expected a number from 1e-06 to 0.99"),
        ("data.test_fraction=0.99", "data.test_fraction is 0.99"),
        ("evaluation.num_beams=0", "evaluation.num_beams is 0"),
        ("evaluation.num_beams=65", "evaluation.num_beams is 65, expected a number from 1 to 64"),
        ("evaluation.max_length=2", "evaluation.max_length is 2, expected at least 3"),
        ("data.path=", "storybook has no data.path; add it"),
        ("data=3", "data in storybook is 3, expected a section"),
        ("data.path.x=3", "data.path is a value, not a section|path is a value, not a section"),
        ("epochs", "'epochs' is not key=value"),
        ("model.d_model=[1", "is not YAML"),
        ("evaluation.shortlist=-1", "evaluation.shortlist is -1, expected at least 0"),
        ("evaluation.length_penalty=nan", "evaluation.length_penalty is 'nan'"),
        ("training.cpu_processes=-1", "training.cpu_processes is -1, expected at least 0"),
        ("training.per_device_train_batch_size=8", "training.per_device_train_batch_size .* no effect: .*max_tokens"),
        ("training.generation_num_beams=8", "training.generation_num_beams .* no effect: .*evaluation.num_beams"),
        ("training.resume_from_checkpoint=x", "no effect: use training.resume=true"),
        ("model.init_from=runs/x", "model.encoder_layers .* no effect beside .*; leave out encoder_layers, "),
        ("tokenizer.vocab_size=null", "tokenizer.vocab_size is null, expected int"),
        ("data.teacher=runs/x", "data.teacher in storybook is gone: use seq2see distil TEACHER... .*--out FOLDER"),
        ("tokenizer.bpe_dropout=0.1", "tokenizer.bpe_dropout in storybook is gone: .*leave it out"),
        ("training.r_drop=1", "training.r_drop in storybook is gone: .*leave it out"),
    ],
)
def test_mistakes_name_the_mend(override, message):
    with pytest.raises(UserError, match=message) as caught:
        load_config("storybook", [override])
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_of_training_names_the_nearest(tmp_path):
    with pytest.raises(UserError, match="unknown key training.lerning_rate .*did you mean training.learning_rate"):
        build_arguments(load_config("storybook", ["training.lerning_rate=1"]), tmp_path)


@pytest.mark.parametrize("arguments", [
    ["nowhere"], ["storybook", "training.seed=x"], ["storybook", "data.pth=x"],
    ["finetune", "model.init_from=nowhere"], ["finetune", "model.init_from=FOLDER"],
    ["storybook", "data.path=nowhere.tsv"], ["storybook", "data.path=[nowhere.en,nowhere.fr]"],
    ["everyday", "data.folder=FOLDER"], ["storybook", "training.output_dir=RUN"],
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


@pytest.mark.parametrize("override", [
    "patience=-1", "num_train_epochs=0", "num_train_epochs=-3", "num_train_epochs=.inf", "ema_decay=1",
    "muon_lr_scale=.nan", "label_smoothing_factor=1", "label_smoothing_factor=-0.1", "max_tokens=0",
    "weight_decay=-0.1", "learning_rate=-1e-3", "learning_rate=.nan", "learning_rate=.inf", "seed=-1",
    "seed=4294967296", "gradient_accumulation_steps=0", "adam_beta2=-0.1", "metric_for_best_model=accuracy",
])  # fmt: skip
def test_training_out_of_range_is_one_line_that_names_it(override):
    with pytest.raises(UserError, match=f"training.{override.split('=')[0]} is .*, expected ") as refused:
        load_config("storybook", [f"training.{override}"])
    assert refused.value.exit_code == 2 and "\n" not in str(refused.value)


@pytest.mark.parametrize("overrides", [
    ["ema_decay=0", "learning_rate=0", "label_smoothing_factor=0", "weight_decay=0", "adam_beta1=0", "seed=4294967295"],
    ["num_train_epochs=0.01", "max_tokens=1", "gradient_accumulation_steps=1", "ema_decay=0.9999", "warmup_steps=0.1"],
    ["metric_for_best_model=chrf", "lr_scheduler_type=reduce_lr_on_plateau",
     "lr_scheduler_kwargs={min_lr: [1e-5, 1e-6]}"],
    ["metric_for_best_model=null", "lr_scheduler_type=polynomial", "warmup_steps=100000"],
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
