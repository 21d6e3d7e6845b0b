"""Run mypy on the package where it lies: `python tests/package/check_types.py`.

mypy follows imports through the links in seq2see/.  What it cannot follow it does not check, so this fails, too, where
mypy saw fewer files than the package has.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Print mypy's findings with the paths of the folders, not of the links; return its exit code."""
    command = [sys.executable, "-m", "mypy", "--package", "seq2see", "--no-namespace-packages"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(re.sub(r"^seq2see/(?!\w+\.py)", "", done.stdout, flags=re.MULTILINE) + done.stderr, end="")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    files = sum(len(list((ROOT / folder).glob("*.py"))) for folder in settings["package-dir"].values())
    seen = re.search(r"(?:checked|in) (\d+) source files?", done.stdout)
    if seen is None or int(seen[1]) != files:
        mend = "if seq2see/lens is no link: git config core.symlinks true && git checkout-index -f -a"
        print(f"mypy saw {seen[1] if seen else 'no'} files; the package has {files} ({mend})")
        return 1
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
