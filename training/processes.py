"""All cores of a CPU at work: one process of one thread for each, faster than one process of several threads (17.7 s
for 22.6 of 50 steps).  torchrun does the same for who asks for it.

Not with AMX: it makes matrix products so short that what processes tell each other costs more than they spare, and one
process of two threads is the faster one.

The processes train one model together, as under `torchrun`: each computes the gradients of its share of every batch.
The first is the one that was started; the others are started here, do as it does, and say nothing.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context, parent_process
from typing import Any

import torch
from accelerate.state import AcceleratorState
from torch.multiprocessing.spawn import ProcessContext, ProcessException, spawn

from seq2see.errors import UserError
from ..translate.devices import usable_cores
from .arguments import Seq2SeeTrainingArguments
from .config import RunConfig
from .progress import say
from .stopping import leave_signals_to_parent

SHARE = 512  # tokens of a batch that make another process worth its while
MOST = 8
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
    `has_fast_bfloat16`."""
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
        LOCAL_RANK="0", OMP_NUM_THREADS=str(threads), PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="",
    )
    if sys.platform in LOOPBACK:
        os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK[sys.platform]
    torch.set_num_threads(threads)
    say(f"starting {count} processes")
    ready = get_context("spawn").Semaphore(0)
    others = spawn(follow, (config, ready), nprocs=count - 1, join=False)
    try:
        for _ in others.processes:
            while not ready.acquire(timeout=1):
                if not all(process.is_alive() for process in others.processes):
                    raise RuntimeError("a process did not start")
        torch.distributed.init_process_group("gloo")
        yield
    except (RuntimeError, OSError) as error:
        reason = why_one_ended(others)
        if reason is None:
            raise
        raise UserError(
            f"a training process ended: {reason}; possibly out of memory; go on by training.resume=true, with"
            " training.cpu_processes=1 if it happens again"
        ) from error
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        AcceleratorState._reset_state(reset_partial_state=True)
        for process in others.processes:
            process.kill()
            process.join()
        os.environ.clear()
        os.environ.update(before)
        torch.set_num_threads(threads_before)


def why_one_ended(processes: ProcessContext) -> str | None:
    """What became of the first that has ended, or does so soon."""
    try:
        processes.join(timeout=DYING, grace_period=1)
    except ProcessException as error:
        return str(error).strip().splitlines()[-1]
    return None


def follow(index: int, config: RunConfig, ready: Any) -> None:
    """What every process but the first does: the same experiment.  Signals are the first one's business."""
    leave_signals_to_parent()
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ["RANK"] = os.environ["LOCAL_RANK"] = str(index + 1)
    gc.freeze()  # what was imported is never garbage, and a training has the collector look for some
    ready.release()
    torch.distributed.init_process_group("gloo")
    import_module("seq2see.training.run").run_experiment(config)  # which imports this module


def end_with_parent() -> None:
    """Once the first process is gone, training along is in vain."""
    if parent := parent_process():
        parent.join()
    os._exit(1)
