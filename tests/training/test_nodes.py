"""Training on two nodes, which are two agents of torchrun on one machine: the weights are those of two processes of one
node, also where a node is killed and started again."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from seq2see.errors import UserError
from seq2see.training import resuming
from .conftest import SETTINGS, SHAPE
from .test_kills import RANDOM


@pytest.mark.parametrize("seen", [["checkpoint-3", "none"], ["checkpoint-3", "checkpoint-6"]])
def test_processes_that_see_different_checkpoints_are_told(monkeypatch, tmp_path, seen):
    """As on machines that do not share the folder; else they would wait for each other for ever."""
    monkeypatch.setattr(resuming, "gather_object", lambda names: [*names, seen[1]])
    with pytest.raises(UserError, match=f"{', '.join(seen)}.*; give a training.output_dir that all machines share"):
        resuming.check_agreement(tmp_path / seen[0], tmp_path)
    resuming.check_agreement(tmp_path / seen[1], tmp_path)


@pytest.fixture
def start(toy_file, tmp_path):
    """Starts what trains a run, its output in a file; ends what a failed test leaves."""
    begun = []

    def make(run: Path, *launcher: str, name: str = "log"):
        command = [sys.executable, "-m", *launcher, "seq2see", "train", "finetune", "--no-measures", *SHAPE, *SETTINGS,
                   *RANDOM, f"data.path={toy_file}", f"training.output_dir={run}"]
        environment = {**os.environ, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
        with (tmp_path / name).open("ab") as log:
            begun.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        return begun[-1]

    yield make
    for process in begun:
        if process.poll() is None:
            kill(process)


def kill(process: subprocess.Popen) -> None:
    """A node: the agent, and the process that trains, which would train on without it."""
    for one in [*psutil.Process(process.pid).children(recursive=True), process]:
        one.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform != "linux", reason="gloo between processes")
def test_two_nodes_train_as_two_processes_also_after_one_was_killed(start, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def node(run: Path, number: int):
        agent = ("torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--max-restarts", "3",
                 "--rdzv-id", run.name, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "-m")
        return start(run, *agent, name=f"{run.name}-{number}.log")

    def ended(*processes) -> None:
        assert [process.wait() for process in processes] == [0] * len(processes), logs()

    def logs() -> str:
        return "\n".join(path.read_text("utf-8", "replace")[-2000:] for path in tmp_path.glob("*.log"))

    one, two, first, second = (tmp_path / name for name in ("one", "two", "first", "second"))
    ended(start(one, "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"))
    ended(*[node(two, number) for number in (0, 1)])
    for run, killed in ((second, 1), (first, 0)):
        nodes = [node(run, 0)]
        wait_for(lambda nodes=nodes: is_listening(port) or nodes[0].poll() is not None)  # others join it
        nodes.append(node(run, 1))
        wait_for(lambda run=run, nodes=nodes: (run / "checkpoint-6").is_dir() or nodes[0].poll() is not None)
        kill(nodes[killed])
        if killed == 0:  # the others lose what they have joined, and end: all are started again
            assert nodes[1].wait() != 0
            nodes = [node(run, number) for number in (0, 1)]
        else:
            nodes[1] = node(run, 1)
        ended(*nodes)
        assert "resuming from" in (tmp_path / f"{run.name}-0.log").read_text("utf-8", "replace")
    weights = (one / "model.safetensors").read_bytes()
    assert all((run / "model.safetensors").read_bytes() == weights for run in (two, first, second)), logs()


def wait_for(condition) -> None:
    while not condition():
        time.sleep(0.05)


def is_listening(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
