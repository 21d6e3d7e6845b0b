"""`seq2see train --dry-run` tells the truth about what would be trained, and touches nothing."""

import json
from pathlib import Path

import pytest
import yaml

from seq2see.training.arguments import Seq2SeeTrainingArguments
from .conftest import last_error, train


def test_a_dry_run_foretells_the_run(toy_file, tmp_path, monkeypatch, capsys):
    """The configuration, the size, the steps and the tokens are those of the training; nothing is written before."""
    monkeypatch.chdir(tmp_path)
    settings = [f"data.path={toy_file}", "training.output_dir=run", "training.num_train_epochs=1.5",
                "training.gradient_accumulation_steps=2", "training.cpu_processes=1"]
    assert train(settings[0], "--dry-run", *settings[1:]) == 0
    shown = capsys.readouterr().out
    assert list(Path().iterdir()) == []
    assert train(*settings) == 0
    assert yaml.safe_load(shown) == yaml.safe_load(Path("run/run.yaml").read_text("utf-8"))
    assert "# dry run, nothing was trained; the run in run would start\n" in shown
    assert train(settings[0], "--dry-run", *settings[1:]) == 0
    assert "this training would not start: run already contains a run" in capsys.readouterr().out
    training = json.loads(Path("run/metrics.json").read_text("utf-8"))["training"]
    assert f"# model: {training['parameters']:,} parameters ({training['parameters']:,} trained)" in shown
    assert training["steps"] and f"# steps: {training['steps']:,} (one batch each);" in shown
    assert f"an epoch of {training['pairs']:,} pairs has " in shown
    lines = shown.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("# pair ")]
    assert len(starts) == 3
    for start in starts:
        for language, (text, tokens) in (("en", lines[start + 1 : start + 3]), ("fr", lines[start + 3 : start + 5])):
            spelled = tokens[1:].replace(" ", "").removesuffix("</s>").removeprefix("<2fr>").replace("▁", " ")
            assert spelled.strip() == text.removeprefix("#   ") and ("<2fr>" in tokens) == (language == "fr")


def test_a_run_that_ends_within_its_warm_up_says_so_before_and_while_it_trains(toy_file, tmp_path, capsys):
    settings = [f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}", "training.cpu_processes=1"]
    remark = "the learning rate never reaches its peak: the training has 3 steps, the warm-up 3"
    for how in (["--dry-run"], []):
        assert train(*settings, "training.max_steps=3", "training.warmup_steps=3", *how) == 0
        assert remark in "".join(capsys.readouterr())


@pytest.mark.parametrize(("settings", "steps", "said"), [
    ({"warmup_steps": 200}, 200, True), ({"warmup_steps": 200}, 199, True), ({"warmup_steps": 200}, 201, False),
    ({"warmup_steps": 0.1}, 50, False), ({"warmup_steps": 0}, 50, False),
    ({"warmup_steps": 200, "lr_scheduler_type": "constant"}, 50, False),
    ({"warmup_steps": 200, "lr_scheduler_type": "linear"}, 50, True),
])
def test_only_a_run_that_ends_within_its_warm_up_says_so(tmp_path, settings, steps, said):
    assert bool(Seq2SeeTrainingArguments(output_dir=str(tmp_path), **settings).warm_up_remark(steps)) is said


def test_a_mistake_is_the_one_that_training_would_tell(toy_file, capsys):
    assert train(f"data.path={toy_file}", "training.lr_scheduler_type=steep", "--dry-run") == 2
    assert "training section: steep is not a valid" in last_error(capsys)
