"""The complete checkpoints of a run, also while it trains."""

import re
from pathlib import Path

LAST_WRITTEN = "trainer_state.json"  # of a checkpoint; until it exists, the checkpoint is incomplete
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def checkpoints(folder: Path | None) -> dict[int, Path]:
    """The checkpoint folders of a run, or beside a checkpoint, by step in ascending order."""
    if folder is None:
        return {}
    run = folder.parent if CHECKPOINT.fullmatch(folder.name) else folder
    whole = [file.parent for file in run.glob(f"checkpoint-*/{LAST_WRITTEN}")]
    return dict(sorted((int(named[1]), one) for one in whole if (named := CHECKPOINT.fullmatch(one.name))))
