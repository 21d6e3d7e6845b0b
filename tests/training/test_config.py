"""Configurations: every packaged one loads and explains itself, and every mistake is one line that names the mend."""

import re
import subprocess
import sys
from dataclasses import fields
from importlib import resources

import pytest
import yaml

from seq2see.cli.parser import recipes
from seq2see.errors import UserError
from seq2see.pretrained import NAMES, home_of
from seq2see.training.config import (
    DataConfig,
    EvaluationConfig,
    GenerationSection,
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
    "generation": GenerationSection, "training": TrainingFields,
}
DEFAULTS = {section: {item.name: item.default for item in fields(cls)} for section, cls in SECTIONS.items()}


def test_overrides_lie_over_the_file_and_what_is_resolved_reads_back_the_same(tmp_path):
    """Types follow the field; a section may have no lines."""
    path = tmp_path / "mine.yaml"
    path.write_text("data: {path: storybook}\ntraining:\n  # seed: 1\n", "utf-8")
    config = load_config(str(path), ["training.learning_rate=1e-4", "data.target=[de, fr]", "name=other"])
    assert (config.training["learning_rate"], config.data.targets, config.name) == (1e-4, ["de", "fr"], "other")
    path.write_text(config.to_yaml(), "utf-8")
    assert load_config(str(path)) == config


def test_a_setting_that_is_gone_is_a_key_like_any_other(tmp_path):
    """There was no public release before, whose files could have it."""
    for key in ("data.on_bad=skip", "data.teacher=x", "tokenizer.bpe_dropout=0", "evaluation.pairs=7", "sections=1"):
        with pytest.raises(UserError, match=f"^{key.partition('=')[0]} in storybook: unknown key"):
            load_config("storybook", [key])


