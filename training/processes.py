"""All cores of a CPU at work: one process of one thread for each, faster than one process of several threads (17.7 s
for 22.6 of 50 steps).  torchrun does the same for who asks for it, with a traceback for each process that ends.

Not with AMX: it makes matrix products so short that what processes tell each other costs more than they spare, and one
process of two threads is the faster one.

The processes train one model together, as under `torchrun`: each computes the gradients of its share of every batch.
The first is the one that was started; the others are started here, do as it does, and say nothing.
"""

import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from accelerate.state import AcceleratorState

from seq2see.cores import usable_cores
from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .config import RunConfig
from .progress import say

SHARE = 512  # tokens of a batch that make another process worth its while
MOST = 8
FOLLOW = "import gc; gc.disable(); from seq2see.training.follower import follow; follow()"
DYING = 10  # seconds that a process may take to end after the others have lost it
LOOPBACK = {"linux": "lo", "darwin": "lo0"}  # the network interface that no other machine reaches


def choose_count(config: RunConfig) -> int:
    """How many processes to train in; 1 on a GPU, and where torchrun or accelerate has chosen already."""
    if "RANK" in os.environ:
        return 1
    settings = config.training
    if not settings.get("use_cpu") and (torch.cuda.is_available() or torch.backends.mps.is_available()):
        return 1
    batch = settings.get("max_tokens", Seq2SeeTrainingArguments.max_tokens)
    return settings.get("cpu_processes") or max(1, min(usable_cores() // best_threads(), batch // SHARE, MOST))


def best_threads() -> int:
    """How many threads a process is best given, if there are the cores: told by what the processor is, as in
    `has_fast_bfloat16`.
    """
    return 2 if torch.cpu._is_amx_tile_supported() else 1


@contextmanager
def on_all_cores(config: RunConfig) -> Iterator[None]:
    """Inside, this process is the first of those that train `config` together.

    Raises UserError where one of the others ends before its time.
    """
    count = choose_count(config)
    if count == 1:
        yield
        return
    before, threads_before = dict(os.environ), torch.get_num_threads()
    threads = min(best_threads(), max(1, usable_cores() // count))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count), RANK="0",
        LOCAL_RANK="0", OMP_NUM_THREADS=str(threads),
    )
    if sys.platform in LOOPBACK:
        os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK[sys.platform]
    torch.set_num_threads(threads)
    others: list[subprocess.Popen[bytes]] = []
    say(f"starting {count} processes")
    try:
        others += (start_follower(config, rank) for rank in range(1, count))
        for other in others:
            if not (other.stdout and other.stdout.readline()):  # a line when it is ready, nothing when it has died
                raise RuntimeError("a process did not start")
        torch.distributed.init_process_group("gloo")
        yield
    except (RuntimeError, OSError) as error:
        reason = why_one_ended(others)
        if reason is None:
            raise
        raise UserError(
            f"a training process {reason}; go on by training.resume=true, with training.cpu_processes=1 if it happens"
            " again"
        ) from error
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        AcceleratorState._reset_state(reset_partial_state=True)
        for other in others:
            with other:
                other.kill()
        os.environ.clear()
        os.environ.update(before)
        torch.set_num_threads(threads_before)


def start_follower(config: RunConfig, rank: int) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", FOLLOW],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("SEQ2SEE_DEBUG") else subprocess.DEVNULL,
        env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)},
    )
    assert process.stdin
    pickle.dump(config, process.stdin)
    process.stdin.flush()  # and left open: it closes when this process ends, however it ends
    return process


def why_one_ended(processes: Sequence["subprocess.Popen[bytes]"]) -> str | None:
    """What became of the first that has ended, or does so soon."""
    deadline = time.monotonic() + DYING
    while time.monotonic() < deadline:
        for process in processes:
            if code := process.poll():
                said = process.stdout.read().decode().strip() if process.stdout else ""
                killed = "killed: " if code < 0 else ""
                return f"ended with code {code} ({said or f'{killed}possibly out of memory'})"
        time.sleep(0.05)
    return None
