"""The packaged models: each is a run folder beside this file, written by measures/release.py.

The package may be read-only: nothing is ever written beside these models, and a damaged one is not repaired but
refused, with the command that reinstalls it.

Imports nothing of ours.
Begin with `__init__.py`: it is alone.
"""

from pathlib import Path

from seq2see.errors import UserError
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest

NAMES = ("everyday", "storybook")
DEFAULT = NAMES[0]  # for commands that name no model
HOME = Path(__file__).resolve().parent
EXPORTS = "ctranslate2-*"  # in a model's folder


def home_of(name: str) -> Path:
    """The folder of the packaged model of that name."""
    return HOME / name


def packaged_folder(name: str | Path) -> Path | None:
    """The folder of the packaged model of that name; None for other names, and if a local run has the same name.

    Raises:
        UserError: it is missing from the package.
    """
    here = Path(name)
    if str(name) not in NAMES or any((here / file).is_file() for file in ("config.json", "run.yaml")):
        return None
    folder = home_of(str(name))
    if not folder.is_dir():
        raise UserError(f"{folder} is missing: {_remedy(folder)}")
    return folder


def is_packaged(folder: Path) -> bool:
    return folder.name in NAMES and folder.resolve().parent == HOME


def check_packaged(folder: Path) -> None:
    """UserError if a packaged model or its export differs from the release."""
    exports = sorted(folder.glob(EXPORTS)) or [folder / EXPORTS]
    for place in (folder, *exports):
        if not (place / MANIFEST).is_file():
            raise UserError(f"{place / MANIFEST} is missing: {_remedy(folder)}")
        check_manifest(place, remedy=_remedy(folder))


def _remedy(folder: Path) -> str:
    return f"restore the packaged model {folder.name}: pip install --force-reinstall seq2see"
