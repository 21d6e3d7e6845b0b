"""What is shown while training: loss, target tokens per second and the time left, on lines or in TensorBoard."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from seq2see.training import pace
from seq2see.training.pace import Pace
from seq2see.training.pairs import Pair
from seq2see.training.progress import Progress
from seq2see.training.translation import SMALL_PART, translate_pairs
from .conftest import last_error, train

TRAINING_LINE = r"step (\d+)/6  loss [\d.]+  .*target_tokens_per_second [\d,.]+  epoch [\d.]+(  \d+:\d\d:\d\d left)?"


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(pace, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    return now


def test_pace_leaves_evaluating_and_saving_out_and_the_time_left_does_not(clock, capsys):
    pace, state = Pace(), SimpleNamespace(global_step=0, max_steps=10, is_world_process_zero=True)
    pace.on_train_begin(None, state, None)

    def train_step(tokens, seconds):
        clock.seconds += seconds
        pace.tokens += tokens
        state.global_step += 1
        pace.on_step_end(None, state, None)

    train_step(100, 2)
    train_step(60, 6)
    assert pace.rate() == 20
    clock.seconds += 30
    pace.on_evaluate(None, state, None)
    train_step(70, 1)
    clock.seconds += 2
    pace.on_save(None, state, None)
    train_step(30, 1)
    assert pace.rate() == 50
    pace.on_log(None, state, None, {"loss": 1.0})
    assert capsys.readouterr().err == "step 4/10  loss 1  0:01:03 left\n"  # 42 seconds for four steps


@pytest.mark.long
def test_a_trainer_goes_on_from_the_times_of_its_checkpoint(make_trainer):
    settings = {"save_strategy": "steps", "save_steps": 2, "eval_strategy": "steps", "eval_steps": 1, "patience": 9}
    trainer = make_trainer(**settings)
    trainer.train()
    checkpoint = Path(trainer.args.output_dir) / "checkpoint-4"
    state = json.loads((checkpoint / "trainer_state.json").read_text("utf-8"))
    state["stateful_callbacks"]["Pace"]["attributes"] |= {"before": 2000.0}
    (checkpoint / "trainer_state.json").write_text(json.dumps(state), "utf-8")
    resumed = make_trainer(**settings, save_total_limit=9)
    resumed.train(resume_from_checkpoint=str(checkpoint))
    log = resumed.state.log_history
    assert log[-1]["train_runtime"] // 1000 == 2 and log[-1].keys() == {"train_runtime", "epoch", "step"}


def test_the_tokens_counted_are_the_labels_of_each_step(make_trainer, monkeypatch):
    counted: list[int] = []
    monkeypatch.setattr(Pace, "rate", lambda pace: counted.append(int(pace.tokens)) or 1.0)
    trainer = make_trainer(num_train_epochs=1, max_steps=-1, gradient_accumulation_steps=3)
    trainer.train()
    assert counted[-1] == sum(len(trainer.train_dataset[index].labels) for index in range(len(trainer.train_dataset)))


def test_without_a_terminal_each_log_is_one_line(make_trainer, capsys):
    make_trainer(logging_steps=2, eval_strategy="steps", eval_steps=3).train()
    lines = capsys.readouterr().err.splitlines()
    training = [re.fullmatch(TRAINING_LINE, line) for line in lines if "  loss " in line]
    assert [match and match[1] for match in training] == ["2", "4", "6"]
    assert [bool(match and match[2]) for match in training] == [True, True, False]  # at the end nothing is left
    evaluations = [line for line in lines if "eval_loss" in line]
    assert [line.split("  ")[0] for line in evaluations] == ["step 3/6", "step 6/6"]
    assert len(lines) == 6  # and the summary


def test_the_first_line_comes_before_torch():
    code = "import sys\nsys.modules['torch'] = None\nfrom seq2see.cli.command import main\nmain(['train', 'storybook'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[0] == "run folder runs/storybook; loading PyTorch and transformers"
    assert "torch" in done.stderr.splitlines()[1]


def test_tensorboard_has_every_figure_of_the_log(toy_file, tmp_path, capsys, monkeypatch):
    run = tmp_path / "run"
    settings = [f"data.path={toy_file}", f"training.output_dir={run}", "training.report_to=tensorboard",
                "training.logging_steps=2"]
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
    ):
        found = [(event.step, event.value) for event in curves.Scalars(tag)]
        assert len(found) >= 2
        assert found == [(row["step"], pytest.approx(row[key], rel=1e-5)) for row in log if key in row]


# --- scoring


def test_progress_is_silent_for_some_seconds():
    stream, now = io.StringIO(), [0.0]
    stream.isatty = lambda: True
    progress = Progress("scoring", 10, "pairs", after=3, stream=stream, clock=lambda: now[0])
    for seconds, said in ((1.0, False), (2.9, False), (4.0, True)):
        now[0] = seconds
        progress.advance(2)
        assert bool(stream.getvalue()) is said
    assert stream.getvalue() == "\r\x1b[Kscoring: 6 of 10 pairs, 1.5 pairs/s, 0:00:03 left"


def test_titled_translations_are_the_same_in_small_parts():
    sizes = []

    def translator(sources, **languages):
        sizes.append(len(sources))
        return [SimpleNamespace(text=f"{text} {languages['target']}") for text in sources]

    pairs = [Pair(f"a {i}", "b", "en", "fr" if i % 3 else "de") for i in range(3 * SMALL_PART)]
    plain = translate_pairs(translator, pairs)
    assert len(sizes) == 2 and translate_pairs(translator, pairs, title="scoring") == plain
    assert max(sizes[2:]) == SMALL_PART and sum(sizes[2:]) == len(pairs)
