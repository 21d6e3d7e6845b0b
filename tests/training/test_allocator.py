"""Freed memory stays with the process while it trains, and goes back in between.  A process for each script."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from seq2see.training.allocator import IDLE_STEPS, GiveBack, glibc

pytestmark = pytest.mark.skipif(glibc() is None, reason="the C library here is not glibc")


SETUP = """
import os, resource, psutil, torch
from types import SimpleNamespace
from seq2see.training.allocator import *
"""
FAULTS = """
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        [torch.ones(5_000_000) for _ in range(4)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
glibc().mallopt(M_MMAP_THRESHOLD, 128 << 10)  # what glibc begins with, and raises by itself as it sees fit
print(faults())
keep_freed_memory()
faults()
print(faults())
"""
AFTER_STEPS = """
keep_freed_memory()
def resident():
    return psutil.Process().memory_info().rss >> 20
buffers = [torch.ones(1_000_000) for _ in range(100)]
last = torch.ones(1_000_000)  # above them in the heap, which can so not shrink from its end
print(resident())
del buffers
for step in (IDLE_STEPS - 1, IDLE_STEPS):
    GiveBack().on_step_end(None, SimpleNamespace(global_step=step), None)
    print(resident())
"""
MANY = """
keep_freed_memory()
give_back = GiveBack()
def resident():
    return psutil.Process().memory_info().rss >> 20
def given_back_of(megabytes):
    buffers = [torch.ones(1_000_000) for _ in range(megabytes // 4)]
    last = torch.ones(1_000_000)
    del buffers
    before = resident()
    give_back.on_step_end(None, SimpleNamespace(global_step=1), None)
    return before - resident()
print(given_back_of(600))
print(given_back_of(1000))
in_use = [torch.ones(1_000_000) for _ in range(220)]
give_back.on_step_end(None, SimpleNamespace(global_step=1), None)
print(given_back_of(400))
"""


@pytest.fixture(scope="module")
def figures() -> list[list[int]]:
    """What each script prints, in a child of one process that has imported torch, and computed nothing."""
    fork = f"""
for script in {[FAULTS, AFTER_STEPS, MANY]!r}:
    if os.fork() == 0:
        exec(script)
        print(flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", SETUP + fork], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return [[int(figure) for figure in part.split()] for part in done.stdout.split("\n\n")[:3]]


def test_freed_buffers_are_not_faulted_in_again(figures):
    given_back, kept = figures[0]
    assert given_back > 20 * 1000  # 80 MB are 19,500 pages, fewer if the kernel gives them out in larger ones
    assert kept < given_back / 20


def test_idle_pages_go_back_after_so_many_steps(figures):
    full, before, after = figures[1]
    assert before > full - 20
    assert after < full - 350


def test_idle_pages_go_back_as_soon_as_there_are_many(figures):
    few, many, few_again = figures[2]
    assert few < 50  # not yet GROWN
    assert many > 900
    assert few_again < 50  # what is in use is no growth, once it has been looked at


def test_where_there_is_no_glibc_nothing_happens(monkeypatch):
    monkeypatch.setattr("seq2see.training.allocator.glibc", lambda: None)
    GiveBack().on_step_end(None, SimpleNamespace(global_step=IDLE_STEPS), None)
