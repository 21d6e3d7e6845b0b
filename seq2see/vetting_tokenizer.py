"""What a folder's tokenizer must be before a library opens it: `vet_tokenizer`.

tokenizer.json is a program of sorts: it rewrites text, cuts it by regular expressions and numbers the pieces.  One made
to hurt numbers pieces beyond the vocabulary, makes a text a million times longer, or has an expression that takes years
or makes the library panic.  What can be read off the file is read off; then a tokenizer with expressions that are not
our own is tried on awkward texts, by a process of its own that has a second.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.json_files import read_json

MOST_PIECES = 2**20
# The parts of the program, and what a sequence of steps is called in each.
PARTS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
MOST_STEPS = 32  # normalizers, or pre-tokenizers, one after the other
MOST_GROWTH = 64  # of a text by all steps of a part, one after the other
MOST_ADDED = 64  # tokens put around a text
MOST_IN_WORD = 1_000  # characters: WordPiece takes their square
MOST_IN_PATTERN = 2_000  # characters
KINDS = ("BPE", "Unigram", "WordPiece", "WordLevel")
# SHA-256 of the expression that `train_tokenizer` writes, which is known to take linear time.
OUR_PATTERN = "885820d3c6e58af0433605e0f82a921b4d1ebe5aef5accb9e8956c7b19771f24"

# Awkward texts: long runs of what the expression itself names and of what most of them do, which fail to match in the
# end.  The expression's own text is put around them, or the library would see at once that nothing can match.
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


def vet_tokenizer(folder: Path, *, pieces: int | None) -> None:
    """UserError where the tokenizer files of a folder must not be opened; `pieces` is what the model's config says."""
    settings_path, path = folder / "tokenizer_config.json", folder / "tokenizer.json"
    if settings_path.exists():
        _check_settings(settings_path, read_json(settings_path), pieces=pieces)
    for name in ("vocab.json", "added_tokens.json"):  # of tokenizers in several files, as Marian's
        if (folder / name).exists():
            _check_ids(folder / name, list(read_json(folder / name).values()), pieces=pieces)
    if not path.exists():
        return
    program = read_json(path)
    try:
        _check_model(path, program["model"], pieces=pieces)
        _check_added(path, program.get("added_tokens") or [], pieces=pieces)
        _check_steps(path, program, pieces=pieces)
        _check_fixed(path, program)
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UserError(f"{path} is not the file of a tokenizer: {type(error).__name__} {str(error)[:100]}") from error
    patterns = [one for one in _patterns(program) if hashlib.sha256(one.encode()).hexdigest() != OUR_PATTERN]
    for pattern in patterns:
        _check_pattern(path, pattern)
    if patterns or any(step["type"] == "Precompiled" for step in _steps(program, "normalizer")):
        _try(path, patterns)


def _check_settings(path: Path, settings: dict[str, Any], *, pieces: int | None) -> None:
    for key, value in settings.items():
        names = value if isinstance(value, list) else [value]
        if re.search(r"_files?$|^vocab$|_spm$", key) and any(isinstance(n, str) and Path(n).name != n for n in names):
            raise UserError(f"{path}: {key} names a file elsewhere: {str(value)[:100]!r}")
    for key in ("source_lang", "target_lang", "tokenizer_class"):
        if not isinstance(settings.get(key), str | None):
            raise UserError(f"{path}: {key}: expected a text, got {str(settings[key])[:60]!r}")
    added = settings.get("added_tokens_decoder") or {}
    if not isinstance(added, dict) or not all(re.fullmatch(r"\d{1,9}", id) for id in added):
        raise UserError(f"{path}: added_tokens_decoder: expected tokens by their id")
    _check_ids(path, [int(id) for id in added], pieces=pieces)


def _check_ids(path: Path, ids: list[Any], *, pieces: int | None) -> None:
    most = pieces or MOST_PIECES
    for id in ids:
        if type(id) is not int or not 0 <= id < most:
            raise UserError(f"{path}: expected token ids from 0 to {most - 1}, got {str(id)[:60]}")


def _check_model(path: Path, model: dict[str, Any], *, pieces: int | None) -> None:
    kind = model.get("type") or ("Unigram" if isinstance(model["vocab"], list) else "BPE")
    if kind not in KINDS:
        raise UserError(f"{path}: model.type: expected one of {', '.join(KINDS)}, got {str(kind)[:60]!r}")
    vocab = model["vocab"]
    if kind == "Unigram":
        _check_ids(path, [len(vocab) - 1], pieces=pieces)
        if not all(isinstance(name, str) and math.isfinite(score) for name, score in vocab):
            raise UserError(f"{path}: model.vocab: expected tokens and their scores")
    else:
        _check_ids(path, list(vocab.values()), pieces=pieces)
    if model.get("dropout"):
        raise UserError(f"{path}: model.dropout is {str(model['dropout'])[:60]}: tokens would be sampled at random")
    if not model.get("max_input_chars_per_word", 0) <= MOST_IN_WORD:
        raise UserError(f"{path}: model.max_input_chars_per_word: expected at most {MOST_IN_WORD}")


