"""The tokenizer of a checkpoint, from its files.

Where a vocabulary is missing, transformers fails far from the cause or, for tokenizers that it builds itself (T5, BART,
NLLB), silently makes one of a few special tokens.  Here the missing file is named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase, TokenizersBackend
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from seq2see.errors import UserError, as_user_error
from seq2see.json_files import read_json
from ..tokenizer.tokenization_seq2see import load_tokenizer

SETTINGS = "tokenizer_config.json"
WHOLE = "tokenizer.json"  # all that a tokenizer of the library `tokenizers` needs


def build_tokenizer(folder: Path, model_type: str, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The transformers tokenizer of a checkpoint; UserError if it cannot be built, with the file that is missing."""
    if model_type == "seq2see":
        with as_user_error(f"the tokenizer in {folder} cannot be read"):
            return load_tokenizer(folder)
    settings = read_json(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    try:
        with as_user_error(f"the tokenizer in {folder} cannot be read"):
            tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=trust_remote_code, local_files_only=True)
    except UserError:
        _refuse_missing(folder, _class_named(settings, model_type), settings)
        raise
    if isinstance(tokenizer, TokenizersBackend) and not (folder / WHOLE).is_file():
        _refuse_missing(folder, type(tokenizer), settings)
    return tokenizer


def _class_named(settings: dict[str, Any], model_type: str) -> type | None:
    """The class that transformers has for such a tokenizer."""
    name = settings.get("tokenizer_class") or TOKENIZER_MAPPING_NAMES.get(model_type)
    found: type | None = tokenizer_class_from_name(name) if isinstance(name, str) else None
    return found


def _refuse_missing(folder: Path, kind: type | None, settings: dict[str, Any]) -> None:
    """UserError if the folder lacks a file that tokenizers of this kind are built from."""
    expected: dict[str, str] = dict(getattr(kind, "vocab_files_names", {}))
    for optional in ("tokenizer_config_file", *["target_vocab_file"] * (not settings.get("separate_vocabs"))):
        expected.pop(optional, None)
    whole = expected.pop("tokenizer_file", None)
    missing = [name for name in expected.values() if not (folder / name).is_file()]
    if missing:
        lacks = " and ".join(missing) + (f", or {whole}," if whole else "")
        raise UserError(f"the tokenizer in {folder} cannot be built: {lacks} is missing; copy it from where the model"
                        " came from")
