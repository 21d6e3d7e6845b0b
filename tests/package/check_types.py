"""Run mypy on the installed wheel, from another folder: `python tests/package/check_types.py`.

In the checkout mypy sees the `seq2see/` folder alone and reports success: the folders beside it are part of the package
only once it is installed.  So this fails, too, where mypy saw fewer files than the package has.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_wheel import ROOT, build_wheel


def main() -> int:
    """Print mypy's findings with the paths of the checkout; return its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch) / "site"
        wheel = build_wheel(Path(scratch))
        zipfile.ZipFile(wheel).extractall(site)
        files = len(list(site.glob("seq2see/**/*.py")))
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), "--package", "seq2see"]
        variables = {**os.environ, "MYPYPATH": str(site)}
        done = subprocess.run(command, cwd=site, env=variables, capture_output=True, text=True)
    print(re.sub(r"^seq2see/(?!\w+\.py)", "", done.stdout, flags=re.MULTILINE) + done.stderr, end="")
    seen = re.search(r"(?:checked|in) (\d+) source files?", done.stdout)
    if done.returncode == 0 and (seen is None or int(seen[1]) < files):
        print(f"mypy saw {seen[1] if seen else 'no'} files; the package has {files}")
        return 1
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
