"""Build the wheel from a clean copy of the checkout: `python tests/package/build_wheel.py FOLDER [MODEL ...]`.

A copy, because setuptools leaves `build/` behind and takes from it what the sources no longer have, and because two
processes may build at once.  The build uses the setuptools of this environment and no network.  A MODEL is a folder
that is packaged where the checkout has none of that name.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = (".*", "build", "dist", "runs", "tests", "benchmarks", "__pycache__", "*.egg-info")


def build_wheel(folder: Path, *models: Path) -> Path:
    """Build the wheel into `folder` and return its path."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for model in models:
            if not (packaged := source / "seq2see" / "pretrained" / model.name).exists():
                shutil.copytree(model, packaged)
        build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
        subprocess.run([sys.executable, "-W", "ignore", "-c", build, folder.resolve()], cwd=source, check=True,
                       stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("seq2see-*.whl")
    return wheel


if __name__ == "__main__":
    print(build_wheel(*map(Path, sys.argv[1:])))
