"""Run the property tests for long, each with new examples again and again.

    python tests/long_properties.py --minutes 20                 # twenty minutes for each property over outside data
    python tests/long_properties.py --minutes 5 tests/serve      # of some files or folders

Stops at a property that fails, after printing the example; keep that as an `@example`.  The last line on stdout is one
JSON object: how many examples, in how many seconds, by property.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = 2_000  # of one round
PYTEST = [sys.executable, "-m", "pytest"]


def properties(where: list[str]) -> list[str]:
    """The tests that draw their examples, by pytest's names, parameters left out."""
    listed = subprocess.run([*PYTEST, "--collect-only", *where], cwd=ROOT, capture_output=True, text=True, check=True)
    names = dict.fromkeys(re.findall(r"^tests/\S+?::\w+", listed.stdout, re.MULTILINE))
    texts = {path: (ROOT / path).read_text("utf-8") for path in {name.partition("::")[0] for name in names}}
    drawn = {f"{path}::{test}" for path, text in texts.items()
             for test in re.findall(r"@given\([\s\S]*?\)\ndef (\w+)\(", text)}  # fmt: skip
    return [name for name in names if name in drawn]


def run(name: str, seconds: float) -> dict[str, object]:
    """Rounds of one property until the time is over or an example fails."""
    start, drawn, held = time.monotonic(), 0, True
    while held and (left := start + seconds - time.monotonic()) > 0:
        options = ["-q", "-x", "--no-header", "--no-showlocals", "--tb=short", "-o", "timeout=0",
                   f"--hypothesis-seed={time.time_ns() % 2**32}"]  # fmt: skip
        try:
            done = subprocess.run([*PYTEST, *options, name], cwd=ROOT, capture_output=True, text=True,
                                  env=os.environ | {"EXAMPLES": str(EXAMPLES)}, timeout=left + 60)  # fmt: skip
        except subprocess.TimeoutExpired:
            held = drawn > 0
            break
        held = done.returncode == 0
        drawn += EXAMPLES * held
        print(done.stdout if not held else "", end="", flush=True)
    return {"name": name, "examples": drawn, "seconds": round(time.monotonic() - start), "held": held}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", nargs="*", help="files, folders or tests (all test_any_*.py)")
    parser.add_argument("--minutes", type=float, default=20.0, help="for each property (%(default)s)")
    args = parser.parse_args()
    where = args.where or [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").glob("*/test_any_*.py"))]
    rows = []
    for name in properties(where):
        rows.append(run(name, 60 * args.minutes))
        print(rows[-1], flush=True)
    print(json.dumps({"benchmark": "long_properties", "rows": rows}))
    sys.exit(not all(row["held"] for row in rows))


if __name__ == "__main__":
    main()
