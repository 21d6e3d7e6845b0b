"""Checks a folder's tokenizer before a library opens it: `vet_tokenizer`.

tokenizer.json is a program of sorts: it rewrites text, splits it with regular expressions and numbers the tokens.  A
malicious one has token ids beyond the vocabulary, makes a text a million times longer, or has an expression that takes
years or makes the library panic.  Static checks come first; then a tokenizer with expressions that are not our own is
tried on awkward texts, in a process of its own with one second of CPU time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.json_files import read_json

MAX_VOCAB = 2**20
# The parts of the program, and the key of a sequence of steps in each.
PARTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors",
         "decoder": "decoders"}  # fmt: skip
MOST_STEPS = 32  # steps in one part
MOST_GROWTH = 64  # of a text, over all steps of a part
MOST_ADDED = 64  # tokens put around a text
MOST_IN_WORD = 1_000  # characters: WordPiece takes quadratic time
MOST_IN_PATTERN = 2_000  # characters
KINDS = ("BPE", "Unigram", "WordPiece", "WordLevel")
# SHA-256 of the expression that `train_tokenizer` writes, known to take linear time.
OUR_PATTERN = "885820d3c6e58af0433605e0f82a921b4d1ebe5aef5accb9e8956c7b19771f24"

# Awkward texts: long runs of characters that the expression names, or that most expressions do, which fail to match in
# the end.  The expression's own text is put around them, or the library would see early that nothing can match.
TRIAL = """
import json, sys, tokenizers
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
except ImportError:
    pass
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
patterns = " ".join(json.load(sys.stdin))
for c in sorted({*patterns[:300], *"aA1 \\n\\t!'é漢\\u0301"}):
    for text in (c * 2000, (c + "!") * 1000, patterns + c * 1000 + "\\0" + patterns):
        tokenizer.encode(text)
        if tokenizer.decoder:
            tokenizer.decoder.decode([text])
print("tried")
"""


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
        _check_added(path, program.get("added_tokens") or [], most)
        _check_steps(path, program, most)
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UserError(f"{path} is not a valid tokenizer file: {type(error).__name__} {str(error)[:100]}") from error
    patterns = [one for one in _patterns(program) if hashlib.sha256(one.encode()).hexdigest() != OUR_PATTERN]
    for pattern in patterns:
        _check_pattern(path, pattern)
    if patterns or any(step["type"] == "Precompiled" for step in _steps(program, "normalizer")):
        _try(path, patterns)


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
    if not model.get("max_input_chars_per_word", 0) <= MOST_IN_WORD:
        raise UserError(f"{path}: model.max_input_chars_per_word: expected at most {MOST_IN_WORD}")


def _check_added(path: Path, added: list[dict[str, Any]], most: int) -> None:
    _check_ids(path, [token["id"] for token in added], most)
    if not all(isinstance(token["content"], str) and token["content"] for token in added):
        raise UserError(f"{path}: added_tokens: expected a content for each")


def _check_steps(path: Path, program: dict[str, Any], most: int) -> None:
    for part in PARTS:
        steps = list(_steps(program, part))
        if len(steps) > MOST_STEPS:
            raise UserError(f"{path}: {part} has {len(steps)} steps; expected at most {MOST_STEPS}")
        growth = math.prod(map(_growth, steps))
        if growth > MOST_GROWTH:
            raise UserError(f"{path}: {part} makes a text {growth:g} times longer; expected at most {MOST_GROWTH}")
        for step in steps if part == "post_processor" else ():
            _check_added_around(path, step, most)


def _growth(step: dict[str, Any]) -> float:
    """The largest factor by which a step can lengthen a text.  An expression or empty pattern may match everywhere."""
    kind = step["type"]
    if kind == "ByteLevel":
        return 4.0  # bytes of a character
    if kind == "Precompiled":
        return max(1.0, *map(len, _charsmap(step["precompiled_charsmap"] or "")))
    if kind == "Replace":
        pattern, by = step["pattern"].get("String", ""), step["content"]
    elif kind == "Prepend":
        pattern, by = " ", step["prepend"]
    elif kind == "BPEDecoder":
        pattern, by = step["suffix"], " "
    elif kind == "CTC":
        pattern, by = step["word_delimiter_token"], " "
    else:
        return 1.0
    return max(1.0, len(by) / len(pattern)) if pattern else 1.0 + len(by)


def _charsmap(encoded: str) -> list[str]:
    """The replacement texts in the character map of a SentencePiece model: length of an index, the index, the texts."""
    content = base64.b64decode(encoded)
    texts = content[4 + int.from_bytes(content[:4], "little") :]
    return texts.decode("utf-8", "replace").split("\0")


def _check_added_around(path: Path, step: dict[str, Any], most: int) -> None:
    """The tokens that a post-processor adds around a text."""
    _check_ids(path, [step[side][1] for side in ("cls", "sep") if side in step], most)
    ids = {name: token["ids"] for name, token in (step.get("special_tokens") or {}).items()}
    _check_ids(path, [id for some in ids.values() for id in some], most)
    for template in ("single", "pair"):
        names = [one["SpecialToken"]["id"] if "SpecialToken" in one else None for one in step.get(template) or []]
        added = sum(1 if name is None else len(ids[name]) for name in names)
        if added > MOST_ADDED:
            raise UserError(f"{path}: post_processor adds {added} tokens around a text; expected at most {MOST_ADDED}")


def _steps(program: dict[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """The steps of a part, nested sequences flattened."""

    def flat(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if step["type"] != "Sequence":
            yield step
            return
        for one in step[PARTS[part]]:
            yield from flat(one)

    if program.get(part) is not None:
        yield from flat(program[part])


def _patterns(program: Any) -> Iterator[str]:
    """Every regular expression, wherever it is; a vocabulary has none."""
    if isinstance(program, dict):
        for key, value in program.items():
            if key == "Regex":
                yield str(value)
            elif key not in ("vocab", "merges", "added_tokens"):
                yield from _patterns(value)
    elif isinstance(program, list):
        for value in program:
            yield from _patterns(value)


_ESCAPED_OR_SET = re.compile(r"\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
_WITHOUT_END = re.compile(r"[*+]|\{\d*,\d{0,9}\}")


def _check_pattern(path: Path, pattern: str) -> None:
    if len(pattern) > MOST_IN_PATTERN:
        raise UserError(f"{path}: a regular expression has {len(pattern):,} characters; expected at most"
                        f" {MOST_IN_PATTERN:,}")
    if re.search(r"\\[1-9gk]|\(\?[R(&]", pattern):
        raise UserError(f"{path}: a regular expression with back-references may take years: {pattern[:60]!r}")
    bare = _ESCAPED_OR_SET.sub("x", pattern)
    starred = [found[0] for found in re.finditer(r"\((?:[^()]|\([^()]*\))*\)(?:[*+]|\{\d*,\d*\})", bare)]
    if any(_WITHOUT_END.search(group[:-1].rstrip("*+")) for group in starred):
        raise UserError(f"{path}: nested repetition in a regular expression may take years: {pattern[:60]!r}")


def _try(path: Path, patterns: list[str]) -> None:
    """Use the tokenizer in a process that may crash."""
    command = [sys.executable, "-I", "-c", TRIAL, str(path.resolve())]
    try:
        given = json.dumps(patterns).encode()
        tried = subprocess.run(command, input=given, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        tried = None
    if tried is None or tried.stdout.strip() != b"tried":
        named = f", with its regular expression {patterns[0][:60]!r}" if patterns else ""
        raise UserError(f"{path} does not load, or takes over a second for an awkward text{named}: it is not used")
