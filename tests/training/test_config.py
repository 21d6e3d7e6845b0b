"""Configurations: every packaged one loads and explains itself, and every mistake is one line that names the mend."""

import re
from dataclasses import fields
from importlib import resources

import pytest
import yaml

from seq2see.errors import UserError
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.config import (
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    TokenizerConfig,
    load_config,
    packaged_names,
)

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


def test_resolved_config_reads_back_the_same(tmp_path):
    config = load_config("multi30k-en-de", ["training.seed=7", "data.target=[de, fr]"])
    (tmp_path / "run.yaml").write_text(config.to_yaml(), "utf-8")
    assert load_config(str(tmp_path / "run.yaml")) == config


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
    for section in ("data", "tokenizer", "model", "evaluation"):
        assert list(tree[section]) == list(DEFAULTS[section])
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
            assert line.startswith("#") or "# no default: " in line


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
        ("data.path=", "data.path is None .*expected str or list"),
        ("data=3", "data in storybook is 3, expected a section"),
        ("data.path.x=3", "data.path is a value, not a section|path is a value, not a section"),
        ("epochs", "'epochs' is not key=value"),
        ("model.d_model=[1", "is not YAML"),
    ],
)
def test_mistakes_name_the_mend(override, message):
    with pytest.raises(UserError, match=message) as caught:
        load_config("storybook", [override])
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_unknown_configuration_names_the_nearest(tmp_path):
    with pytest.raises(UserError, match="did you mean storybook"):
        load_config("storybok")
    with pytest.raises(UserError, match="xyz.*; known are finetune, ") as caught:
        load_config("xyz")
    assert str(caught.value).count("multi30k-en-de-fast") == 1
    (tmp_path / "list.yaml").write_text("[1, 2]")
    with pytest.raises(UserError, match="holds list"):
        load_config(str(tmp_path / "list.yaml"))
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(UserError, match="is not YAML"):
        load_config(str(tmp_path / "broken.yaml"))
