"""The models that come with the package: each is a run's folder beside this file, written by measures/release.py.

The package may lie where nobody can write: nothing is ever put beside these models, and what is damaged is not mended
but refused, with the command that installs it again.
"""

from pathlib import Path

from seq2see.errors import UserError
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import check_manifest

NAMES = ("everyday", "storybook")
DEFAULT = NAMES[0]  # the model of a command that names none
HOME = Path(__file__).resolve().parent
EXPORTS = "ctranslate2-*"  # in a model's folder


def home_of(name: str) -> Path:
    """Where the packaged model of that name lies."""
    return HOME / name


def packaged_folder(name: str | Path) -> Path | None:
    """The folder of the packaged model of that name; None for other names, and where a run here is called the same.

    Raises:
        UserError: it is not in the package, where it should be.
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
    """UserError where a packaged model, or its export, is not as it was released."""
    exports = sorted(folder.glob(EXPORTS)) or [folder / EXPORTS]
    for place in (folder, *exports):
        if not (place / MANIFEST).is_file():
            raise UserError(f"{place / MANIFEST} is missing: {_remedy(folder)}")
        check_manifest(place, remedy=_remedy(folder))


def _remedy(folder: Path) -> str:
    return f"restore the packaged model {folder.name}: pip install --force-reinstall seq2see"
