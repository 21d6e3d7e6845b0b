"""Processor time of a step, measured so that what else the machine does counts as little as possible."""

import time
from collections.abc import Callable

import torch


def least_seconds(run: Callable[[], object], times: int) -> float:
    """The least processor time of several runs on one thread: whatever disturbs a run can only add to it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds = []
        for _ in range(times):
            begun = time.process_time()
            run()
            seconds.append(time.process_time() - begun)
        return min(seconds)
    finally:
        torch.set_num_threads(threads)
