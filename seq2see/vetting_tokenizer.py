"""Checks a folder's tokenizer before a library opens it: `vet_tokenizer`.

Files outside the folder are not opened, and no token has an id beyond the vocabulary, at which an engine would read
memory that is not its own.  What a program in tokenizer.json costs is not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.json_files import read_json

MAX_VOCAB = 2**20
KINDS = ("BPE", "Unigram", "WordPiece", "WordLevel")


def vet_tokenizer(folder: Path, *, vocab_size: int | None) -> None:
    """UserError unless the tokenizer files of a folder are safe to open; `vocab_size` is that of the model's config."""
    settings_path, path = folder / "tokenizer_config.json", folder / "tokenizer.json"
    most = vocab_size or MAX_VOCAB
    if settings_path.exists():
        _check_settings(settings_path, read_json(settings_path), most)
    for name in ("vocab.json", "added_tokens.json"):  # of tokenizers in several files, such as Marian's
        if (folder / name).exists():
            _check_ids(folder / name, read_json(folder / name).values(), most)
    if not path.exists():
        return
    program = read_json(path)
    try:
        _check_model(path, program["model"], most)
        added = program.get("added_tokens") or []
        _check_ids(path, [token["id"] for token in added], most)
        if not all(isinstance(token["content"], str) and token["content"] for token in added):
            raise UserError(f"{path}: added_tokens: expected a content for each")
        _check_ids(path, _whole_numbers(program.get("post_processor")), most)
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UserError(f"{path} is not a valid tokenizer file: {type(error).__name__} {str(error)[:100]}") from error


def _check_settings(path: Path, settings: dict[str, Any], most: int) -> None:
    for key, value in settings.items():
        names = value if isinstance(value, list) else [value]
        if re.search(r"_files?$|^vocab$|_spm$", key) and any(isinstance(n, str) and Path(n).name != n for n in names):
            raise UserError(f"{path}: {key} names a file outside the folder: {str(value)[:100]!r}")
    added = settings.get("added_tokens_decoder") or {}
    if not isinstance(added, dict) or not all(re.fullmatch(r"\d{1,9}", id) for id in added):
        raise UserError(f"{path}: added_tokens_decoder: expected token ids as keys")
    _check_ids(path, map(int, added), most)


def _check_ids(path: Path, ids: Iterable[Any], most: int) -> None:
    """Token ids are whole numbers below `most`, the size of the vocabulary."""
    for id in ids:
        if type(id) is not int or not 0 <= id < most:
            raise UserError(f"{path}: expected token ids from 0 to {most - 1}, got {str(id)[:60]}")


def _check_model(path: Path, model: dict[str, Any], most: int) -> None:
    kind = model.get("type") or ("Unigram" if isinstance(model["vocab"], list) else "BPE")
    if kind not in KINDS:
        raise UserError(f"{path}: model.type: expected one of {', '.join(KINDS)}, got {str(kind)[:60]!r}")
    vocab = model["vocab"]
    if kind == "Unigram":
        _check_ids(path, [len(vocab) - 1], most)
        if not all(isinstance(name, str) and math.isfinite(score) for name, score in vocab):
            raise UserError(f"{path}: model.vocab: expected tokens and their scores")
    else:
        _check_ids(path, vocab.values(), most)
    if model.get("dropout"):
        raise UserError(f"{path}: model.dropout is {str(model['dropout'])[:60]}: tokens would be sampled at random")


def _whole_numbers(value: Any) -> Iterator[int]:
    """All in a step of the program: in a post-processor the ids that it adds, and small numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _whole_numbers(one)
