"""Which languages the first line of a table names, without reading more of it."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Collection, Iterable
from pathlib import Path

from seq2see.languages import NAMES
from ..tokenizer.language_codes import is_language

FIRST = 2**16  # characters of a first line that are read
CODES = {name.casefold(): code for code, name in NAMES.items()}
NO_LANGUAGE = {"id", "idx", "lang", "src", "tgt", "trg", "ref"}  # columns of tables; some are codes too


def languages_of(path: Path, *, own: Collection[str] = ()) -> list[str]:
    """The columns or keys that are languages, in order, as codes; none of a file that has no such header.

    `own` are codes of a model besides those of ISO 639.  A column that may be something else, such as `id`, is a
    language only where there would be one too few.
    """
    named = [CODES.get(name.strip().casefold(), name.strip()) for name in _names(path)]
    found = [name for name in named if name in CODES.values() or name in own or _is_code(name)]
    certain = [name for name in found if name not in NO_LANGUAGE]
    return found if len(found) == 2 else certain


def _is_code(name: str) -> bool:
    return 2 <= len(name) <= 12 and name.replace("-", "").replace("_", "").isalnum() and is_language(name)


def _names(path: Path) -> list[str]:
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if not path.is_file() or suffix not in (".csv", ".tsv", ".json", ".jsonl", ".parquet"):
        return []
    if suffix == ".parquet":
        import pyarrow.parquet

        try:
            return list(pyarrow.parquet.read_schema(path).names)
        except Exception:  # pyarrow's errors have no common class beside Exception; reading.py reports them
            return []
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            line = file.readline(FIRST).rstrip("\r\n")
        if suffix == ".tsv":
            return line.split("\t")
        return next(csv.reader([line]), []) if suffix == ".csv" else _keys(json.loads(line))
    except (OSError, EOFError, ValueError, csv.Error):  # reading.py says what is wrong
        return []


def _keys(record: object) -> list[str]:
    if not isinstance(record, dict):
        return []
    inner = record.get("translation")
    names: Iterable[str] = inner if isinstance(inner, dict) else record
    return list(names)
