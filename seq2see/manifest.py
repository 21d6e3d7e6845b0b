"""`manifest.json`: the SHA-256 sums of a checkpoint's files, so that a damaged one is refused by name.

It guards against accidents (a flipped bit, half a copy, files of two runs mixed), not against people: whoever can
change a file can write its sum anew.  The rule:
- whatever finishes a checkpoint or an export writes the manifest last; whatever opens one checks it where it is there;
- it covers the files that lie in the folder itself at that moment, but for the notes (`NOTES`): those are made later,
  or are people's to edit.  A released model's are neither.  Files that are added later are not named in it and do no
  harm;
- a file that it names must be there and the same.  Only code may be missing: a download leaves it out.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from seq2see.errors import UserError

NAME = "manifest.json"
NOTES = ("*.md", "*.png", "*.yaml", "metrics.json", "alignment.json", "trust.json", NAME)


def write_manifest(folder: Path, *, leave_out: Sequence[str] = NOTES) -> None:
    """Sum up the files of a folder, which is complete.  OSError where it cannot be written."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not any(map(path.match, leave_out)))
    sums = {path.name: sha256(path) for path in files}
    content = {"sha256": sums, "of_these_sums": _sum_of(sums)}
    (folder / NAME).write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")  # no \n: all of it counts


def check_manifest(folder: Path, *, remedy: str = "") -> None:
    """Nothing where the folder has no manifest; UserError for the first file that is not as its manifest says.

    `remedy`: how to mend it, where that is known better than here.
    """
    path = folder / NAME
    if not path.is_file():
        return
    try:
        content = json.loads(path.read_text("utf-8"))
        sums = dict(content["sha256"])
        whole = content["of_these_sums"] == _sum_of(sums) and all(Path(name).name == name for name in sums)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {remedy or 'expected the SHA-256 sums of the files beside it'}") from error
    if not whole:
        raise UserError(f"{path} is damaged: {remedy or 'its own sum, or the name of a file, is wrong'}")
    for name, expected in sums.items():
        file = folder / name
        if not file.is_file():
            if file.suffix == ".py":
                continue
            raise UserError(f"{file} is missing: {remedy or 'the checkpoint is half copied, or damaged'}")
        if sha256(file) != expected:
            advice = remedy or f"if you changed it, delete {path}"
            raise UserError(f"{file} is damaged: it is not what was saved, by its SHA-256 sum ({advice})")


def _sum_of(sums: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
