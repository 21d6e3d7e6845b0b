"""The checkpoints of a run, whole ones alone: while it trains, and as many as it kept."""

import re
from pathlib import Path

LAST_WRITTEN = "trainer_state.json"  # of a checkpoint; without it one is still being written


def checkpoints(folder: Path | None) -> dict[int, Path]:
    """The checkpoint folders beside or below a run's folder by their step, first to last."""
    if folder is None:
        return {}
    run = folder.parent if _step(folder) is not None else folder
    found = {step: one for one in run.glob("checkpoint-*") if (step := _step(one)) is not None
             and (one / LAST_WRITTEN).is_file() and (one / "config.json").is_file()}
    return dict(sorted(found.items()))


def _step(folder: Path) -> int | None:
    named = re.fullmatch(r"checkpoint-(\d+)", folder.name)
    return int(named[1]) if named else None
