"""Do both engines find the same translations?

    python benchmarks/engines.py RUN            RUN: a trained model, runs/storybook by default; 200 sentences
    python benchmarks/engines.py RUN --quick    20 sentences

Sentences are those of storybook's test, or lines of --text FILE.  A row says on how many of them CTranslate2 finds
exactly the pieces that torch finds in float32, and the largest difference of the scores of those; where it finds other
pieces, both translations are printed with their scores.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
from pathlib import Path
from typing import Any

SENTENCES = 200
WAYS = [("float32", 1), ("float32", 4), ("int8", 1), ("int8", 4)]


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
    rows = agreement(arguments.run, texts)
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
        for ours, theirs in pairs:
            if ours.token_ids != theirs.token_ids:
                print(f"{precision} {ours.score:.5f} {ours.text}\n  torch {theirs.score:.5f} {theirs.text}")
        name = f"same, {precision}, {'greedy' if beams == 1 else f'beam {beams}'}"
        rows.append({"name": name, "ours": len(same), "of": len(pairs), "largest_gap": max(gaps, default=None)})
    return rows


if __name__ == "__main__":
    main()
