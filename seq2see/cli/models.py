"""The verb `models`: lists the packaged models."""

import argparse
from typing import Any

from seq2see.json_files import read_json
from seq2see.pretrained import DEFAULT, NAMES, check_packaged, home_of


def run(args: argparse.Namespace) -> None:
    """For each model a line with its languages and sizes, then a line per score."""
    for name in NAMES:
        folder = home_of(name)
        check_packaged(folder)
        metrics = read_json(folder / "metrics.json")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{name}: {languages(read_json(folder / 'config.json'))};"
              f" {metrics['training']['parameters'] / 1e6:.1f} M parameters, {size / 1e6:.1f} MB"
              f"{'; the default' if name == DEFAULT else ''}")
        for test, row in metrics["evaluation"].items():
            print(f"  {test}: BLEU {row['bleu']}, chrF2 {row['chrf']}, exact match {row['exact_match']} %"
                  f" of {row['pairs']} pairs")


def languages(config: dict[str, Any]) -> str:
    """`en to fr, de`"""
    targets: dict[str, list[str]] = {}
    for source, target in config["language_pairs"]:
        targets.setdefault(source, []).append(target)
    return "; ".join(f"{source} to {', '.join(each)}" for source, each in targets.items())
