"""Do both engines find the same translations, and how soon is the first one there?

    python benchmarks/engines.py RUN            RUN: a trained model, runs/storybook by default; 200 sentences
    python benchmarks/engines.py RUN --quick    20 sentences, one start

Sentences are those of storybook's test, or lines of --text FILE.  *same*: on how many of them CTranslate2 finds exactly
the pieces that torch finds in float32; the scores' largest difference is of those.  *first translation*: seconds from
`python -c` to the first translation, by the clock and of processor time, and what is resident then; the export is there
already.  The peer of that row is `--engine torch`.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

SENTENCES = 200
STARTS = 5
WAYS = [("float32", 1), ("float32", 4), ("int8", 1), ("int8", 4)]
START = """
import sys, time
clock = time.perf_counter()
from seq2see import Translator
Translator.from_pretrained(sys.argv[1], engine=sys.argv[2], threads=1)(sys.argv[3])
import json, psutil
seconds, processor = time.perf_counter() - clock, time.process_time()
print(json.dumps([seconds, processor, psutil.Process().memory_info().rss / 2**20, "torch" in sys.modules]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", default="runs/storybook")
    parser.add_argument("--text", type=Path, help="source sentences, one a line")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if not (Path(arguments.run) / "config.json").is_file():
        print(f"there is no trained model at {arguments.run}: nothing to compare", file=sys.stderr)
        print(json.dumps({"benchmark": "engines", "machine": machine(), "rows": []}))
        return
    texts = sentences(arguments.text)[: 20 if arguments.quick else SENTENCES]
    rows = [*agreement(arguments.run, texts), *starts(arguments.run, texts[0], 1 if arguments.quick else STARTS)]
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
    print(json.dumps({"benchmark": "engines", "machine": machine(), "rows": rows}))


def machine() -> dict[str, str]:
    return {"system": platform.platform(), "python": platform.python_version()}


def sentences(path: Path | None) -> list[str]:
    if path is not None:
        return path.read_text("utf-8").splitlines()
    from seq2see.training.storybook import generate

    found = [pair.source for pair in generate(seed=0).test]
    random.Random(0).shuffle(found)
    return found


def agreement(run: str, texts: list[str]) -> list[dict[str, Any]]:
    from seq2see import Translator

    torch = Translator.from_pretrained(run, engine="torch")
    rows = []
    for precision, beams in WAYS:
        fast = Translator.from_pretrained(run, engine="ctranslate2", precision=precision)
        pairs = [
            (ours.hypotheses[0], theirs.hypotheses[0])
            for ours, theirs in zip(fast(texts, num_beams=beams), torch(texts, num_beams=beams), strict=True)
        ]
        same = [(ours, theirs) for ours, theirs in pairs if ours.token_ids == theirs.token_ids]
        gaps = [abs(ours.score - theirs.score) for ours, theirs in same]
        name = f"same, {precision}, {'greedy' if beams == 1 else f'beam {beams}'}"
        rows.append({"name": name, "ours": len(same), "of": len(pairs), "largest_gap": max(gaps, default=None)})
    return rows


def starts(run: str, text: str, times: int) -> list[dict[str, Any]]:
    found: dict[str, list[list[float]]] = {"ctranslate2": [], "torch": []}
    for _ in range(times):
        for engine, figures in found.items():
            done = subprocess.run([sys.executable, "-c", START, run, engine, text], check=True, capture_output=True)
            figures.append(json.loads(done.stdout))
    rows = []
    for column, unit in enumerate(("s", "processor s", "MiB")):
        ours, peer = (statistics.median(one[column] for one in figures) for figures in found.values())
        row = {"name": f"first translation, {unit}", "ours": round(ours, 3), "peer": round(peer, 3), "unit": unit}
        rows.append({**row, "ratio": round(peer / ours, 1)})
    return rows


if __name__ == "__main__":
    main()
