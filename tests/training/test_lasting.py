"""Interrupted training: whole checkpoints, exact resumption, one clear line."""

import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from transformers import Seq2SeqTrainer

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.training import checkpoints
from seq2see.training.checkpoints import newest_intact_checkpoint
from seq2see.training.guided_alignment import GuidedTrainer
from tests.full_disk import files_of_at_most
from .conftest import last_error, train


def send(*numbers: int):
    return lambda: [os.kill(os.getpid(), number) for number in numbers]


@pytest.fixture
def toy(toy_file, tmp_path):
    """The command, into a folder of that name."""
    return lambda name, *overrides: command(toy_file, tmp_path / name, *overrides)


def command(toy_file: Path, run: Path, *overrides: str) -> tuple[int, Path]:
    return train(
        f"data.path={toy_file}", f"training.output_dir={run}", "training.max_tokens=700", "training.warmup_steps=4",
        "training.num_train_epochs=3", "training.patience=0", "model.dropout=0.3", *overrides,
    ), run


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


# Checkpoints

def test_a_full_disk_leaves_the_earlier_checkpoints(make_trainer, at):
    """The second save comes to a file that may not grow."""
    with ExitStack() as full:
        at(3, lambda: full.enter_context(files_of_at_most(10_000)))
        trainer = make_trainer(save_strategy="steps", save_steps=2, save_total_limit=1)
        folder = Path(trainer.args.output_dir)
        with pytest.raises(UserError, match="could not write .*checkpoint-4 .*training.resume=true.*File too large"):
            trainer.train()
    assert [item.name for item in folder.iterdir()] == ["checkpoint-2"]
    assert newest_intact_checkpoint(folder) == (folder / "checkpoint-2", [])


@pytest.mark.long
def test_a_run_folder_that_is_moved_away_is_one_line_and_goes_on_there(make_trainer, tmp_path, at):
    moved = tmp_path / "moved"
    at(3, lambda: (tmp_path / "run").rename(moved))
    settings = {"save_strategy": "steps", "save_steps": 2, "eval_strategy": "steps", "eval_steps": 2, "dropout": 0.3,
                "load_best_model_at_end": True}
    with pytest.raises(UserError, match="checkpoint-4 .*No such file or directory"):
        make_trainer(**settings).train()
    assert not (tmp_path / "run").exists()
    at(0, None)
    whole, resumed = make_trainer(**settings), make_trainer(**settings, output_dir=str(moved))
    whole.train()
    checkpoint, _ = newest_intact_checkpoint(moved)
    resumed.train(resume_from_checkpoint=str(checkpoint))
    assert resumed.state.best_model_checkpoint.startswith(str(moved))
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_weights_that_are_not_finite_are_never_saved(make_trainer):
    trainer = make_trainer(save_strategy="steps", save_steps=2)
    save = trainer._save_checkpoint

    def spoiled(*args):
        if trainer.state.global_step == 4:
            next(trainer.model.parameters()).data[0, 0] = float("inf")
        save(*args)

    trainer._save_checkpoint = spoiled
    with pytest.raises(UserError, match="checkpoint-4 was not written, .*not finite"):
        trainer.train()
    assert [item.name for item in Path(trainer.args.output_dir).iterdir()] == ["checkpoint-2"]


def test_two_private_methods_of_transformers_are_overridden_and_no_more():
    ours = [kind for kind in GuidedTrainer.__mro__ if kind.__module__.startswith("seq2see.")]
    overridden = {name for kind in ours for name in vars(kind) if name.startswith("_") and not name.startswith("__")
                  and hasattr(Seq2SeqTrainer, name)}
    assert len(ours) == 3 and overridden == {"_run_epoch", "_save_checkpoint"}


def test_two_trainings_do_not_share_a_folder(toy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checkpoints, "LINGER", 0)
    (tmp_path / "run").mkdir()
    with FileLock(tmp_path / "run" / ".lock"):
        assert toy("run")[0] == 1
    assert last_error(capsys).startswith(f"seq2see: error: another training is writing to {tmp_path / 'run'}")


# Signals


@pytest.fixture(scope="module")
def uninterrupted(toy_file, tmp_path_factory) -> Path:
    code, run = command(toy_file, tmp_path_factory.mktemp("whole") / "run")
    assert code == 0
    return run


def evaluations_of(run: Path) -> list[tuple[int, float]]:
    log = json.loads((run / "metrics.json").read_text("utf-8"))["training"]["log"]
    return [(row["step"], row["eval_loss"]) for row in log if "eval_loss" in row]


@pytest.mark.few(1)
@pytest.mark.parametrize(("where", "number", "code"), [
    ("within an epoch", signal.SIGINT, 130), ("at the end of an epoch", signal.SIGTERM, 143),
])
def test_a_signal_saves_and_says_how_to_go_on_and_the_end_is_the_same(
    toy, at, capfd, uninterrupted, tmp_path, where, number, code
):
    an_epoch = evaluations_of(uninterrupted)[0][0]
    step = 2 * an_epoch - 1 - (where == "within an epoch")  # it is heeded in the step after this one
    at(step, send(number))
    try:
        assert toy("run")[0] == code
    except SystemExit as stopped:
        assert stopped.code == code
    said = capfd.readouterr().err
    assert "stopping after this step, with a checkpoint" in said and "stopped; to continue, " in said.splitlines()[-1]
    at(0, None)
    newest = tmp_path / "run" / f"checkpoint-{step + 1}"
    assert said.endswith(f"open {newest}\n") and Translator.from_pretrained(newest)
    with pytest.raises(UserError, match=f"run has not finished; .*training.resume=true, or use .*, {newest}$"):
        Translator.from_pretrained(tmp_path / "run")
    done, folder = toy("run", "training.resume=true")
    assert done == 0
    assert f"resuming from {folder}/checkpoint-{step + 1}\n" in capfd.readouterr().err
    assert weights(folder) == weights(uninterrupted)
    assert evaluations_of(folder) == evaluations_of(uninterrupted)


