"""The checkpoints of a run, whole ones alone: while it trains, and as many as it kept."""

import re
from pathlib import Path

LAST_WRITTEN = "trainer_state.json"  # of a checkpoint; without it one is still being written
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def checkpoints(folder: Path | None) -> dict[int, Path]:
    """The checkpoint folders beside or below a run's folder by their step, first to last."""
    if folder is None:
        return {}
    run = folder.parent if CHECKPOINT.fullmatch(folder.name) else folder
    whole = [file.parent for file in run.glob(f"checkpoint-*/{LAST_WRITTEN}")]
    return dict(sorted((int(named[1]), one) for one in whole if (named := CHECKPOINT.fullmatch(one.name))))
