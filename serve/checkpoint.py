"""What a checkpoint's JSON files say of how to translate with it, read without torch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from seq2see.serve.plan import Limits
from seq2see.vetting import read_json, vet


@dataclass(frozen=True)
class Checkpoint:
    """A folder of a trained model.

    `seen_words` are, for each language, the casefolded words of its training text; None where it does not say.
    """

    name: str
    folder: Path
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    seen_words: Mapping[str, frozenset[str]] | None

    @property
    def model_type(self) -> str:
        return str(self.config.get("model_type"))

    @cached_property
    def language_pairs(self) -> list[tuple[str, str]]:
        """The (source, target) pairs it serves, the default first; empty where it does not say.

        UserError for a model of many languages (NLLB, mBART, M2M-100) that does not say which of them.
        """
        if self.model_type == "seq2see":
            return [(source, target) for source, target in self.config.get("language_pairs") or []]
        for source_key, target_key in (("source_lang", "target_lang"), ("src_lang", "tgt_lang")):  # Marian's, NLLB's
            source, target = self.tokenizer.get(source_key), self.tokenizer.get(target_key)
            if isinstance(source, str) and isinstance(target, str):
                return [(source, target)]
        if "src_lang" in self.tokenizer:
            path = self.folder / "tokenizer_config.json"
            raise UserError(f"{self.name} has many languages, of which one pair is served: name it in {path},"
                            ' as "src_lang" and "tgt_lang"')
        return []

    @cached_property
    def limits(self) -> Limits:
        """generation_config.json over config.json, which says the same in checkpoints of before."""
        return Limits({**self.config, **self.generation}, self.config.get("max_position_embeddings"))


def fingerprint(folder: Path) -> str:
    """Which weights a folder holds: the beginning of the SHA-256 of its safetensors files."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def read_checkpoint(name: str | Path, *, trust_remote_code: bool = False) -> Checkpoint:
    """The checkpoint of a folder or Hub id; UserError where there is none, or a file is not what it should be."""
    folder = resolve_folder(name, trust_remote_code=trust_remote_code)
    vet(folder)
    return Checkpoint(
        name=str(name),
        folder=folder,
        config=_read(folder / "config.json"),
        generation=_read(folder / "generation_config.json"),
        tokenizer=_read(folder / "tokenizer_config.json"),
        seen_words=_read_seen_words(folder / "seen_words.json"),
    )


def _read(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _read_seen_words(path: Path) -> dict[str, frozenset[str]] | None:
    if not path.is_file():
        return None
    try:
        return {language: frozenset(words) for language, words in read_json(path).items()}
    except TypeError as error:
        raise UserError(f"{path} is not a list of words for each language ({error}): remove it") from error
