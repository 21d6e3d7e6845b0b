"""The faults that the tests must notice, by the folder in which they are planted: see `tests/seed_faults.py`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    tests: str = "tests/modeling"
