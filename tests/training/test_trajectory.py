"""One trajectory: the same weights whatever the accumulation, the number of processes, or an interruption."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.multiprocessing.spawn import start_processes
from torch.nn import functional as F

from seq2see.training import processes
from .conftest import SETTINGS, SHAPE, last_error, train

STEPS = [
    "training.max_tokens=250", "training.num_train_epochs=2", "training.warmup_steps=4", "training.patience=0",
    "training.save_strategy=steps", "training.save_steps=3", "training.save_total_limit=9", "training.bf16=false",
    "training.eval_strategy=steps", "training.eval_steps=3", "training.learning_rate=0.003",
]
# Adam would turn the rounding error in gradients that are zero (of key biases) into full steps.
SGD = ["training.optim=sgd", "training.learning_rate=0.5", "model.dropout=0"]


@pytest.fixture
def run(toy_file, tmp_path):
    """Trains into a folder of that name, and gives it."""
    def make(name: str, *overrides: str) -> Path:
        settings = [*STEPS, f"data.path={toy_file}", f"training.output_dir={tmp_path / name}", *overrides]
        assert train(*settings) == 0
        return tmp_path / name

    return make


def losses(trainer) -> list[float]:
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def assert_same_weights(one: dict, other: dict, *, exactly: bool = False) -> None:
    assert one.keys() == other.keys()
    for name in one:
        tolerance = {"rtol": 0, "atol": 0} if exactly else {"rtol": 1e-4, "atol": 2e-5}
        torch.testing.assert_close(one[name], other[name], **tolerance)


def weights(folder: Path) -> dict:
    return load_file(folder / "model.safetensors")


@pytest.mark.long
def test_eight_by_one_two_by_four_and_one_by_eight_follow_one_trajectory(make_trainer):
    """Optimizer SGD, so that a wrong scale of the gradient shows in full; label smoothing on."""
    runs = []
    for accumulation in (1, 4, 8, 13):  # 13: more micro-batches than some batches have pairs
        trainer = make_trainer(
            gradient_accumulation_steps=accumulation, optim="sgd", learning_rate=0.5, label_smoothing_factor=0.1
        )
        runs.append((losses(trainer), trainer.model.state_dict()))
    assert runs[0][0][0] > runs[0][0][-1]
    for history, state in runs[1:]:
        assert history == pytest.approx(runs[0][0], rel=1e-5)
        assert_same_weights(runs[0][1], state)


def test_loss_is_smoothed_cross_entropy_per_token_at_real_positions(make_trainer):
    """Against the definition, written out: -(1-e) log p(y) - e mean log p, averaged over labels that are not -100."""
    trainer = make_trainer(label_smoothing_factor=0.2)
    inputs = trainer.collate([trainer.train_dataset[index] for index in range(5)])
    log_p = F.log_softmax(trainer.model(**{k: v for k, v in inputs.items() if k != "labels"}).logits, dim=-1)
    real = (inputs["labels"] != -100).nonzero().tolist()
    assert len(real) < inputs["labels"].numel()
    total = -sum(0.8 * log_p[b, t, inputs["labels"][b, t]] + 0.2 * log_p[b, t].mean() for b, t in real)
    torch.testing.assert_close(trainer.compute_loss(trainer.model, inputs), total / len(real))
    torch.testing.assert_close(trainer.compute_loss(trainer.model, inputs, num_items_in_batch=7), total / 7)


@pytest.mark.long
def test_one_process_and_two_give_the_same_model_by_torchrun_and_one_speaks(run, toy_file, tmp_path):
    """Processes of their own, whose sets have another order."""
    settings = [*SGD, "training.max_steps=6", "training.logging_steps=1"]
    two = tmp_path / "two"
    launched = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
         "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1", "-m", "seq2see", "train", "finetune", "--no-measures",
         *SHAPE, *SETTINGS, *STEPS, *settings, f"data.path={toy_file}", f"training.output_dir={two}"],
        capture_output=True, text=True, timeout=250, env={**os.environ, "PYTHONHASHSEED": "12345"},
    )
    assert launched.returncode == 0, launched.stderr[-3000:]
    said = [re.match(r"step \d/6  \w+|\w*", line)[0] for line in launched.stderr.splitlines()]
    steps = [f"step {step}/6  {what}" for step in range(1, 7) for what in ("loss", "eval_loss")[: 1 + (step % 3 == 0)]]
    assert said == ["run", "reading", "180", "vocabulary", "model", *steps, "step 6/6  train_runtime", "finished"]
    assert "training on 2 x cpu" in launched.stderr
    assert [line.split()[0] for line in launched.stdout.splitlines()] == [str(two), "translated", "BLEU", "chrF2"]
    one = run("one", *settings)
    assert_same_weights(weights(one), weights(two))
    assert (one / "tokenizer.json").read_bytes() == (two / "tokenizer.json").read_bytes()
    first, second = (json.loads((folder / "metrics.json").read_text("utf-8")) for folder in (one, two))
    assert first["evaluation"]["val"] == second["evaluation"]["val"]
    curves = [[row["eval_loss"] for row in each["training"]["log"] if "eval_loss" in row] for each in (first, second)]
    assert len(curves[0]) == 2 and curves[1] == pytest.approx(curves[0], rel=1e-5)


@pytest.mark.long
def test_processes_of_our_own_give_the_same_model_too_though_one_is_killed(run, at, toy_file, tmp_path, capsys,
                                                                          monkeypatch):
    """Two processes: the second is killed, which ends the first; the run is resumed in one, as the advice has
    it, to the weights of a run that one process did alone."""
    settings = [*SGD, "training.load_best_model_at_end=false"]
    one, two, started, before = run("one", *settings), tmp_path / "two", [], dict(os.environ)
    capsys.readouterr()

    def start(*args, **kwargs):
        started.append(start_processes(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(processes, "start_processes", start)
    at(5, lambda: started[0].processes[0].kill())
    where = [f"data.path={toy_file}", f"training.output_dir={two}"]
    assert train(*STEPS, *where, *settings, "training.cpu_processes=2") == 1
    line = last_error(capsys)
    assert line.startswith("seq2see: error: a training process ended: process 0 terminated with signal")
    assert "training.cpu_processes=1" in line
    assert dict(os.environ) == before and not torch.distributed.is_initialized()
    states = [torch.load(two / "checkpoint-3" / f"rng_state_{rank}.pth", weights_only=False)["cpu"] for rank in (0, 1)]
    assert not torch.equal(*states)  # each process draws dropout masks of its own
    at(0, None)
    run("two", *settings, "training.resume=true")
    said = capsys.readouterr().err
    assert f"resuming from {two}/checkpoint-3" in said and "number of processes: 2 before, 1 now" in said
    assert_same_weights(weights(one / "checkpoint-3"), weights(two / "checkpoint-3"))
    assert_same_weights(weights(one), weights(two))


def test_resuming_is_exact_to_the_bit(run, tmp_path):
    """With dropout, texts joined in each epoch, Muon and an average; from within the first epoch, and the second."""
    settings = ["model.dropout=0.3", "data.joined=0.5", "training.optim=muon", "training.muon_lr_scale=2"]
    whole = run("whole", *settings)
    last = max(int(folder.name.rpartition("-")[2]) for folder in whole.glob("checkpoint-*"))
    assert last > 6
    for step in (3, 6):
        shutil.copytree(whole / f"checkpoint-{step}", tmp_path / f"{step}" / f"checkpoint-{step}")
        resumed = run(f"{step}", *settings, "training.resume=true")
        for name in ("model.safetensors", "raw_weights.safetensors"):
            ends = (load_file(folder / f"checkpoint-{last}" / name) for folder in (resumed, whole))
            assert_same_weights(*ends, exactly=True)


def test_the_same_seed_gives_the_same_weights_and_another_others(run):
    """Dropout on."""
    settings = ["model.dropout=0.3", "training.max_steps=3"]
    one, again, other = run("one", *settings), run("again", *settings), run("other", *settings, "training.seed=1")
    assert (one / "model.safetensors").read_bytes() == (again / "model.safetensors").read_bytes()
    assert any(not torch.equal(weights(other)[name], weight) for name, weight in weights(one).items())
