"""Trainings that are killed at random moments or sent signals, in one process and in two that train together.

Each is `seq2see train` in a process of its own, forked from one of multiprocessing's that has imported this module.
"""

import os
import random
import signal
import sys
import time
from functools import partial, update_wrapper
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest
import torch
from torch.multiprocessing.spawn import start_processes

from seq2see.errors import UserError
from seq2see.folders import numbered
from seq2see.training import processes
from seq2see.training.checkpoints import newest_intact_checkpoint
from seq2see.training.config import ModelConfig
from seq2see.training.processes import on_all_cores
from .conftest import train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks after importing torch")

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([__name__])
A_SAVE = 0.05  # seconds, approximately
RANDOM = [  # everything that resuming has to bring back: averages (see SETTINGS), dropout, joined texts, the best
    "model.dropout=0.3", "data.joined=0.5", "training.eval_strategy=steps", "training.eval_steps=3",
    "training.save_strategy=steps", "training.save_steps=3", "training.load_best_model_at_end=true",
    "training.num_train_epochs=2", "evaluation.eval_samples=5", "generation.max_length=12", "training.resume=true",
]


def command(words: list[str], log: Path) -> None:
    """`seq2see train` as the first process of a group, its output in a file."""
    os.setsid()
    redirect(log)
    start_by("fork")
    sys.exit(train(*words))


def start_by(method: str) -> None:
    """The processes that train along are started so: those that are forked import nothing again."""
    processes.start_processes = update_wrapper(partial(start_processes, start_method=method), start_processes)


def redirect(log: Path) -> None:
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)


@pytest.fixture
def start(toy_file, tmp_path):
    """Starts or resumes the training of this folder; ends what a failed test leaves."""
    processes = []

    def make(run: Path, *settings: str):
        words = [f"data.path={toy_file}", f"training.output_dir={run}", *RANDOM, *settings]
        processes.append(FORKS.Process(target=command, args=(words, run.with_suffix(".log"))))
        processes[-1].start()
        return processes[-1]

    yield make
    for process in processes:
        process.kill()


def wait_for(folder: Path, process, *, pause: float) -> None:
    while process.is_alive() and not folder.is_dir():
        time.sleep(pause)


def test_killed_at_random_moments_it_ends_with_the_same_weights(start, tmp_path):
    """Killed inside saves, and at any moment, start and end included; pytest-randomly prints the seed."""
    whole, run = tmp_path / "whole", tmp_path / "run"
    imported = FORKS.Process(target=int)
    imported.start()
    imported.join()
    began = time.perf_counter()
    start(whole).join()
    seconds, kills = time.perf_counter() - began, 0
    for within in (A_SAVE, seconds, A_SAVE):
        process = start(run)
        if within == A_SAVE:
            wait_for(run / ".saving", process, pause=0.0003)
        process.join(random.uniform(0, within))
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
    last = start(run, "training.dataloader_num_workers=2")
    last.join()
    log = (tmp_path / "run.log").read_text("utf-8")
    assert kills and last.exitcode == 0, log
    for name in ("model.safetensors", f"{numbered(whole)[0].name}/raw_weights.safetensors"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), log


def test_two_processes_stop_together(start, tmp_path):
    """At Ctrl-C, which the terminal sends to both: the first alone hears of it."""
    run = tmp_path / "run"
    first = start(run, "training.cpu_processes=2", "training.num_train_epochs=1000")
    wait_for(run / "checkpoint-3", first, pause=A_SAVE)
    others = processes_of(first)
    os.killpg(first.pid, signal.SIGINT)
    first.join(60)
    log = (tmp_path / "run.log").read_text("utf-8")
    assert first.exitcode == 130, log
    assert others and not psutil.wait_procs(others, timeout=60)[1]
    checkpoint, passed_over = newest_intact_checkpoint(run)
    assert checkpoint and not passed_over and "Traceback" not in log
    assert "SIGINT: stopping after this step, with a checkpoint" in log
    assert log.splitlines()[-1].startswith("stopped; to continue, ")


class Pausing:
    """A configuration with which the processes that train along do not hear of the first for long."""

    def __init__(self, processes: int) -> None:
        self.training = {"use_cpu": True, "cpu_processes": processes}
        self.model = ModelConfig()

    @property
    def output(self) -> None:
        time.sleep(600)


def first_of(count: int, log: Path, start_method: str) -> None:
    """The first of some processes: it waits for the others."""
    redirect(log)
    start_by(start_method)
    os.environ.pop("RANK", None)
    try:
        with on_all_cores(Pausing(count)):
            torch.distributed.barrier()
    except UserError as error:
        print(error, flush=True)


@pytest.mark.parametrize(("count", "killed", "start_method"), [
    (2, 0, "fork"),
    pytest.param(2, 0, "spawn", marks=pytest.mark.long), pytest.param(3, 2, "spawn", marks=pytest.mark.long),
])
def test_all_end_with_the_first_or_another_and_one_line_says_why(tmp_path, count, killed, start_method):
    log = tmp_path / "log"
    first = FORKS.Process(target=first_of, args=(count, log, start_method))
    first.start()
    while len(others := processes_of(first)) < count - 1 or not all(is_connected(other) for other in others):
        assert first.is_alive()
        time.sleep(0.1)
    os.kill([first, *others][killed].pid, signal.SIGKILL)
    first.join(30)
    assert not first.is_alive() and not psutil.wait_procs(others, timeout=60)[1]
    said = log.read_text("utf-8").splitlines()
    assert len(said) == 1 + bool(killed), said
    if killed:
        assert said[1].startswith("a training process ended: process 1 terminated with signal SIGKILL")
        assert "training.resume=true" in said[1] and "training.cpu_processes=1" in said[1]


def processes_of(first) -> list[psutil.Process]:
    """Those that train along, not multiprocessing's own helper."""
    return [child for child in psutil.Process(first.pid).children() if "resource_tracker" not in str(child.cmdline())]


def is_connected(process: psutil.Process) -> bool:
    return any(one.status == psutil.CONN_ESTABLISHED for one in process.net_connections("tcp"))
