"""The roles that `seq2see heads RUN --json RUN/heads.json` measured, read for badges beside the maps.

Only roles that may be claimed, of these very weights: a figure of other weights says nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .kinds import KINDS, Kind

FILE = "heads.json"  # beside the run it was measured on


@dataclass(frozen=True)
class HeadRole:
    """A role that a head plays, with its score on held-out sentences, the 95 % interval, what the best of its baselines
    gets, and whether the head was trained with gold links."""

    role: str
    score: float
    low: float
    high: float
    baseline: float
    supervised: bool = False

    def __str__(self) -> str:
        taught = "; supervised: this head was trained with gold links" if self.supervised else ""
        return (f"{self.role}: {self.score:.0%} of its attention [{self.low:.0%}, {self.high:.0%}]"
                f", {self.baseline:.0%} without knowing anything{taught}")


Roles = Mapping[tuple[Kind, int, int], tuple[HeadRole, ...]]


def read_roles(path: Path, *, weights: str) -> Roles:
    """The roles of each head that has one; none where the file is of other weights, or damaged."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["weights"] != weights:
            return {}
        found = {
            (head[0], int(head[1]), int(head[2])): tuple(
                HeadRole(str(one["role"]), float(one["score"]), float(one["low"]), float(one["high"]),
                         max(float(one[name] or 0) for name in ("uniform", "positional", "rival")),
                         row.get("supervised") is True)
                for one in row["roles"]
            )
            for row in report["heads"] if (head := row["head"])
        }  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}
    return {head: roles for head, roles in found.items() if roles and head[0] in KINDS}


@dataclass(frozen=True)
class Apart:
    """How well the model tells *il* from *elle* with the average of a head in its place, by head; `whole`: with every
    head.  0.5 is chance, 1 always right; measured on so many held-out `pronouns`."""

    heads: Mapping[tuple[Kind, int, int], float]
    whole: float
    pronouns: int


def read_apart(path: Path, *, weights: str) -> Apart | None:
    """None where the file is of other weights, or damaged."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["weights"] != weights:
            return None
        heads = {(row["head"][0], int(row["head"][1]), int(row["head"][2])): float(row["apart"][0])
                 for row in report["heads"]}
        return Apart(heads, float(report["whole"]["apart"][0]), int(report["pronouns"]["test"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
