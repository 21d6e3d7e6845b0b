"""The tokenizer of a checkpoint, from its files.

If a vocabulary is missing, transformers fails far from the cause.  For tokenizers that it builds itself (T5, BART,
NLLB) it silently makes one of a few special tokens.  Here the error names the missing file.  It also fails for a
tokenizer.json of another kind than the model's usual one, such as BPE for a T5, which is enough by itself.
"""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer
from transformers import AutoTokenizer, NllbTokenizer, PreTrainedTokenizerBase, TokenizersBackend
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

from seq2see.errors import UserError, as_user_error
from seq2see.json_files import read_json
from ..tokenizer.tokenization_seq2see import load_tokenizer

SETTINGS = "tokenizer_config.json"
TOKENS = "special_tokens_map.json"
WHOLE = "tokenizer.json"  # all that a tokenizer of the library `tokenizers` needs
SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")


def build_tokenizer(folder: Path, model_type: str, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The transformers tokenizer of a checkpoint.

    Raises UserError if it cannot be built, with the name of the missing file.
    """
    if model_type == "seq2see":
        with as_user_error(f"the tokenizer in {folder} cannot be read"):
            return load_tokenizer(folder)
    settings = read_json(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    try:
        with as_user_error(f"the tokenizer in {folder} cannot be read"):
            tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=trust_remote_code, local_files_only=True)
    except UserError as error:
        _refuse_broken(folder)
        if (folder / WHOLE).is_file():
            return _of_whole_file(folder, settings, model_type, reason=error)
        _refuse_missing(folder, _class_named(folder, settings, model_type), settings)
        raise
    if isinstance(tokenizer, TokenizersBackend) and not (folder / WHOLE).is_file():
        _refuse_missing(folder, type(tokenizer), settings)
        if isinstance(tokenizer, NllbTokenizer):
            return _with_languages(tokenizer, folder, settings)
    return tokenizer


def _of_whole_file(folder: Path, settings: dict[str, Any], model_type: str, *,
                   reason: UserError) -> PreTrainedTokenizerBase:
    """The tokenizer that tokenizer.json describes, with the special tokens that its class usually has, if the files do
    not name them.

    Raises UserError if that file does not describe one, or it has no token that ends a text.
    """
    with as_user_error(f"{folder / WHOLE} describes no tokenizer"):
        core = Tokenizer.from_file(str(folder / WHOLE))
    names = {name: settings.get(name) for name in SPECIAL} | {
        name: token for name, token in (read_json(folder / TOKENS) if (folder / TOKENS).is_file() else {}).items()
        if name in SPECIAL}
    usual = signature(kind).parameters if (kind := _class_of(settings, model_type)) else {}
    tokens = {}
    for name, token in names.items():
        token = _content(token) if token else usual[name].default if name in usual else None
        if isinstance(token, str) and core.token_to_id(token) is not None:
            tokens[name] = token
    if "eos_token" not in tokens:
        raise UserError(f"{folder / WHOLE} has no token that ends a text: name it as eos_token in"
                        f" {folder / SETTINGS}") from reason
    return TokenizersBackend(tokenizer_object=core, name_or_path=str(folder), **tokens)


def _with_languages(tokenizer: NllbTokenizer, folder: Path, settings: dict[str, Any]) -> NllbTokenizer:
    """An NLLB tokenizer from its SentencePiece model alone, with the languages that transformers 5 leaves out.

    They follow the tokens and precede `<mask>`, as in training.
    """
    tokens = folder / TOKENS
    named = (read_json(tokens) if tokens.is_file() else {}).get("additional_special_tokens")
    codes = named or settings.get("additional_special_tokens") or FAIRSEQ_LANGUAGE_CODES
    learnt = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    vocabulary = dict(learnt["vocab"])
    for token in (*map(_content, codes), tokenizer.mask_token):
        vocabulary.setdefault(token, len(vocabulary))
    made = NllbTokenizer(
        vocab=vocabulary, merges=[tuple(one) for one in learnt["merges"]], src_lang=settings.get("src_lang"),
        tgt_lang=settings.get("tgt_lang"), legacy_behaviour=tokenizer.legacy_behaviour,
        extra_special_tokens=[*map(_content, codes)], model_max_length=tokenizer.model_max_length,
    )
    made.backend_tokenizer.normalizer = tokenizer.backend_tokenizer.normalizer
    return made


def _content(token: str | dict[str, Any]) -> str:
    """The text of a token, which older files describe in a dictionary."""
    return str(token["content"] if isinstance(token, dict) else token)


def _class_named(folder: Path, settings: dict[str, Any], model_type: str) -> type | None:
    """The class of transformers for such a tokenizer.

    Raises UserError if the settings name a class that transformers does not have.
    """
    found = _class_of(settings, model_type)
    if found is None and "tokenizer_class" in settings:
        raise UserError(f"tokenizer_class in {folder / SETTINGS} is {settings['tokenizer_class']}, which transformers"
                        " does not have: use the model's own file")
    return found


def _class_of(settings: dict[str, Any], model_type: str) -> type | None:
    name = settings.get("tokenizer_class") or TOKENIZER_MAPPING_NAMES.get(model_type)
    return tokenizer_class_from_name(name) if isinstance(name, str) else None


def _refuse_missing(folder: Path, kind: type | None, settings: dict[str, Any]) -> None:
    """Raises UserError if the folder lacks a file that tokenizers of this kind are built from."""
    expected: dict[str, str] = dict(getattr(kind, "vocab_files_names", {}))
    for optional in ("tokenizer_config_file", *["target_vocab_file"] * (not settings.get("separate_vocabs"))):
        expected.pop(optional, None)
    whole = expected.pop("tokenizer_file", None)
    missing = [name for name in expected.values() if not (folder / name).is_file()]
    if missing:
        lacks = " and ".join(missing) + (f", or {whole}," if whole else "")
        unnamed = "" if settings else f", and no {SETTINGS} names another kind"  # NLLB's model_type is M2M-100's
        raise UserError(f"the tokenizer in {folder} cannot be built: {lacks} is missing{unnamed}; copy it from where"
                        " the model came from")


def _refuse_broken(folder: Path) -> None:
    """Raises UserError that names the file of an unreadable tokenizer."""
    for path in sorted(folder.glob("*.json")):
        read_json(path)
    for path in sorted([*folder.glob("*.spm"), *folder.glob("*.model")]):
        with as_user_error(f"{path} is no SentencePiece model: copy it again"):
            SentencePieceProcessor(model_file=str(path))
