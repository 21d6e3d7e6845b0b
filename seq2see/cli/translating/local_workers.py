"""Processes that each translate with a small model, where Python's share of the work would keep one core busy."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import TypeVar

from seq2see.cli.translating.request import TranslationRequest
from seq2see.folders import weight_files
from seq2see.memory import available_memory
from seq2see.translate.devices import ctranslate2_device, usable_cores

SMALL = 400_000_000  # bytes of weights: each process has the model
BESIDE = 150_000_000  # bytes that a process takes besides

Load = Callable[[], TranslationRequest]
Item = TypeVar("Item")
Result = TypeVar("Result")

_loaded: list[TranslationRequest] = []  # in a process of the pool: its own


def process_count(request: TranslationRequest) -> int:
    """One for each core with a small model by CTranslate2 on a CPU; else 1, whose engine uses all cores."""
    translator = request.translator
    by_torch = request.alignments or translator.engine.name == "torch"
    if by_torch or ctranslate2_device(translator.device) != "cpu":
        return 1
    size = sum(path.stat().st_size for path in weight_files(translator.folder)) if translator.folder else 0
    return max(1, min(usable_cores(), available_memory() // (size + BESIDE))) if size <= SMALL else 1


@contextmanager
def work_in_processes(count: int, load: Load) -> Iterator[ProcessPoolExecutor]:
    """Processes that have loaded what is asked, for `in_process`; they end with this one, whatever ends it."""
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin, initargs=(load,)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def in_process(work: Callable[[TranslationRequest, Item], Result], item: Item) -> Result:
    """Do the work with what this process has loaded."""
    return work(_loaded[0], item)


def _begin(load: Load) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the process that writes
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _loaded.append(load())


def _end_with_parent() -> None:
    """A process of a pool whose parent was killed would wait for ever."""
    if parent := parent_process():
        parent.join()
    os._exit(1)
