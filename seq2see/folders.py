"""Where a checkpoint is: a local or packaged folder, or a download from the Hub; names of what verbs write.  Imports
nothing heavy."""

import re
from pathlib import Path

from seq2see.errors import UserError, nearest
from seq2see.pretrained import NAMES, packaged_folder

RUNS = "runs"  # where `seq2see train` puts runs, below the current folder
LESSONS_PAGE = "index.html"  # `seq2see lessons` writes it to its folder, and a server shows it
# What a checkpoint needs: text and tensors, no code, and no sub-folders such as an export, of which these patterns
# would match half.
_FILES = ["*.json", "*.safetensors", "*.spm", "*.model", "*.txt", "*.md", "*.yaml"]
PICKLES = ["pytorch_model.bin", "pytorch_model-*.bin"]  # weights that only `seq2see export --format safetensors` opens


def local_folder(name: str | Path) -> Path | None:
    """The folder of that name, or None if it can only be a Hub id such as `org/model`.

    A local run takes precedence over a packaged model.  A name that begins with a local folder or with `runs/` is a
    path, and never looked up on the Hub.

    Raises:
        UserError: there is no such folder, and the name is not a valid Hub id.
    """
    if packaged := packaged_folder(name):
        return packaged
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"{name} is a file; give the folder of a checkpoint")
    ours = folder.parts[:1] == (RUNS,)
    if ours or folder.parent.is_dir() or not re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)):
        raise UserError(f"there is no folder {name}{advice(name)}")
    return None


def advice(name: str | Path) -> str:
    """The end of a message about a folder that is not there."""
    from importlib.resources import files

    known = [*NAMES, *(run.as_posix() for run in Path(RUNS).glob("*/"))]
    recipe = Path(name).name
    if Path(name).parts[:1] != (RUNS,) or not (files("seq2see.configs") / f"{recipe}.yaml").is_file():
        recipe = "storybook"
    return nearest(str(name), known, otherwise=f"give the folder of a trained model, or {' or '.join(NAMES)} from the"
                                               f" package, or train one: seq2see train {recipe}")


def resolve_folder(name: str | Path, *, trust_remote_code: bool = False, pickles: bool = False) -> Path:
    """The local folder of a checkpoint: `name` itself, a packaged model's, or the download of a Hub id.

    Args:
        trust_remote_code: download code too.
        pickles: download weights that are pickled too.

    Raises:
        UserError: there is no such folder, and the Hub has no such model or cannot be reached.
    """
    if folder := local_folder(name):
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        wanted = [*_FILES, *["*.py"] * trust_remote_code, *PICKLES * pickles]
        return Path(snapshot_download(str(name), allow_patterns=wanted, ignore_patterns="*/*"))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(f"there is no folder {name}, and it cannot be downloaded from the Hub: {reason}") from error
