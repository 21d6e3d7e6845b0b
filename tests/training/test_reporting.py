"""Curves for TensorBoard: everything that is logged, at its step; and one line where it cannot be."""

import json

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from .conftest import last_error, train


def test_tensorboard_has_every_figure_of_the_log(toy_file, tmp_path, capsys, monkeypatch):
    run = tmp_path / "run"
    settings = [f"data.path={toy_file}", f"training.output_dir={run}", "training.report_to=tensorboard",
                "training.logging_steps=2"]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr("transformers.integrations.integration_utils.is_tensorboard_available", lambda: False)
        assert train(*settings) == 2 and not run.exists()
        assert "training section: TensorBoardCallback requires tensorboard to be installed" in last_error(capsys)
    assert train(*settings) == 0
    (events,) = run.glob("runs/*")
    curves = EventAccumulator(str(events)).Reload()
    log = json.loads((run / "metrics.json").read_text("utf-8"))["training"]["log"]
    for tag, key in (
        ("train/loss", "loss"), ("train/target_tokens_per_second", "target_tokens_per_second"),
        ("eval/loss", "eval_loss"), ("eval/bleu", "eval_bleu"),
    ):  # fmt: skip
        found = [(event.step, event.value) for event in curves.Scalars(tag)]
        assert len(found) >= 2
        assert found == [(row["step"], pytest.approx(row[key], rel=1e-5)) for row in log if key in row]
