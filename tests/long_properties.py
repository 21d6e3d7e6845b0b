"""Run the property tests for long, each with new examples again and again.

    python tests/long_properties.py --minutes 20                 # twenty minutes for each property over outside data
    python tests/long_properties.py --minutes 5 tests/serve      # of some files or folders
    python tests/long_properties.py --minutes 1 'tests/lens/test_files.py::test_a_flipped_bit_or_a_cut'

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


def properties(where: list[str]) -> list[str]:
    """The tests that draw their examples, by pytest's names, parameters left out."""
    command = [sys.executable, "-m", "pytest", "--collect-only", *where]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = dict.fromkeys(re.findall(r"^tests/\S+?::\w+", listed, re.MULTILINE))
    drawn = {}
    for path in {name.partition("::")[0] for name in names}:
        text = (ROOT / path).read_text("utf-8")
        drawn[path] = set(re.findall(r"@given\([\s\S]*?\)\ndef (\w+)\(", text))
    return [name for name in names if name.partition("::")[2] in drawn[name.partition("::")[0]]]


def run(name: str, seconds: float) -> tuple[int, float, bool]:
    """Rounds of one property until the time is over; examples, seconds, whether it held for a round at least."""
    start, drawn = time.monotonic(), 0
    while time.monotonic() < start + seconds:
        left = start + seconds - time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--no-showlocals", "--tb=short",
                   "-o", "timeout=0", f"--hypothesis-seed={time.time_ns() % 2**32}", name]  # fmt: skip
        try:
            environment = {**os.environ, "EXAMPLES": str(EXAMPLES)}
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=left + 60)
        except subprocess.TimeoutExpired:
            return drawn, time.monotonic() - start, drawn > 0
        if done.returncode:
            print(done.stdout, flush=True)
            return drawn, time.monotonic() - start, False
        drawn += EXAMPLES
    return drawn, time.monotonic() - start, True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", nargs="*", help="files, folders or tests (all test_any_*.py)")
    parser.add_argument("--minutes", type=float, default=20.0, help="for each property (%(default)s)")
    args = parser.parse_args()
    where = args.where or [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").glob("*/test_any_*.py"))]
    rows, held = [], True
    for name in properties(where):
        drawn, seconds, good = run(name, 60 * args.minutes)
        rows.append({"name": name, "examples": drawn, "seconds": round(seconds), "held": good})
        held = held and good
        print(rows[-1], flush=True)
    print(json.dumps({"benchmark": "long_properties", "rows": rows}))
    sys.exit(not held)


if __name__ == "__main__":
    main()
