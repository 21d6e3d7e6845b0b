"""Where a checkpoint is: a folder here or in the package, or a download from the Hub.  Imports nothing heavy."""

import re
from pathlib import Path

from seq2see.errors import UserError
from seq2see.pretrained import NAMES, packaged_folder

RUNS = "runs"  # where `seq2see train` puts a run, below the folder it is called in
# What a checkpoint needs: text and tensors, nothing that runs when it is opened, and no sub-folders, such as an export,
# of which these patterns would bring half.
_FILES = ["*.json", "*.safetensors", "*.spm", "*.model", "*.txt", "*.md", "*.yaml"]


def local_folder(name: str | Path) -> Path | None:
    """The folder of that name, or None where it can only be a Hub id such as `org/model`.

    A run here comes before a packaged model.  A name that begins with a folder here, or with `runs/`, is a path, and is
    never looked for on the Hub.

    Raises:
        UserError: there is no such folder, and the Hub could have no model of that name.
    """
    if packaged := packaged_folder(name):
        return packaged
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"{name} is a file; expected the folder of a checkpoint")
    ours = folder.parts[:1] == (RUNS,)
    if ours or folder.parent.is_dir() or not re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)):
        raise UserError(f"there is no folder {name}; {_advice(name)}")
    return None


def _advice(name: str | Path) -> str:
    """What may have been meant by a name that nothing has."""
    from difflib import get_close_matches
    from importlib.resources import files

    known = [*NAMES, *(run.as_posix() for run in Path(RUNS).glob("*/"))]
    if near := get_close_matches(str(name), known):
        return f"did you mean {' or '.join(near)}?"
    recipe = Path(name).name
    if Path(name).parts[:1] != (RUNS,) or not (files("seq2see.configs") / f"{recipe}.yaml").is_file():
        recipe = "storybook"
    return (
        f"give the folder of a trained model, or {' or '.join(NAMES)}, which come with the package, or train one:"
        f" seq2see train {recipe}"
    )


def resolve_folder(name: str | Path, *, trust_remote_code: bool = False) -> Path:
    """The local folder of a checkpoint: `name` itself, a packaged model's, or the download of a Hub id.

    Raises:
        UserError: there is no such folder, and no such model on the Hub or no way to reach it.
    """
    if folder := local_folder(name):
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        wanted = [*_FILES, "*.py"] if trust_remote_code else _FILES
        return Path(snapshot_download(str(name), allow_patterns=wanted, ignore_patterns="*/*"))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(
            f"there is no folder {name}, and the Hub did not give a model of that name: {reason}"
        ) from error
