"""One thread: for processor time that nothing else disturbs, and for training that ends the same everywhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch computes on one thread inside: how many there are decides in which order sums are made, and so their last
    bits, of which some hundred steps of training make other weights."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def least_seconds(run: Callable[[], object], times: int) -> float:
    """The least processor time of several runs on one thread: whatever disturbs a run can only add to it."""
    seconds = []
    with one_thread():
        for _ in range(times):
            begun = time.process_time()
            run()
            seconds.append(time.process_time() - begun)
    return min(seconds)
