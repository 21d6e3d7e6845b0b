"""Rows of text from anywhere: storybook, TSV, CSV, JSONL, Parquet, parallel text files, a folder, a Hub dataset.

`find_part` says where a split lies; its rows are then read one by one, never all at once.  A row that cannot be read is
handed on as a `Fault`, for pairs.py to count: `datasets` reads the same files, but names no line of one that is broken.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.languages import NAMES
from seq2see.manifest import sha256
from seq2see.streams import UTF_16
from .cache import fingerprint
from .config import DataConfig

TABLES = (".csv", ".json", ".jsonl", ".parquet", ".tsv")
LANGUAGE = r"[a-z]{2,3}(-[a-z0-9]{2,4})*"  # a code, such as pt, pt-br or zh-hant-tw
HEADER_WORDS = {"source", "target", "src", "tgt", "trg", "text", "sentence", *map(str.casefold, NAMES.values())}
HUB_NAME = r"[\w.-]+/[\w.-]+"  # owner/name


class Fault(str):
    """What is wrong with a row, where its sides would be."""


Row = tuple[int, list[str] | Fault]  # line number, then the source side and each target side


@dataclass(frozen=True)
class Part:
    """One split of a corpus."""

    where: str  # for messages
    made_of: tuple[Path | str, ...]  # files, and what else decides what the rows are
    rows: Callable[[], Iterator[Row]]

    def fingerprint(self) -> str:
        """Of the files' names and content: a copy has the same, and a change of one letter another."""
        return fingerprint([item if isinstance(item, str) else [item.name, sha256(item)] for item in self.made_of])


def find_part(data: DataConfig, split: str, *, seed: int = 0, optional: Sequence[str] = ("val",)) -> Part | None:
    """Where a split lies; None where the corpus is not divided into splits and this is not `train`, or where it has no
    such split and this is one of the optional ones."""
    languages, (kind, files) = [data.source, *data.targets], locate(data)
    if kind == "storybook":
        return _storybook(split, languages, seed)
    if kind == "nowhere":
        raise UserError(
            f"data.path {data.path!r} is no folder, no table ({', '.join(TABLES)}) and no parallel text files"
            f" ({', '.join(f'NAME.{language}' for language in languages)}) here; give one, or storybook, or a Hub"
            " dataset as owner/name"
        )
    if isinstance(data.path, list) and len(files) != len(languages):
        raise UserError(f"data.path names {len(files)} files, expected one for each of {', '.join(languages)}")
    if kind == "files":
        return _of_files(files, languages) if split == "train" else None
    return (_folder if kind == "folder" else _hub)(Path(str(data.path)), split, languages, optional)


def locate(data: DataConfig) -> tuple[str, list[Path]]:
    """What `data.path` names: `storybook`, `files` (one table or parallel ones, which have no parts) and which, a
    `folder`, a data set of the `hub`, or `nowhere`, where it is not here and has no name that the Hub could know."""
    languages, name = [data.source, *data.targets], str(data.path)
    if isinstance(data.path, list):
        files = [Path(item) for item in data.path]
        return "files" if all(map(Path.is_file, files)) else "nowhere", files
    if name == "storybook":
        return "storybook", []
    path = Path(name)
    is_table = path.is_file() and _suffix(path) in TABLES
    if files := [path] if is_table else _siblings(path, languages):
        return "files", files
    looks_local = _suffix(path) in TABLES or (path.parent.is_dir() and "/" in name)
    remote = not looks_local and re.fullmatch(HUB_NAME, name.partition(":")[0])
    return "folder" if path.is_dir() else "hub" if remote else "nowhere", []


def is_table(data: DataConfig) -> bool:
    return locate(data)[0] == "files"


def is_nowhere(data: DataConfig) -> bool:
    return locate(data)[0] == "nowhere"


def absolute(data: DataConfig) -> DataConfig:
    """The data as they are found from any folder: with absolute paths where these are of files or folders here."""
    if data.corpora:
        corpora = [replace(one, path=absolute(part).path or "")
                   for one, part in zip(data.corpora, data.parts(), strict=True)]  # fmt: skip
        return replace(data, corpora=corpora, folder=None)
    if isinstance(data.path, list):
        return replace(data, path=list(map(os.path.abspath, data.path)))
    return replace(data, path=os.path.abspath(str(data.path))) if locate(data)[0] in ("files", "folder") else data


# Where rows lie

