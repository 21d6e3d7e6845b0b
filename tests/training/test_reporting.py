"""Curves for TensorBoard: everything that is logged, at its step; and one line where it cannot be."""

import json

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.training.config import load_config
from seq2see.training.run import build_arguments

SETTINGS = [
    "--no-measures",
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.max_tokens=300", "training.num_train_epochs=2",
    "training.use_cpu=true", "training.logging_steps=2", "training.report_to=tensorboard", "training.cpu_processes=1",
    "evaluation.eval_samples=10", "evaluation.max_length=20", "evaluation.num_beams=1", "data.val_fraction=0.1",
]  # fmt: skip


def test_tensorboard_has_every_figure_of_the_log(toy_file, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["train", "finetune", *SETTINGS, f"data.path={toy_file}", f"training.output_dir={run}"]) == 0
    (events,) = run.glob("runs/*")
    curves = EventAccumulator(str(events)).Reload()
    log = json.loads((run / "metrics.json").read_text("utf-8"))["training"]["log"]
    for tag, key in (
        ("train/loss", "loss"), ("train/learning_rate", "learning_rate"), ("eval/loss", "eval_loss"),
        ("train/target_tokens_per_second", "target_tokens_per_second"), ("eval/bleu", "eval_bleu"),
        ("eval/chrf", "eval_chrf"),
    ):
        found = [(event.step, event.value) for event in curves.Scalars(tag)]
        assert len(found) >= 2
        assert found == [(row["step"], pytest.approx(row[key], rel=1e-5)) for row in log if key in row]
    assert "Traceback" not in capsys.readouterr().err


def test_a_missing_package_is_one_line_that_names_it(toy_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("transformers.integrations.integration_utils.is_tensorboard_available", lambda: False)
    run = tmp_path / "run"
    assert main(["train", "finetune", *SETTINGS, f"data.path={toy_file}", f"training.output_dir={run}"]) == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert "training section: TensorBoardCallback requires tensorboard to be installed" in line
    assert not run.exists()


def test_an_unknown_reporter_is_wrong_use(tmp_path):
    with pytest.raises(UserError, match="training section: tensorbord .*only .*tensorboard") as refused:
        build_arguments(load_config("storybook", ["training.report_to=tensorbord"]), tmp_path)
    assert refused.value.exit_code == 2
