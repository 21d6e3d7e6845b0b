"""Turn a finished run into a packaged model: `python -m seq2see.measures.release RUN NAME [--allow-dirty]`.

Writes seq2see/pretrained/NAME in a checkout: the weights in float16, their CTranslate2 export, the records of data and
training, the measurements, the reliability plot, and translations of a few sentences for a test to compare with.  Files
for resuming the training and the paths of this machine are left out.  The same run and commit give the same bytes.
Without RUN, only the card of the packaged model is written again, from the records beside it.
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
from seq2see.folders import check_folder, is_finished, weight_files
from seq2see.json_files import read_json
from seq2see.manifest import NAME as MANIFEST
from seq2see.manifest import write_manifest
from seq2see.pretrained import HOME, NAMES, check_packaged
from ..training.card import packaged_card
from ..training.checkpoints import open_to_others
from ..training.config import load_record
from ..training.curve import draw_curve
from ..training.finishing import write_json
from ..translate.loaded_checkpoint import fingerprint, model_files
from ..translate.translator import Translator
from .card_sections import show_measurements
from .examples import SENTENCES

ROOT = Path(__file__).resolve().parent.parent
MEASURED = (  # measurements, copied if they exist
    "alignment.json", "trust.json", "heads.json", "calibration.json", "example_pairs.json", "replay.json.gz",
)
MOST_BYTES = 36_000_000  # of a model's weights and their export
MOST_CHANGE = 0.05  # in nats, of the log-probability of a translation through float16


def release(run: Path, name: str, *, commit: str, home: Path = HOME) -> Path:
    """Write the folder `home/name`, replacing an earlier one; UserError if the run cannot be released."""
    if not is_finished(run):
        raise UserError(f"{run} is not a finished run: it needs model.safetensors and metrics.json")
    check_folder(run)
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
        show_measurements(made)
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
    """Copy the model in float16, without its code, which is in the package; its tokenizer, and the files beside
    them."""
    for path in model_files(run):
        if not path.name.startswith(("model.safetensors", "config.json")):
            shutil.copyfile(path, made / path.name)
    shutil.copyfile(run / "generation_config.json", made / "generation_config.json")
    words = json.dumps(read_json(run / "seen_words.json"), ensure_ascii=False, separators=(",", ":"))
    (made / "seen_words.json").write_text(f"{words}\n", "utf-8")
    config = {key: value for key, value in read_json(run / "config.json").items()
              if key not in ("auto_map", "custom_pipelines")}
    write_json(made / "config.json", config | {"dtype": "float32"})
    weights = {name: weight.to(torch.float16) for path in weight_files(run) for name, weight in load_file(path).items()}
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise UserError(f"{run}: {name} has numbers too large for float16")
    save_file(weights, made / "model.safetensors", {"format": "pt"})


def copy_measured(run: Path, made: Path) -> None:
    """Copy the measurements of the run as those of the rounded weights, whose difference is checked separately."""
    before, after = fingerprint(run), fingerprint(made)
    for path in (run / name for name in MEASURED):
        if not path.is_file():
            print(f"{path} does not exist; {made.name} is released without this file", file=sys.stderr)
            continue
        zipped = path.suffix == ".gz"
        text = gzip.decompress(path.read_bytes()).decode() if zipped else path.read_text("utf-8")
        if before not in text:
            raise UserError(f"{path} was measured with other weights; repeat the measurement, or delete the file")
        changed = text.replace(before, after).encode()
        (made / path.name).write_bytes(gzip.compress(changed, mtime=0) if zipped else changed)


def translations(made: Path, sentences: Sequence[str], engine: Any) -> dict[str, list[str]]:
    """The released model's translations of the sentences, by language pair; creates the CTranslate2 export, which is
    kept."""
    translator = Translator.from_pretrained(made, engine=engine)
    return {f"{source}-{target}": [one.text for one in translator(sentences, source=source, target=target)]
            for source, target in translator.language_pairs}


def change_by_rounding(run: Path, made: Path, sentences: Sequence[str], found: dict[str, list[str]]) -> float:
    """The largest change of the log-probability of one of these translations through float16, in nats."""
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
    """Write run.yaml, metrics.json, their curve and the card, without the paths of this machine."""
    settings, metrics = yaml.safe_load(load_record(run / "run.yaml").to_yaml()), read_json(run / "metrics.json")
    for path in sorted(filter(os.path.isabs, strings(settings)), key=len, reverse=True):
        settings, metrics = (json.loads(json.dumps(one, ensure_ascii=False).replace(path, Path(path).name))
                             for one in (settings, metrics))
    (made / "run.yaml").write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), "utf-8")
    config = load_record(made / "run.yaml")
    metrics["release"] = released | {"seed": config.training.get("seed", 0)}
    write_json(made / "metrics.json", metrics)
    draw_curve(made / "curve.png", metrics["training"], name=made.name,
               label_smoothing=config.training["label_smoothing_factor"])
    write_card(made)


def write_card(made: Path) -> None:
    """Write README.md from the records beside it, without the sections of measurements."""
    config, metrics = load_record(made / "run.yaml"), read_json(made / "metrics.json")
    supervised = read_json(made / "config.json").get("supervised_heads") or ()
    examples = read_json(made / "examples.json")
    card = packaged_card(config, metrics, name=made.name, sentences=examples["sentences"],
                         translations=examples["ctranslate2"], supervised=supervised)
    (made / "README.md").write_text(card, "utf-8")


def rewrite_card(folder: Path) -> None:
    """Write the card of a packaged model again, and its manifest."""
    check_packaged(folder)
    write_card(folder)
    show_measurements(folder)
    write_manifest(folder, leave_out=[MANIFEST])


def strings(value: Any) -> Iterator[str]:
    """Every string in a tree of dicts and lists, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def commit_of(checkout: Path, *, allow_dirty: bool) -> str:
    """The current commit; UserError if anything except packaged models has uncommitted changes."""
    models = [f":(exclude)seq2see/pretrained/{name}" for name in NAMES]
    changed = git(checkout, "status", "--porcelain", "--", ".", *models)
    if changed and not allow_dirty:
        first = changed.splitlines()[0].strip()
        raise UserError(f"{checkout} has uncommitted changes ({first}): commit them, or use --allow-dirty")
    return git(checkout, "rev-parse", "HEAD") + (", with changes" if changed else "")


def git(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{checkout} is not a git checkout: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m seq2see.measures.release", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", type=Path, nargs="?",
                        help="the folder of a finished run (without it: write only the card again)")
    parser.add_argument("name", metavar="NAME", choices=NAMES, help=" or ".join(NAMES))
    parser.add_argument("--allow-dirty", action="store_true", help="release despite uncommitted changes")
    args = parser.parse_args()
    try:
        if args.run is None:
            rewrite_card(folder := HOME / args.name)
        else:
            folder = release(args.run, args.name, commit=commit_of(ROOT, allow_dirty=args.allow_dirty))
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(folder)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