def test_the_second_signal_stops_at_once(make_trainer, at):
    at(2, send(signal.SIGINT, signal.SIGINT))
    trainer = make_trainer()
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.train()
    assert trainer.state.global_step == 2
    assert not list(Path(trainer.args.output_dir).glob("checkpoint-*"))
    assert signal.getsignal(signal.SIGINT) is handler


# Going on

@pytest.mark.long
def test_a_run_that_had_ended_takes_no_further_step(make_trainer):
    trainer = make_trainer(save_strategy="steps", save_steps=6, max_steps=6)
    trainer.train()
    before = [parameter.clone() for parameter in trainer.model.parameters()]
    resumed = make_trainer(save_strategy="steps", save_steps=6, max_steps=6)
    resumed.train(resume_from_checkpoint=f"{trainer.args.output_dir}/checkpoint-6")
    assert resumed.state.global_step == 6
    assert all(torch.equal(*both) for both in zip(before, resumed.model.parameters(), strict=True))


def test_evaluations_without_a_gain_are_counted_over_an_interruption(make_trainer, capsys):
    settings = {
        "patience": 3, "eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1,
        "max_steps": 50, "load_best_model_at_end": True, "learning_rate": 0.0, "save_total_limit": None,
    }
    trainer = make_trainer(**settings)
    trainer.train()
    *lines, end = capsys.readouterr().err.splitlines()
    assert any(line.startswith("stopping early, at step 4: 3 evaluations without a better loss") for line in lines)
    assert " left" not in end
    for step in (3, 4):
        resumed = make_trainer(**settings)
        resumed.train(resume_from_checkpoint=f"{trainer.args.output_dir}/checkpoint-{step}")
        assert resumed.state.global_step == trainer.state.global_step == 4


@pytest.mark.long
def test_a_run_that_was_trained_without_patience_may_be_resumed_with_it(make_trainer):
    settings = {"eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1,
                "load_best_model_at_end": True, "learning_rate": 0.0, "save_total_limit": None}
    make_trainer(**settings, max_steps=2).train()
    resumed = make_trainer(**settings, max_steps=50, patience=3)
    resumed.train(resume_from_checkpoint=f"{resumed.args.output_dir}/checkpoint-2")
    assert resumed.state.global_step == 5 and resumed.state.stateful_callbacks["EarlyStopping"]


# Batches that would spoil the weights

def spoil(trainer, steps, factor):
    """Has the loss of these steps multiplied."""
    plain = trainer._loss_sum

    def spoiled(*args, **kwargs):
        loss, count, outputs = plain(*args, **kwargs)
        wrong = trainer.model.training and trainer.state.global_step + 1 in steps
        return loss * factor if wrong else loss, count, outputs

    trainer._loss_sum = spoiled


def test_a_bad_loss_stops_and_says_where(make_trainer):
    trainer = make_trainer(save_strategy="steps", save_steps=2, max_steps=8)
    spoil(trainer, {7}, float("nan"))
    with pytest.raises(UserError, match="step 7, after 1.2 epochs: the gradient is nan.*resume=true"):
        trainer.train()
    newest, _ = newest_intact_checkpoint(Path(trainer.args.output_dir))
    assert newest is not None and newest.name == "checkpoint-6"


def test_a_bad_batch_that_is_left_out_changes_neither_weights_nor_average(make_trainer):
    saves = {"save_strategy": "steps", "save_steps": 1, "save_total_limit": None}
    trainer = make_trainer(on_bad_loss="skip", ema_decay=0.9, weight_decay=0.1, **saves)
    spoil(trainer, {3, 5}, float("inf"))
    trainer.train()
    folder = Path(trainer.args.output_dir)
    for name in ("model.safetensors", "raw_weights.safetensors"):
        files = [(folder / f"checkpoint-{step}" / name) for step in range(1, 7)]
        same = [one.read_bytes() == other.read_bytes() for one, other in zip(files, files[1:], strict=False)]
        assert same == [False, True, False, True, False]
    assert [row["step"] for row in trainer.state.log_history if "left_out" in row] == [3, 5]


def test_an_infinite_gradient_never_reaches_the_weights(make_trainer):
    """Of a loss that is finite, as an overflow on the way back gives."""
    trainer = make_trainer(on_bad_loss="skip", max_steps=4)
    weight = next(trainer.model.parameters())
    weight.register_hook(lambda gradient: gradient * float("inf") if trainer.state.global_step == 1 else gradient)
    trainer.train()
    assert all(parameter.isfinite().all() for parameter in trainer.model.parameters())
    [left_out] = [row for row in trainer.state.log_history if "left_out" in row]
    assert left_out["step"] == 2 and left_out["left_out"].startswith("the gradient is ")
