"""Freed memory of a training on a CPU: kept from step to step, given back from time to time.

Giving each step's buffers back to the kernel at once costs as much as the arithmetic, since every page has to be
faulted in again; never giving any back lets the heap fragment to gigabytes, because every batch has other shapes.  So
the C library is told to keep what is freed, and a callback hands back what lies idle, once in so many steps, or as soon
as the process has grown by so much: kernels that oneDNN makes for each new shape stay among the buffers, and the more
of them there are, the more of the heap do buffers wander through.

glibc only; elsewhere nothing happens.
"""

import ctypes
import mmap
import sys
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

IDLE_STEPS = 100  # between two givings back, which make the next step some 0.1 s longer
GROWN = 768 << 20  # bytes of memory more than after the last
# Parameters of mallopt in malloc.h, and what each is set to.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
KEPT = {M_TRIM_THRESHOLD: 1 << 30, M_TOP_PAD: 64 << 20, M_MMAP_THRESHOLD: 32 << 20}


def glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if library.mallopt and library.malloc_trim else None
    except (OSError, AttributeError):
        return None  # another C library


def keep_freed_memory() -> None:
    """From now on this process keeps what it frees; single buffers over 32 MiB excepted."""
    if library := glibc():
        for option, size in KEPT.items():
            library.mallopt(option, size)


def resident() -> int:
    """Bytes of memory that this process has now; Linux only."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


class GiveBack(TrainerCallback):
    """Gives idle pages back to the kernel after every IDLE_STEPS steps, and after GROWN bytes of growth."""

    def __init__(self) -> None:
        self.library = glibc()
        self.least = resident() if self.library else 0

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not self.library:
            return
        if state.global_step % IDLE_STEPS == 0 or resident() > self.least + GROWN:
            self.library.malloc_trim(0)
            self.least = resident()
