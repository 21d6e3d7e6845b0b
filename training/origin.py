"""The model that a training starts from, as its files say it: what is known before torch is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.folders import local_folder, why_no_model
from seq2see.json_files import read_json


def model_type(folder: Path) -> str:
    """The type of the model in a folder; UserError where there is none."""
    path = folder / "config.json"
    if reason := why_no_model(folder):
        raise UserError(reason)
    if not path.is_file():
        raise UserError(f"{folder} has no config.json: give the folder of a model")
    return str(read_json(path).get("model_type"))


def first_pair(name: str) -> tuple[str, str] | None:
    """The language pair that a model translates by default; None where its files name none, or are not here yet."""
    folder = _folder(name)
    if folder is None:
        return None
    config, tokenizer = (_read(folder / f"{file}.json") for file in ("config", "tokenizer_config"))
    for pair in config.get("language_pairs") or []:
        return pair[0], pair[1]
    for keys in (("source_lang", "target_lang"), ("src_lang", "tgt_lang")):  # Marian's, NLLB's
        source, target = map(tokenizer.get, keys)
        if isinstance(source, str) and isinstance(target, str):
            return source, target
    return None


def tag_codes(name: str) -> frozenset[str]:
    """The languages of a Marian's tags, such as `pob` of `>>pob<<`: not all are codes of ISO 639."""
    folder = _folder(name)
    vocabulary = _read(folder / "vocab.json") if folder else {}
    return frozenset(token[2:-2] for token in vocabulary if token.startswith(">>") and token.endswith("<<"))


def _folder(name: str) -> Path | None:
    try:
        return local_folder(name)
    except UserError:  # reported where the model is opened
        return None


def _read(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}
