"""A model's files as they are now: replaced or deleted since, they can still be read.

The folder of links needs no space on Linux, where a link is to an open file (`/proc/PID/fd/N`), nor elsewhere on the
file system of the temporary folder, where it is a hard link; on another file system the files are copied.  What is
written into a file itself, rather than renamed over it, shows through links: check what you read.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

DESCRIPTORS = Path("/proc/self/fd")


class PinnedFiles:
    """Links to files, by their names in `folder`, for as long as this lives.  OSError if they cannot be made."""

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
