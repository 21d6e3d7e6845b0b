"""Trainings that are killed at random moments or sent signals, in one process and in two that train together.

Each is `seq2see train` in a process of its own, forked from one of multiprocessing's that has imported this module.
"""

import os
import random
import signal
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from seq2see.training.checkpoints import newest_intact_checkpoint, numbered
from .conftest import train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks after importing torch")

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([__name__])
A_SAVE = 0.05  # seconds, approximately
RANDOM = [  # everything that resuming has to bring back: averages (see SETTINGS), dropout, joined texts, the best
    "model.dropout=0.3", "data.joined=0.5", "training.eval_strategy=steps", "training.eval_steps=3",
    "training.save_strategy=steps", "training.save_steps=3", "training.load_best_model_at_end=true",
    "evaluation.eval_samples=5", "evaluation.max_length=12", "training.resume=true",
]  # fmt: skip


def command(words: list[str], log: Path) -> None:
    """`seq2see train` as the first process of a group, its output in a file."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.exit(train(*words))


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


def wait_for(folder: Path, process) -> None:
    while process.is_alive() and not folder.is_dir():
        time.sleep(0.0003)


def test_killed_at_random_moments_it_ends_with_the_same_weights(start, tmp_path):
    """Killed inside saves, and at any moment, start and end included; pytest-randomly prints the seed."""
    whole, run = tmp_path / "whole", tmp_path / "run"
    began = time.perf_counter()
    start(whole).join()
    seconds, kills = time.perf_counter() - began, 0
    for inside_a_save in (True, False, True, False):
        process = start(run)
        if inside_a_save:
            wait_for(run / ".saving", process)
        process.join(random.uniform(0, A_SAVE if inside_a_save else seconds))
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
    last = start(run, "training.dataloader_num_workers=2")
    last.join()
    log = (tmp_path / "run.log").read_text("utf-8")
    assert kills and last.exitcode == 0, log
    for name in ("model.safetensors", f"{numbered(whole)[0].name}/raw_weights.safetensors"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), log


@pytest.mark.parametrize(("number", "to_all", "code"), [
    (signal.SIGINT, True, 130), (signal.SIGTERM, False, 143), (signal.SIGKILL, False, -signal.SIGKILL),
])  # fmt: skip
def test_two_processes_stop_together(start, tmp_path, number, to_all, code):
    """At Ctrl-C, which the terminal sends to both; at SIGTERM to the first alone; and when the first is killed."""
    run = tmp_path / "run"
    first = start(run, "training.cpu_processes=2", "training.num_train_epochs=1000")
    wait_for(run / "checkpoint-3", first)
    others = psutil.Process(first.pid).children(recursive=True)
    assert any("spawn_main" in " ".join(other.cmdline()) for other in others)
    (os.killpg if to_all else os.kill)(first.pid, number)
    first.join(60)
    log = (tmp_path / "run.log").read_text("utf-8")
    assert first.exitcode == code, log
    assert not psutil.wait_procs(others, timeout=15)[1]
    checkpoint, passed_over = newest_intact_checkpoint(run)
    assert checkpoint and not passed_over and "Traceback" not in log
    if number != signal.SIGKILL:
        assert f"{number.name}: stopping after this step, with a checkpoint" in log
        assert log.splitlines()[-1].startswith("stopped; to continue, ")
