"""Make a model of the package from a finished run: `python -m seq2see.measures.release RUN NAME [--allow-dirty]`.

It writes seq2see/pretrained/NAME, in a checkout: the weights in float16, CTranslate2's export of these, what a run
keeps of its data and training, what was measured of it, the reliability plot of its calibration, and translations of a
few sentences for a test to compare with.  What only serves to resume the training stays behind, and so do the paths of
this machine.  The same run and the same commit make the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import load_file, save_file

from seq2see import __version__
from seq2see.errors import UserError
from seq2see.json_files import read_json
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import write_manifest
from seq2see.pretrained import HOME, NAMES
from seq2see.vetting import vet, weight_files
from ..lens.calibration import FILE as CALIBRATION
from ..lens.calibration import Calibration
from ..training.card import packaged_card
from ..training.checkpoints import open_to_others
from ..training.config import load_record
from ..training.packaged import is_finished
from ..translate.checkpoint import fingerprint, model_files
from ..translate.translator import Translator
from .examples import SENTENCES
from .reliability import PICTURE, add_to_card, draw_reliability

ROOT = Path(__file__).resolve().parent.parent
MEASURED = (  # of a run, where it was measured
    "alignment.json", "trust.json", "heads.json", "calibration.json", "replay.json.gz",
)  # fmt: skip
MOST_BYTES = 26_000_000  # of a model's weights and their export
MOST_CHANGE = 0.05  # nats, by which float16 may change the log-probability of a translation


def release(run: Path, name: str, *, commit: str, home: Path = HOME) -> Path:
    """Write the folder `home/name`, in the place of an earlier one; UserError where the run is not fit for it."""
    if not is_finished(run):
        raise UserError(f"{run} is no finished run: it has no model.safetensors with metrics.json")
    vet(run)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=home) as scratch:
        made = Path(scratch) / name
        made.mkdir()
        copy_model(run, made)
        copy_measured(run, made)
        examples = {engine: translations(made, SENTENCES[name], engine) for engine in ("torch", "ctranslate2")}
        change = change_by_rounding(run, made, SENTENCES[name], examples["torch"])
        if change > MOST_CHANGE:
            raise UserError(f"float16 changes the log-probability of a translation by {change:.4f}; expected at most"
                            f" {MOST_CHANGE}")
        write_json(made / "examples.json", {"sentences": SENTENCES[name], **examples})
        write_records(run, made, {"version": __version__, "commit": commit, "rounding": round(change, 6)})
        show_calibration(made)
        write_manifest(made, leave_out=[MANIFEST])
        open_to_others(made)
        weights = [made / "model.safetensors", *made.glob("ctranslate2-*/*")]
        size = sum(path.stat().st_size for path in weights)
        if size > MOST_BYTES:
            raise UserError(f"weights and export of {name} would have {size:,} bytes; expected at most {MOST_BYTES:,}")
        shutil.rmtree(home / name, ignore_errors=True)
        made.rename(home / name)
    return home / name


def copy_model(run: Path, made: Path) -> None:
    """The model in float16, without its code, which is the package's; its tokenizer, and what goes with them."""
    for path in model_files(run):
        if not path.name.startswith(("model.safetensors", "config.json")):
            shutil.copyfile(path, made / path.name)
    for name in ("generation_config.json", "curve.png"):
        shutil.copyfile(run / name, made / name)
    words = json.dumps(read_json(run / "seen_words.json"), ensure_ascii=False, separators=(",", ":"))
    (made / "seen_words.json").write_text(f"{words}\n", "utf-8")
    config = {key: value for key, value in read_json(run / "config.json").items()
              if key not in ("auto_map", "custom_pipelines")}
    write_json(made / "config.json", config | {"dtype": "float32"})
    weights = {name: weight.to(torch.float16) for path in weight_files(run) for name, weight in load_file(path).items()}
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise UserError(f"{run}: {name} holds numbers too large for float16")
    save_file(weights, made / "model.safetensors", {"format": "pt"})


