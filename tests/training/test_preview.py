"""`seq2see train --dry-run` tells the truth about what would be trained, and touches nothing."""

import json
from pathlib import Path

import pytest
import yaml

from seq2see.cli.command import main
from seq2see.training.preview import visible

SETTINGS = [
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=2", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.max_tokens=300", "training.num_train_epochs=1.5",
    "training.use_cpu=true", "training.gradient_accumulation_steps=2", "training.cpu_processes=1",
    "training.save_strategy=no", "training.eval_strategy=no", "training.patience=0",
    "training.load_best_model_at_end=false",
    "evaluation.eval_samples=10", "evaluation.max_length=20", "evaluation.num_beams=1", "data.val_fraction=0.1",
]  # fmt: skip


@pytest.fixture
def settings(toy_file, tmp_path, monkeypatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return [*SETTINGS, f"data.path={toy_file}", "training.output_dir=run"]


def test_a_dry_run_foretells_the_run(settings, capsys):
    """The configuration, the size and the steps are those that the training then has; nothing is written before."""
    assert main(["train", "finetune", *settings, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert list(Path().iterdir()) == []
    assert main(["train", "finetune", *settings]) == 0
    assert yaml.safe_load(shown) == yaml.safe_load(Path("run/run.yaml").read_text("utf-8"))
    training = json.loads(Path("run/metrics.json").read_text("utf-8"))["training"]
    assert f"# model: {training['parameters']:,} parameters, of which {training['parameters']:,} are trained" in shown
    assert f"# steps: {training['steps']:,}, each one batch;" in shown
    assert f"in an epoch of {training['pairs']:,} pairs" in shown
    assert "# steps: 0" not in shown
    capsys.readouterr()
    assert main(["train", "finetune", *settings, "--dry-run"]) == 0
    assert capsys.readouterr().out == shown


def test_examples_are_pieces_of_their_text(settings, capsys):
    assert main(["train", "finetune", "--dry-run", *settings]) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("# pair ")]
    assert len(starts) == 3
    for start in starts:
        for language, (text, pieces) in (("en", lines[start + 1 : start + 3]), ("fr", lines[start + 3 : start + 5])):
            spelled = pieces[1:].replace(" ", "").removesuffix("</s>").removeprefix("<2fr>").replace("▁", " ")
            assert spelled.strip() == text.removeprefix("#   ")
            assert ("<2fr>" in pieces) == (language == "fr")


def test_settings_may_stand_on_either_side_of_the_option(settings, capsys):
    assert main(["train", "finetune", settings[0], "--dry-run", *settings[1:], "model.dropout=0.25"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["model"]["dropout"] == 0.25
    with pytest.raises(SystemExit) as stopped:
        main(["train", "finetune", "--dry-run", "--fast", "model.dropout=0.25"])
    assert stopped.value.code == 2
    assert "unrecognized arguments: --fast" in capsys.readouterr().err


def test_a_mistake_is_the_one_that_training_would_tell(settings, capsys):
    assert main(["train", "finetune", *settings, "training.lr_scheduler_type=steep", "--dry-run"]) == 2
    assert "training section: steep is not a valid" in capsys.readouterr().err


def test_an_example_stays_on_its_line():
    assert visible("l'\u00e9t\u00e9\n#\u200d") == "l'\u00e9t\u00e9\\n#\\u200d"
