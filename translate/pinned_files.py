"""Pins a model's present files, so that they can be read after they are replaced or deleted.

On Linux the folder has links to open files (`/proc/PID/fd/N`) and needs no space.  Elsewhere it has hard links, if the
temporary folder is on the same file system, or copies.  A change inside a file, rather than a rename over it, is
visible through links, so check the contents.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

DESCRIPTORS = Path("/proc/self/fd")


class PinnedFiles:
    """Links to files, by their names in `folder`, for the lifetime of this object.

    Raises OSError if they cannot be made.
    """

    def __init__(self, files: Mapping[str, Path]):
        self._made = TemporaryDirectory(prefix="seq2see-")
        self.folder = Path(self._made.name)
        by_descriptor = DESCRIPTORS.is_dir()
        self._open = [(name, path.open("rb")) for name, path in files.items()] if by_descriptor else []
        for name, file in self._open:
            (self.folder / name).symlink_to(f"/proc/{os.getpid()}/fd/{file.fileno()}")
        if not by_descriptor:
            for name, path in files.items():
                link_or_copy(path.resolve(), self.folder / name)


def link_or_copy(file: Path, there: Path) -> None:
    try:
        os.link(file, there)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(file, there)