def test_the_record_of_an_older_run_may_have_a_shortlist(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("data: {path: storybook}\ngeneration: {shortlist: 64, num_beams: 3}\n", "utf-8")
    assert load_record(path).generation.num_beams == 3
    with pytest.raises(UserError, match="shortlist"):
        load_config("storybook", ["generation.shortlist=64"])


@pytest.mark.parametrize("name", NAMES)
def test_the_record_of_a_packaged_model_has_the_present_keys(name):
    """What continues, evaluates or calibrates it reads its settings there."""
    assert load_record(home_of(name) / "run.yaml").training["seed"] is not None


@pytest.mark.parametrize("name", packaged_names())
def test_a_recipe_says_what_it_is_for_and_only_what_differs(name):
    """And the command's help lists it."""
    assert load_config(name).name == name and f"  {name} " in recipes()
    text = resources.files("seq2see.configs").joinpath(f"{name}.yaml").read_text("utf-8")
    assert re.match(rf"# [A-Z].*\.\n#   seq2see train {name}", text)
    for section, keys in yaml.safe_load(text).items():
        for key, value in keys.items():
            assert value != DEFAULTS[section].get(key), f"{name}: {section}.{key}"


def test_the_reference_is_what_is_generated_and_its_values_are_the_defaults():
    text = resources.files("seq2see.configs").joinpath("reference.yaml").read_text("utf-8")
    assert text == reference(), "python -m seq2see.training.reference"
    assert {section: list(keys.items()) for section, keys in yaml.safe_load(text).items()} == {
        section: list(keys.items()) for section, keys in DEFAULTS.items()
    }
    build_arguments(load_config("reference", ["data.path=storybook"]))


@pytest.mark.parametrize(("override", "message"), [
    ("data.pth=x", "data.pth in .*: unknown key; did you mean data.path"),
    ("modle.d_model=3", "^modle in .*: unknown key; did you mean model"),
    ("training.lerning_rate=1", "training.lerning_rate in .*: unknown key; did you mean training.learning_rate"),
    ("model.d_model=wide", 'model.d_model in storybook is "wide", expected a whole number'),
    ("model.dropout=true", "model.dropout in storybook is true, expected a number"),
    ("tokenizer.vocab_size=null", "tokenizer.vocab_size in storybook is null, expected a whole number"),
    ("data.on_invalid=ignore", "data.on_invalid in .* is \"ignore\", expected 'error' or 'skip'"),
    ("data.target=en", "data.target is en, expected languages other than en"),
    ("data.val_fraction=2", "data.val_fraction in .* is 2, expected below 1"),
    ("generation.num_beams=65", "generation.num_beams in .* is 65, expected at most 64"),
    ("generation.length_penalty=nan", 'generation.length_penalty in .* is "nan", expected a number'),
    ("data.path=", "storybook has no data.path; add it"),
    ("epochs", "'epochs' is not key=value"),
    ("model.d_model=[1", "is not YAML"),
    ("model.init_share=0.5", "model.init_share is 0.5, but no model is given"),
    ("training.cpu_processes=-1", "training.cpu_processes in .* is -1, expected at least 0"),
    ("training.ema_decay=1", "training.ema_decay in .* is 1, expected below 1"),
    ("training.learning_rate=.nan", "training.learning_rate in .* is NaN, expected a finite number"),
    ("training.seed=4294967296", "training.seed in .* is 4294967296, expected at most 4294967295"),
    ("training.metric_for_best_model=accuracy", "metric_for_best_model in .*, expected 'loss', 'bleu' or 'chrf'"),
    ("training.report_to=tensorbord", "training section: tensorbord .*only .*tensorboard"),
    ("training.per_device_train_batch_size=8", "training.per_device_train_batch_size .* no effect: .*max_tokens"),
    ("training.resume_from_checkpoint=x", "no effect: use training.resume=true"),
    ("model.init_from=runs/x", "model.encoder_layers .* no effect with .*; omit encoder_layers, "),
    ("training.resume=perhaps", "training.resume in .* is \"perhaps\", expected true or false or 'force'"),
    ("data.path=5", "data.path in .* is 5, expected a text or a list, such as"),
    ("data.path=[a, 5]", r"data.path\[1\] in .* is 5, expected a text"),
    ("data=5", "data in storybook is 5, expected key: value lines"),
    ("training=[1]", r"training in storybook is \[1\], expected key: value lines"),
    ("name=3", "name in storybook is 3, expected a text"),
    ("training.patience=3 training.eval_strategy=no", "patience=3 needs evaluations .* eval_strategy=no .*patience=0"),
    ("training.patience=3 training.load_best_model_at_end=false training.metric_for_best_model=null",
     "patience=3 .* metric_for_best_model=None"),
    ("training.load_best_model_at_end=true training.eval_strategy=no", "load_best_model_at_end requires .* eval strat"),
    ('data.path="\\ud800"', "storybook has a lone surrogate"),
])
def test_mistakes_name_the_mend(override, message):
    with pytest.raises(UserError, match=message) as caught:
        build_arguments(load_config("storybook", re.split(r" (?=training\.)", override)))
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


@pytest.mark.parametrize(("lines", "overrides"), [
    ("patience: 3", ["training.eval_strategy=no"]),
    ("eval_strategy: no", []),
    ("patience: 3, load_best_model_at_end: true", ["training.eval_strategy=no", "training.patience=0"]),
])
def test_without_evaluations_what_a_recipe_says_of_them_is_off(lines, overrides, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"data: {{path: storybook}}\ntraining: {{{lines}}}\n", "utf-8")
    config = load_config(str(path), overrides)
    arguments = build_arguments(config)
    assert (arguments.patience, arguments.load_best_model_at_end) == (0, False)
    path.write_text(config.to_yaml(), "utf-8")
    assert load_config(str(path)) == config


def test_what_lies_at_the_edge_is_taken():
    overrides = ["ema_decay=0", "learning_rate=0", "label_smoothing_factor=0", "seed=4294967295", "max_tokens=1",
                 "num_train_epochs=0.01", "warmup_steps=0.1", "lr_scheduler_type=reduce_lr_on_plateau",
                 "metric_for_best_model=chrf", "lr_scheduler_kwargs={min_lr: [1e-5, 1e-6]}"]
    build_arguments(load_config("storybook", [f"training.{item}" for item in overrides]))


@pytest.mark.parametrize("arguments", [
    ["storybok"], ["finetune", "model.init_from=FOLDER"], ["storybook", "data.path=nowhere.tsv"],
    ["storybook", "training.output_dir=RUN"],
])
def test_what_is_wrong_is_told_before_anything_heavy_is_imported(arguments, tmp_path):
    code = "import sys\nfrom seq2see.cli.command import main\nprint(main(sys.argv[1:]), 'torch' in sys.modules)"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.yaml").touch()
    arguments = [item.replace("FOLDER", str(tmp_path)).replace("RUN", str(tmp_path / "run")) for item in arguments]
    command = [sys.executable, "-c", code, "train", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.split() in (["1", "False"], ["2", "False"])
    assert done.stderr.startswith("seq2see: error: ") and done.stderr.count("\n") == 1


def test_a_model_to_start_from_keeps_the_type_of_its_vocabulary(tmp_path):
    asked = ["model.init_from=runs/x", "data.path=storybook"]
    config = load_config("finetune", asked)
    (tmp_path / "run.yaml").write_text(config.to_yaml(), "utf-8")
    assert load_record(tmp_path / "run.yaml") == config
    with pytest.raises(UserError, match="tokenizer.model_type in finetune has no effect with model.init_from"):
        load_config("finetune", [*asked, "tokenizer.model_type=unigram"])