def _check_added(path: Path, added: list[dict[str, Any]], *, pieces: int | None) -> None:
    _check_ids(path, [token["id"] for token in added], pieces=pieces)
    if not all(isinstance(token["content"], str) and token["content"] for token in added):
        raise UserError(f"{path}: added_tokens: expected each to have a content")


def _check_steps(path: Path, program: dict[str, Any], *, pieces: int | None) -> None:
    for part in PARTS:
        steps = list(_steps(program, part))
        if len(steps) > MOST_STEPS:
            raise UserError(f"{path}: {part} has {len(steps)} steps; expected at most {MOST_STEPS}")
        growth = math.prod(map(_growth, steps))
        if growth > MOST_GROWTH:
            raise UserError(f"{path}: {part} makes a text {growth:g} times longer; expected at most {MOST_GROWTH}")
        if part == "post_processor":
            for step in steps:
                _check_added_around(path, step, pieces=pieces)


def _growth(step: dict[str, Any]) -> float:
    """How many times longer a step can make a text.  An expression or an empty pattern may match at each character."""
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
    """What the map of a SentencePiece model has for characters: the length of an index, the index, then the texts."""
    content = base64.b64decode(encoded)
    texts = content[4 + int.from_bytes(content[:4], "little") :]
    return texts.decode("utf-8", "replace").split("\0")


def _check_added_around(path: Path, step: dict[str, Any], *, pieces: int | None) -> None:
    """The tokens that a post-processor puts around a text."""
    _check_ids(path, [step[side][1] for side in ("cls", "sep") if side in step], pieces=pieces)
    ids = {name: token["ids"] for name, token in (step.get("special_tokens") or {}).items()}
    _check_ids(path, [id for some in ids.values() for id in some], pieces=pieces)
    for template in ("single", "pair"):
        told = [one["SpecialToken"]["id"] if "SpecialToken" in one else None for one in step.get(template) or []]
        added = sum(1 if name is None else len(ids[name]) for name in told)
        if added > MOST_ADDED:
            raise UserError(f"{path}: post_processor puts {added} tokens around a text; expected at most {MOST_ADDED}")


def _check_fixed(path: Path, program: dict[str, Any]) -> None:
    """Padding and truncation to a length, as the file has them."""
    padding = program.get("padding") or {}
    strategy, multiple = padding.get("strategy"), padding.get("pad_to_multiple_of") or 0
    fixed = strategy.get("Fixed", 0) if isinstance(strategy, dict) else 0
    if not (0 <= fixed <= 65_536 and 0 <= multiple <= 65_536):
        raise UserError(f"{path}: padding: expected lengths up to 65,536")


def _steps(program: dict[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """The steps of a part, whose sequences may hold sequences."""

    def flat(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if step["type"] != "Sequence":
            yield step
            return
        for one in step[PARTS[part]]:
            yield from flat(one)

    if program.get(part) is not None:
        yield from flat(program[part])


def _patterns(program: Any) -> Iterator[str]:
    """Every regular expression, wherever it stands; a vocabulary has none."""
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
        raise UserError(f"{path}: a regular expression of {len(pattern)} characters; expected fewer")
    if re.search(r"\\[1-9gk]|\(\?[R(&]", pattern):
        raise UserError(f"{path}: a regular expression that refers to itself may take years: {pattern[:60]!r}")
    bare = _ESCAPED_OR_SET.sub("x", pattern)
    starred = [found[0] for found in re.finditer(r"\((?:[^()]|\([^()]*\))*\)(?:[*+]|\{\d*,\d*\})", bare)]
    if any(_WITHOUT_END.search(group[:-1].rstrip("*+")) for group in starred):
        raise UserError(f"{path}: a repeated repetition in a regular expression may take years: {pattern[:60]!r}")


def _try(path: Path, patterns: list[str]) -> None:
    """Let a process that may die open the tokenizer and use it."""
    command = [sys.executable, "-I", "-c", TRIAL, str(path.resolve())]
    try:
        given = json.dumps(patterns).encode()
        tried = subprocess.run(command, input=given, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        tried = None
    except OSError as error:
        raise UserError(f"{path} cannot be tried in a process of its own: {error.strerror}") from error
    if tried is None or tried.stdout.strip() != b"tried":
        named = f", by its regular expression {patterns[0][:60]!r}" if patterns else ""
        raise UserError(f"{path} does not open, or does not cut an awkward text in a second{named}: it is not used")