def _of_files(files: Sequence[Path], languages: Sequence[str]) -> Part:
    rows = partial(_table_rows, files[0], languages) if len(files) == 1 else partial(_side_by_side, files)
    return Part(str(files[0]), tuple(files), rows)


def _folder(folder: Path, split: str, languages: Sequence[str], optional: Sequence[str]) -> Part | None:
    """`{split}.{language}[.gz]`, one file a language, or one table `{split}.tsv` or the like."""
    tables = [path for path in sorted(folder.glob(f"{split}.*")) if _suffix(path) in TABLES]
    if files := _siblings(folder / split, languages) or tables[:1]:
        return _of_files(files, languages)
    if split in optional:
        return None
    expected = ", ".join(f"{split}.{language}[.gz]" for language in languages)
    there = ", ".join(sorted(item.name for item in folder.iterdir())[:20])
    raise UserError(f"{folder} has no {expected}; it holds {there or 'nothing'}")


def _siblings(path: Path, languages: Sequence[str]) -> list[Path]:
    """The files `stem.en`, `stem.fr` (gzipped or not), path being their stem or one of them; none if one is missing."""
    stem = str(path).removesuffix(".gz")
    for language in languages:
        stem = stem.removesuffix(f".{language}")
    found = []
    for language in languages:
        options = [Path(f"{stem}.{language}"), Path(f"{stem}.{language}.gz")]
        found += [option for option in options if option.is_file()][:1]
    return found if len(found) == len(languages) else []


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _storybook(split: str, languages: Sequence[str], seed: int) -> Part:
    if list(languages) not in (["en", "fr"], ["en", "de"], ["en", "es"]):
        raise UserError(
            f"storybook is English to one of French, German and Spanish, not {' to '.join(languages)}", exit_code=2
        )
    if split not in ("train", "val", "test"):
        raise UserError(f"storybook has the splits train, val and test, not {split!r}", exit_code=2)
    from .. import storybook

    grammar = sorted(Path(storybook.__file__).parent.glob("*.py"))
    return Part(
        "storybook",
        (*grammar, f"{split} {seed} {languages[1]}"),
        lambda: enumerate(([pair.source, pair.target] for pair in getattr(book(languages[1], seed), split)), start=1),
    )


@lru_cache(maxsize=3)
def book(target: str, seed: int) -> Any:
    """Storybook in a language, written once."""
    from ..storybook import in_language

    return in_language(target, seed=seed)


def _hub(path: Path, split: str, languages: Sequence[str], optional: Sequence[str]) -> Part | None:
    """A dataset of the Hub, `owner/name` or `owner/name:configuration`; its `validation` split is our `val`."""
    name, _, configuration = path.as_posix().partition(":")
    from datasets import load_dataset

    try:
        table = load_dataset(name, configuration or None)
    except Exception as error:  # offline, unknown, gated, ill-formed: the library has no common class
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{path} is no file or folder here, and the Hub dataset of that name cannot be had ({reason});"
            " override it with data.path=FILE_OR_FOLDER, to evaluate with --data FILE_OR_FOLDER"
        ) from None
    split = "validation" if split == "val" and "validation" in table else split
    if split in table:
        rows = table[split]
        return Part(f"{path} ({split})", (rows._fingerprint,), partial(_records, rows, languages))
    if split in optional:
        return None
    raise UserError(f"{path} has the splits {', '.join(table)}, not {split!r}")


# How rows are written

def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, gzipped or not, without their ends; only a newline ends a line.

    A byte that is not UTF-8 becomes a lone surrogate (PEP 383), and its pair a fault.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            for number, line in enumerate(file):
                if number == 0 and "\0" in line:
                    raise UserError(f"{path}: {UTF_16}")
                yield line.removesuffix("\n").removesuffix("\r")
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _side_by_side(files: Sequence[Path]) -> Iterator[Row]:
    counts = [0] * len(files)
    lines = (read_lines(file) for file in files)
    for number, sides in enumerate(itertools.zip_longest(*lines), start=1):
        counts = [count if side is None else number for count, side in zip(counts, sides, strict=True)]
        if min(counts) == number:
            yield number, list(sides)
    for path, count in zip(files, counts, strict=True):
        if count != counts[0]:
            raise UserError(
                f"{files[0]} has {counts[0]} lines and {path} {count}: line i of one must translate line i"
                " of the other; find the line that is missing"
            )


