"""Checks a folder's tokenizer before a library opens it: `vet_tokenizer`.

tokenizer.json is a program of sorts: it rewrites text, splits it with regular expressions and numbers the tokens.  A
malicious one has token ids beyond the vocabulary, makes a text a million times longer, or has an expression that takes
years or makes the library panic.  The vocabulary and the expressions are checked first; then a program that is not our
own is tried on awkward texts, in a process of its own with a second or two of CPU time.
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
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")  # of the program
MOST_GROWTH = 64  # of a text
MOST_IN_WORD = 1_000  # characters: WordPiece takes quadratic time
MOST_IN_TEXT = 2_000  # characters of an expression, or of another text in the program
NAMED = ("Regex", "String", "content", "prepend", "suffix", "word_delimiter_token")  # texts that a step may look for
KINDS = ("BPE", "Unigram", "WordPiece", "WordLevel")
# SHA-256 of the parts that `train_tokenizer` writes, known to take linear time.
OUR_PROGRAM = "4e8803bd9171b513ac32db7da4c9fe0b038a701cd4cd7d89a21f5226170a3f5b"

# Awkward texts: every character, in fours, so that the growth of one is seen; and long runs of characters that the
# program names, or that most expressions do, which fail to match in the end.  The program's own texts are put around
# them, or the library would see early that nothing can match.
TRIAL = """
import json, sys, tokenizers
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
except ImportError:
    resource = None
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
if resource:  # a vocabulary of 250,000 takes two seconds to load
    most_seconds = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
named, most, growth = json.load(sys.stdin)
def check(text, written):
    assert len(written) <= growth * (len(text) + 1)
def decode(text):
    if tokenizer.decoder:
        check(text + text, tokenizer.decoder.decode([text, text]))
every = "".join(map(chr, [*range(1, 0xD800), *range(0xE000, 0x20000)]))
for text in (*(every[i : i + 4] for i in range(0, len(every), 4)), *named):
    if tokenizer.normalizer:
        check(text, tokenizer.normalizer.normalize_str(text))
    decode(text)
check("", tokenizer.encode("").ids)
names = " ".join(named)
for c in sorted({*names[:300], *"aA1 \\n\\t!'é漢\\u0301"}):
    for text in (c * 2000, (c + "!") * 1000, names + c * 1000 + "\\0" + names):
        ids = tokenizer.encode(text).ids
        check(text, ids)
        assert max(ids, default=0) < most
        decode(text)
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
        parts = {part: program.get(part) for part in PARTS}
        if hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest() != OUR_PROGRAM:
            _try(path, _check_parts(path, parts), most)
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
    if not model.get("max_input_chars_per_word", 0) <= MOST_IN_WORD:
        raise UserError(f"{path}: model.max_input_chars_per_word: expected at most {MOST_IN_WORD}")


def _check_added(path: Path, added: list[dict[str, Any]], most: int) -> None:
    _check_ids(path, [token["id"] for token in added], most)
    if not all(isinstance(token["content"], str) and token["content"] for token in added):
        raise UserError(f"{path}: added_tokens: expected a content for each")


def _check_parts(path: Path, parts: dict[str, Any]) -> list[str]:
    """The texts in the program; UserError for a long one, or an expression that may take years or grow a text."""
    steps = list(_objects(parts))
    texts = [text for step in steps for key, text in step.items() if key in NAMED and isinstance(text, str)]
    if too_long := next((text for text in texts if len(text) > MOST_IN_TEXT), None):
        raise UserError(f"{path}: {too_long[:60]!r} has {len(too_long):,} characters; the most is {MOST_IN_TEXT:,}")
    for step in steps:
        if "Regex" in step:
            _check_pattern(path, step["Regex"])
        # What a trial need not meet: texts of several characters that are not named as such.
        encoded = base64.b64decode(step.get("precompiled_charsmap") or "")
        replacements = encoded[4 + int.from_bytes(encoded[:4], "little") :].split(b"\0")
        if max(map(len, replacements)) > 4 * MOST_GROWTH:
            raise UserError(f"{path}: precompiled_charsmap has a text of over {4 * MOST_GROWTH} bytes")
        if "Regex" in (step.get("pattern") or {}) and len(step.get("content", "")) > 1:  # it may match everywhere
            raise UserError(f"{path}: an expression is replaced by {step['content'][:60]!r}; expected one character")
    return texts


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(one)


_ESCAPED_OR_SET = re.compile(r"\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
_WITHOUT_END = re.compile(r"[*+]|\{\d*,\d{0,9}\}")


def _check_pattern(path: Path, pattern: str) -> None:
    if re.search(r"\\[1-9gk]|\(\?[R(&]", pattern):
        raise UserError(f"{path}: a regular expression with back-references may take years: {pattern[:60]!r}")
    bare = _ESCAPED_OR_SET.sub("x", pattern)
    starred = [found[0] for found in re.finditer(r"\((?:[^()]|\([^()]*\))*\)(?:[*+]|\{\d*,\d*\})", bare)]
    if any(_WITHOUT_END.search(group[:-1].rstrip("*+")) for group in starred):
        raise UserError(f"{path}: nested repetition in a regular expression may take years: {pattern[:60]!r}")


def _try(path: Path, named: list[str], most: int) -> None:
    """Use the tokenizer in a process that may crash."""
    command = [sys.executable, "-I", "-c", TRIAL, str(path.resolve())]
    try:
        given = json.dumps([named, most, MOST_GROWTH]).encode()
        tried = subprocess.run(command, input=given, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        tried = None
    if tried is None or tried.stdout.strip() != b"tried":
        raise UserError(f"{path} does not load, or an awkward text takes seconds, grows over {MOST_GROWTH} times,"
                        " or gets ids beyond the vocabulary: it is not used")
