"""Names of models: which of them are folders here.  Imports nothing heavy."""

import re
from importlib.resources import files
from pathlib import Path

from seq2see.errors import UserError

RUNS = "runs"  # where `seq2see train` puts a run, below the folder it is called in


def local_folder(name: str | Path) -> Path | None:
    """The folder of that name, or None where it can only be a Hub id such as `org/model`.

    A name that begins with a folder here, or with `runs/`, is a path, and is never looked for on the Hub.

    Raises:
        UserError: there is no such folder, and the Hub could have no model of that name.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"{name} is a file; expected the folder of a checkpoint")
    ours = folder.parts[:1] == (RUNS,)
    if ours or folder.parent.is_dir() or not re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)):
        recipe = folder.name if ours and (files("seq2see.configs") / f"{folder.name}.yaml").is_file() else "storybook"
        raise UserError(
            f"there is no folder {name}; give the folder of a trained model, or train one: seq2see train {recipe}"
        )
    return None