def copy_measured(run: Path, made: Path) -> None:
    """What was measured of the run, as of the rounded weights: how little these differ is measured too."""
    before, after = fingerprint(run), fingerprint(made)
    for path in (run / name for name in MEASURED):
        if not path.is_file():
            print(f"{path} is not there: {made.name} is released without it", file=sys.stderr)
            continue
        zipped = path.suffix == ".gz"
        text = gzip.decompress(path.read_bytes()).decode() if zipped else path.read_text("utf-8")
        if before not in text:
            raise UserError(f"{path} was measured of other weights: measure it again, or delete it")
        changed = text.replace(before, after).encode()
        (made / path.name).write_bytes(gzip.compress(changed, mtime=0) if zipped else changed)


def show_calibration(made: Path) -> None:
    """The reliability plot and its section of the card, where the run was calibrated."""
    path = made / CALIBRATION
    if path.is_file():
        calibration = Calibration.load(path)
        draw_reliability(made / PICTURE, calibration.languages)
        add_to_card(made, calibration)


def translations(made: Path, sentences: Sequence[str], engine: Any) -> dict[str, list[str]]:
    """By each pair of languages, what the released model makes of the sentences; CTranslate2's export is made for it
    and stays."""
    translator = Translator.from_pretrained(made, engine=engine)
    return {f"{source}-{target}": [one.text for one in translator(sentences, source=source, target=target)]
            for source, target in translator.language_pairs}


def change_by_rounding(run: Path, made: Path, sentences: Sequence[str], found: dict[str, list[str]]) -> float:
    """The most that float16 changes the log-probability of one of these translations, in nats."""
    changes = [0.0]
    translators = [Translator.from_pretrained(folder, engine="torch") for folder in (run, made)]
    for languages, texts in found.items():
        source, _, target = languages.partition("-")
        pairs = [pair for pair in zip(sentences, texts, strict=True) if pair[1].strip()]
        sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        before, after = (one.score(sources, targets, source=source, target=target) for one in translators)
        changes += [abs(a.log_prob - b.log_prob) for a, b in zip(before, after, strict=True)]
    return max(changes)


def write_records(run: Path, made: Path, released: dict[str, Any]) -> None:
    """run.yaml, metrics.json and the card, without the paths of this machine."""
    settings = yaml.safe_load(load_record(run / "run.yaml").to_yaml())
    paths = sorted(filter(os.path.isabs, strings(settings)), key=len, reverse=True)
    settings = named(settings, paths)
    (made / "run.yaml").write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), "utf-8")
    config = load_record(made / "run.yaml")
    metrics = named(read_json(run / "metrics.json"), paths)
    metrics["release"] = released | {"seed": config.training.get("seed", 0)}
    write_json(made / "metrics.json", metrics)
    supervised = read_json(made / "config.json").get("supervised_heads") or ()
    (made / "README.md").write_text(packaged_card(config, metrics, name=made.name, supervised=supervised), "utf-8")


def strings(value: Any) -> Iterator[str]:
    """Every text in a tree of dicts and lists, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def named(value: Any, paths: Sequence[str]) -> Any:
    """The same tree with each of these paths, wherever it is mentioned, as its last part: data are known by name."""
    if isinstance(value, dict):
        return {named(key, paths): named(item, paths) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, paths) for item in value]
    if isinstance(value, str):
        for path in paths:
            value = value.replace(path, Path(path).name)
    return value


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def commit_of(checkout: Path, *, allow_dirty: bool) -> str:
    """The commit that is checked out; UserError where something else than packaged models was changed since."""
    models = [f":(exclude)seq2see/pretrained/{name}" for name in NAMES]
    changed = git(checkout, "status", "--porcelain", "--", ".", *models)
    if changed and not allow_dirty:
        first = changed.splitlines()[0].strip()
        raise UserError(f"{checkout} has changes that are not committed ({first}): commit them, or --allow-dirty")
    return git(checkout, "rev-parse", "HEAD") + (", with changes" if changed else "")


def git(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{checkout} is no checkout to release from: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m seq2see.measures.release", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a finished run")
    parser.add_argument("name", metavar="NAME", choices=NAMES, help=" or ".join(NAMES))
    parser.add_argument("--allow-dirty", action="store_true", help="release though there are uncommitted changes")
    args = parser.parse_args()
    try:
        folder = release(args.run, args.name, commit=commit_of(ROOT, allow_dirty=args.allow_dirty))
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(folder)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
