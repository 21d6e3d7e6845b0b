"""All cores of a CPU at work: one process with one thread per core, which is faster than one process with several
threads (17.7 s instead of 22.6 for 50 steps).

Not with AMX: matrix products are then so short that communication costs more than it saves, and one process with two
threads is the faster one.

The processes train one model together, as under `torchrun`: each computes the gradients of its share of every batch.
The first is the one that was started; torch starts the others, which do the same and print nothing.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import parent_process

import torch
from accelerate.state import AcceleratorState
from accelerate.utils import patch_environment
from torch.distributed import TCPStore
from torch.multiprocessing.spawn import ProcessContext, ProcessException, start_processes

from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from ..translate.devices import usable_cores
from .arguments import Seq2SeeTrainingArguments
from .config import RunConfig
from .origin import model_type
from .progress import report
from .signals import ignore_signals

SHARE = 512  # tokens of a batch that are worth another process
MOST = 8
DYING = 10  # seconds that a process may take to end after the others have lost it
HOST = "127.0.0.1"
STARTED = "started"  # in the store: how many of the other processes have started
LOOPBACK = {"linux": "lo", "darwin": "lo0"}  # the network interface that no other machine reaches


def choose_count(config: RunConfig) -> int:
    """How many processes to train in; 1 on a GPU, and where torchrun or accelerate has chosen already."""
    if "RANK" in os.environ:
        return 1
    settings = config.training
    if not settings.get("use_cpu") and (torch.cuda.is_available() or torch.backends.mps.is_available()):
        return 1
    if config.model.init_from and model_type(resolve_folder(config.model.init_from)) != "seq2see":
        return settings.get("cpu_processes") or 1  # each would have all weights in memory
    batch = settings.get("max_tokens", Seq2SeeTrainingArguments.max_tokens)
    return settings.get("cpu_processes") or max(1, min(usable_cores() // best_threads(), batch // SHARE, MOST))


def best_threads() -> int:
    """How many threads are best for a process, if there are the cores: by the processor, as in `has_fast_bfloat16`."""
    return 2 if torch.cpu._is_amx_tile_supported() else 1


@contextmanager
def on_all_cores(config: RunConfig) -> Iterator[None]:
    """Inside, this process is the first of those that train `config` together.

    Raises UserError if one of the others ends early.
    """
    count = choose_count(config)
    if count == 1:
        yield
        return
    threads, threads_before = min(best_threads(), max(1, usable_cores() // count)), torch.get_num_threads()
    store = TCPStore(HOST, 0, is_master=True, wait_for_workers=False)  # port 0: any free one
    logging.getLogger(start_processes.__module__).setLevel(logging.ERROR)  # one line, `deaths_explained`, is enough
    report(f"starting {count} processes")
    with patch_environment(
        MASTER_ADDR=HOST, MASTER_PORT=store.port, WORLD_SIZE=count, LOCAL_WORLD_SIZE=count, RANK=0, LOCAL_RANK=0,
        OMP_NUM_THREADS=threads, PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="",
        GLOO_SOCKET_IFNAME=LOOPBACK.get(sys.platform, ""),
    ):
        others = start_processes(train_along, (count, config), nprocs=count - 1, join=False)
        try:
            torch.set_num_threads(threads)
            with deaths_explained(others):
                while store.add(STARTED, 0) < count - 1:  # counts; gloo would wait deaf to signals, and for the dead
                    others.join(timeout=0.1)  # raises if one has ended
                torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=count)
                yield
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
            AcceleratorState._reset_state(reset_partial_state=True)  # or it would say that this is one of several
            for process in others.processes:
                process.kill()
                process.join()
            torch.set_num_threads(threads_before)


@contextmanager
def deaths_explained(others: ProcessContext) -> Iterator[None]:
    """Inside, one line says what happened where another process has ended: gloo knows only a lost connection."""
    try:
        try:
            yield
        except (RuntimeError, OSError):
            others.join(timeout=DYING, grace_period=1)  # raises if one has ended
            raise
    except ProcessException as death:
        reason = str(death).strip().splitlines()[-1]
        raise UserError(
            f"a training process ended: {reason}; possibly out of memory; continue with training.resume=true, and"
            " with training.cpu_processes=1 if this happens again"
        ) from death


def train_along(index: int, count: int, config: RunConfig) -> None:
    """What every process but the first does: the same experiment.  Signals are the first one's business."""
    ignore_signals()
    threading.Thread(target=end_with_parent, daemon=True).start()
    rank = index + 1
    os.environ["RANK"] = os.environ["LOCAL_RANK"] = str(rank)
    store = TCPStore(HOST, int(os.environ["MASTER_PORT"]))
    store.add(STARTED, 1)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=count)
    import_module("seq2see.training.run").run_experiment(config)  # here, while the first one reads the data


def end_with_parent() -> None:
    """Once the first process is gone, training along is in vain."""
    if parent := parent_process():
        parent.join()
    os._exit(1)
