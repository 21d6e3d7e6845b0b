"""`seq2see train --dry-run` tells the truth about what would be trained, and touches nothing."""

import json
from pathlib import Path

import yaml

from .conftest import last_error, train


def test_a_dry_run_foretells_the_run(toy_file, tmp_path, monkeypatch, capsys):
    """The configuration, the size, the steps and the tokens are those of the training; nothing is written before."""
    monkeypatch.chdir(tmp_path)
    settings = [f"data.path={toy_file}", "training.output_dir=run", "training.num_train_epochs=1.5",
                "training.gradient_accumulation_steps=2", "training.cpu_processes=1"]  # fmt: skip
    assert train(settings[0], "--dry-run", *settings[1:]) == 0
    shown = capsys.readouterr().out
    assert list(Path().iterdir()) == []
    assert train(*settings) == 0
    assert yaml.safe_load(shown) == yaml.safe_load(Path("run/run.yaml").read_text("utf-8"))
    training = json.loads(Path("run/metrics.json").read_text("utf-8"))["training"]
    assert f"# model: {training['parameters']:,} parameters, of which {training['parameters']:,} are trained" in shown
    assert training["steps"] and f"# steps: {training['steps']:,}, each one batch;" in shown
    assert f"in an epoch of {training['pairs']:,} pairs" in shown
    lines = shown.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("# pair ")]
    assert len(starts) == 3
    for start in starts:
        for language, (text, tokens) in (("en", lines[start + 1 : start + 3]), ("fr", lines[start + 3 : start + 5])):
            spelled = tokens[1:].replace(" ", "").removesuffix("</s>").removeprefix("<2fr>").replace("▁", " ")
            assert spelled.strip() == text.removeprefix("#   ") and ("<2fr>" in tokens) == (language == "fr")


def test_a_mistake_is_the_one_that_training_would_tell(toy_file, capsys):
    assert train(f"data.path={toy_file}", "training.lr_scheduler_type=steep", "--dry-run") == 2
    assert "training section: steep is not a valid" in last_error(capsys)