def _table_rows(path: Path, languages: Sequence[str]) -> Iterator[Row]:
    suffix = _suffix(path)
    if suffix == ".parquet":
        return _records(_parquet(path), languages)
    lines = read_lines(path)
    if suffix in (".jsonl", ".json"):
        return _records(map(_parsed, lines), languages)
    tabs = ((number, line.split("\t")) for number, line in enumerate(lines, start=1) if line.strip(" "))
    return _delimited(_comma_separated(lines, path, languages) if suffix == ".csv" else tabs, languages, path)


def _comma_separated(
    lines: Iterator[str], path: Path, languages: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """Rows of CSV, whose quoted fields may have line breaks.  UserError for semicolons, as spreadsheets may write."""
    first = next(lines, "")
    reader = csv.reader((f"{line}\n" for line in itertools.chain([first], lines)), strict=True)
    number = 1
    try:
        commas, semicolons = (_columns(next(csv.reader([first], delimiter=mark), ()), languages)[0] for mark in ",;")
        if commas is None and semicolons is not None:
            raise UserError(f"{path}, line 1: the columns are separated by semicolons, expected commas; save it with"
                            " commas, or with tabs as a .tsv file")
        for cells in reader:
            if cells:
                yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}, line {number}: not CSV ({error}); mend the row that begins there") from None


def _columns(names: Iterable[str], languages: Sequence[str]) -> tuple[list[int] | None, bool]:
    """Where a table has the languages, and whether its columns are named by them, in whatever case, `pt_BR` as `pt-br`.

    Columns of other names are taken in their order, where there is one a language; not those of other languages.
    """
    found, wanted = ([name.strip().casefold().replace("_", "-") for name in some] for some in (names, languages))
    if set(wanted) <= set(found):
        return [found.index(language) for language in wanted], True
    others = any(name in wanted for name in found) or all(re.fullmatch(LANGUAGE, name) for name in found)
    return (None if others or len(found) != len(wanted) else list(range(len(wanted)))), False


def _is_header(cells: Sequence[str], languages: Sequence[str]) -> bool:
    """Whether a first line names columns, such as `English, German`, `source_text, target_text` or `question_en,
    answer_de`."""
    with_code = re.compile(rf"\s*\S*[_-](?:{'|'.join(map(re.escape, languages))})\s*", re.IGNORECASE)
    if all(map(with_code.fullmatch, cells)):
        return True
    words = [re.findall(r"[^\W_]+", cell.casefold()) for cell in cells]
    known = HEADER_WORDS | {language.casefold() for language in languages}
    return len(set(map(tuple, words))) == len(cells) and all(cell and known.issuperset(cell) for cell in words)


def _delimited(rows: Iterator[tuple[int, list[str]]], languages: Sequence[str], path: Path) -> Iterator[Row]:
    """Rows of a table whose header names languages, or which has just one column a language, in order."""
    first_line, first = next(rows, (1, [""]))
    columns, named = _columns(first, languages)
    if columns is None:
        raise UserError(
            f"{path}, line 1: expected a header with the columns {', '.join(languages)}, found"
            f" {', '.join(first)[:80]!r}; name the columns, or set data.source and data.target"
        )
    if not named and _is_header(first, languages):
        raise UserError(f"{path}, line 1: {', '.join(first)!r} is a header and no pair; name the columns by language"
                        f" codes: {', '.join(languages)}")  # fmt: skip
    for line, cells in rows if named else itertools.chain([(first_line, first)], rows):
        if len(cells) == len(first):
            yield line, [cells[column] for column in columns]
        else:
            yield line, Fault(f"expected {len(first)} columns as in line 1, found {len(cells)}")


def _parsed(line: str) -> Any:
    try:
        return json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return Fault("not JSON, one object a line")


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                yield from batch.to_pylist()
    except Exception as error:  # pyarrow's errors have no common class beside Exception
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _records(rows: Iterable[Any], languages: Sequence[str]) -> Iterator[Row]:
    """Records {"en": ..., "fr": ...}, {"translation": {...}}, or with just as many fields as languages, in order."""
    for number, row in enumerate(rows, start=1):
        record = row.get("translation", row) if isinstance(row, dict) else row
        values = list(record.values()) if isinstance(record, dict) else []
        columns, _ = _columns(record, languages) if values else (None, False)
        sides = [values[column] for column in columns or ()]
        if isinstance(row, Fault):
            yield number, row
        elif sides and all(isinstance(side, str) for side in sides):
            yield number, sides
        elif row is not None:  # a blank line
            yield number, Fault(f"no text for {', '.join(languages)}; data.source and data.target name the fields")
