"""Compares two sides' records: numbers within 1e-5, everything else exactly; and knows which differences are meant."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np
import yaml

TOLERANCE = 1e-5
MEANT = Path(__file__).with_name("differences.yaml")
MISSING = "<no such record>"


@dataclass(frozen=True)
class Difference:
    """Where two records first part, and both values there."""

    key: str
    before: str
    now: str
    meant: str | None  # the pattern of differences.yaml that names it


class Plain:
    """Stands for an object of a class of the side's own: what it was made of and what it holds."""

    held: list[Any]

    def __new__(cls, *args: Any) -> "Plain":
        made = super().__new__(cls)
        made.held = list(args)
        return made

    def __setstate__(self, state: Any) -> None:
        self.held.append(state)


class Records(pickle.Unpickler):
    """Reads the records of either side without its code."""

    def find_class(self, module: str, name: str) -> Any:
        return Plain if module.partition(".")[0] == "seq2see" else super().find_class(module, name)


def read_records(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    with file.open("rb") as opened:
        return dict(Records(opened).load())


def compare(section: str, before: Path, now: Path, meant: list[str]) -> tuple[int, list[Difference]]:
    """How many records a section has, and those that differ."""
    first, second = read_records(before), read_records(now)
    found = []
    for key in dict.fromkeys([*first, *second]):
        parts = next(differing(first.get(key, MISSING), second.get(key, MISSING)), None)
        if parts is not None:
            where, *values = parts
            name = f"{section}/{key}"
            pattern = next((one for one in meant if fnmatchcase(name, one)), None)
            found.append(Difference(f"{name} {where}".rstrip(), *map(shown, values), pattern))
    return len(first | second), found


def differing(a: Any, b: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The places where two values differ."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            yield where, f"{a.dtype}{a.shape}", f"{b.dtype}{b.shape}"
        elif not np.allclose(a, b, atol=TOLERANCE, rtol=1e-3 if a.dtype == np.float16 else 0, equal_nan=True):
            place = np.unravel_index(np.nanargmax(np.abs(a.astype(float) - b.astype(float))), a.shape)
            yield f"{where}{list(map(int, place))}", a[place], b[place]
    elif isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from differing(a.get(key, MISSING), b.get(key, MISSING), f"{where}.{key}")
        if list(a) != list(b) and set(a) == set(b):
            yield f"{where} order", list(a), list(b)
    elif isinstance(a, float) and isinstance(b, float):
        if not np.isclose(a, b, atol=TOLERANCE, rtol=0, equal_nan=True):
            yield where, a, b
    elif isinstance(a, Plain) and isinstance(b, Plain):
        yield from differing(a.held, b.held, where)
    elif isinstance(a, list | tuple) and type(a) is type(b) and len(a) == len(b):
        for number, pair in enumerate(zip(a, b, strict=True)):
            yield from differing(*pair, f"{where}[{number}]")
    elif isinstance(a, str) and isinstance(b, str) and a != b:
        same = len(commonprefix([a, b]))
        start = max(a.rfind("\n", 0, same) + 1, same - 50)
        line = a.count("\n", 0, same) + 1
        yield f"{where} line {line}", a[start:], b[start:]
    elif type(a) is not type(b) or a != b:
        yield where, a, b


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


def read_meant() -> list[str]:
    """The patterns of `section/key` whose differences are meant, each of which has a reason."""
    entries = yaml.safe_load(MEANT.read_text("utf-8")) or []
    assert all(entry.keys() == {"records", "reason"} and entry["reason"] for entry in entries), f"read {MEANT}"
    return [entry["records"] for entry in entries]
