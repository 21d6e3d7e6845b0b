"""Rows of text from anywhere: storybook, TSV, CSV, JSONL, Parquet, parallel text files, a folder, a Hub dataset.

`find_part` says where a split lies; its rows are then read one by one, never all at once.  The first row tells which
columns there are, or is refused; a later one that cannot be read is handed on as a `Fault`, for pairs.py to count.
`datasets` reads the same files, but names no line of one that is broken.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import itertools
import json
import os
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.streams import UTF_16, is_utf16
from .cache import fingerprint
from .config import DataConfig

TABLES = {".tsv", ".csv", ".jsonl", ".json", ".parquet"}
CODE = r"[a-z]{2,3}"  # of a language
REGIONAL = CODE + r"(-[a-z]{4})?-([a-z]{4}|[a-z]{2}|\d{3})"  # of one written somewhere: pt-br, eng-latn, zh-hant-tw
HUB_NAME = r"[\w.-]+/[\w.-]+"  # owner/name
LONGEST = 2**24  # bytes of a line: one that is longer is not read to its end
BOM, CR = "byte-order marks, taken off", "Windows line ends, taken off"


class Fault(str):
    """What is wrong with a row, where its sides would be."""


Row = tuple[int, list[str] | Fault]  # line number, then the source side and each target side


@dataclass(frozen=True)
class Part:
    """One split of a corpus."""

    where: str  # for messages
    made_of: tuple[Path | str, ...]  # files, and what else decides what the rows are
    rows: Callable[[], Iterator[Row]]
    mended: Counter[str] = field(default_factory=Counter)  # what was taken off the lines that were read so far

    def fingerprint(self) -> str:
        """Of the files' names and content: a copy has the same, and a change of one letter another."""
        items: list[str | list[str]] = []
        for item in self.made_of:
            if isinstance(item, str):
                items.append(item)
                continue
            try:
                with item.open("rb") as file:
                    items.append([item.name, hashlib.file_digest(file, "blake2b").hexdigest()])
            except OSError as error:
                raise UserError(f"cannot read {item}: {error.strerror}") from None
        return fingerprint(items)


def find_part(
    data: DataConfig, split: str, *, seed: int = 0, optional: Sequence[str] = ("val",)
) -> Part | None:
    """Where a split lies; None where the corpus is not divided into splits and this is not `train`, or where it has no
    such split and this is one of the optional ones."""
    assert data.path is not None  # several corpora are read one by one
    languages = [data.source, *data.targets]
    if data.path == "storybook":
        return _storybook(split, languages, seed)
    if isinstance(data.path, list):
        if len(data.path) != len(languages):
            raise UserError(f"data.path names {len(data.path)} files, expected one for each of {', '.join(languages)}")
        return _parallel([Path(item) for item in data.path]) if split == "train" else None
    path = Path(data.path)
    if path.is_dir():
        return _folder(path, split, languages, optional)
    if is_nowhere(data):
        raise UserError(
            f"data.path {data.path!r} is no file or folder here; give one, or storybook, or a Hub dataset as owner/name"
        )
    if not is_table(data):
        return _hub(data.path, split, languages, optional)
    if split != "train":
        return None
    if _suffix(path) in TABLES:
        return _table(path, languages)
    if files := _siblings(path, languages):
        return _parallel(files)
    raise UserError(
        f"{path} is none of {', '.join(sorted(TABLES))}, and there are no {path.stem}.{{{','.join(languages)}}}"
        " beside it; give data.path=[SOURCE_FILE,TARGET_FILE]"
    )


def is_table(data: DataConfig) -> bool:
    """Whether the pairs come as one table or as parallel files, and so in no parts."""
    if isinstance(data.path, list):
        return True
    assert data.path is not None
    path = Path(data.path)
    if data.path == "storybook" or path.is_dir():
        return False
    return path.is_file() or bool(_siblings(path, [data.source, *data.targets]))


def is_nowhere(data: DataConfig) -> bool:
    """Whether the data are not here, and have no name that the Hub could know."""
    if isinstance(data.path, list):
        return not all(Path(item).is_file() for item in data.path)
    assert data.path is not None
    path = Path(data.path)
    if data.path == "storybook" or path.is_dir() or is_table(data):
        return False
    looks_local = _suffix(path) in TABLES or (path.parent.is_dir() and "/" in data.path)
    return looks_local or not re.fullmatch(HUB_NAME, data.path.partition(":")[0])


def absolute(data: DataConfig) -> DataConfig:
    """The data as they are found from any folder: with absolute paths where these are of files or folders here."""
    if data.corpora:
        corpora = [replace(one, path=_absolute(part)) for one, part in zip(data.corpora, data.parts(), strict=True)]
        return replace(data, corpora=corpora, folder=None)
    return replace(data, path=_absolute(data))


def _absolute(data: DataConfig) -> str | list[str]:
    assert data.path is not None
    if isinstance(data.path, list):
        return list(map(os.path.abspath, data.path))
    here = Path(data.path).is_dir() or is_table(data)
    return os.path.abspath(data.path) if here and data.path != "storybook" else data.path


# Where rows lie

def _folder(folder: Path, split: str, languages: Sequence[str], optional: Sequence[str]) -> Part | None:
    """`{split}.{language}[.gz]`, one file a language, or one table `{split}.tsv` or the like."""
    if files := _siblings(folder / split, languages):
        return _parallel(files)
    for path in sorted(folder.glob(f"{split}.*")):
        if _suffix(path) in TABLES:
            return _table(path, languages)
    if split in optional:
        return None
    there = sorted({re.sub(r"\.gz$", "", item.name) for item in folder.iterdir()})
    expected = ", ".join(f"{split}.{language}[.gz]" for language in languages)
    raise UserError(f"{folder} has no {expected}; it holds {', '.join(there[:20]) or 'nothing'}")


def _siblings(path: Path, languages: Sequence[str]) -> list[Path]:
    """The files `stem.en`, `stem.fr` (gzipped or not), path being their stem or one of them; none if one is missing."""
    stem = re.sub(r"\.gz$", "", str(path))
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
    if list(languages) != ["en", "fr"]:
        raise UserError(f"storybook is English to French, not {' to '.join(languages)}", exit_code=2)
    if split not in ("train", "val", "test"):
        raise UserError(f"storybook has the splits train, val and test, not {split!r}", exit_code=2)
    from .. import storybook

    grammar = sorted(Path(storybook.__file__).parent.glob("*.py"))
    return Part("storybook", (*grammar, f"{split} {seed}"), lambda: iter(_written_storybook(seed)[split]))


@lru_cache(maxsize=1)
def _written_storybook(seed: int) -> dict[str, list[Row]]:
    from ..storybook import generate

    book = generate(seed=seed)
    return {
        split: [(number, [pair.source, pair.target]) for number, pair in enumerate(pairs, start=1)]
        for split, pairs in (("train", book.train), ("val", book.val), ("test", book.test))
    }


def _hub(path: str, split: str, languages: Sequence[str], optional: Sequence[str]) -> Part | None:
    """A dataset of the Hub, `owner/name` or `owner/name:configuration`; its `validation` split is our `val`."""
    name, _, configuration = path.partition(":")
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
    if split not in table:
        if split in optional:
            return None
        raise UserError(f"{path} has the splits {', '.join(table)}, not {split!r}")
    rows = table[split]
    return Part(f"{path} ({split})", (rows._fingerprint,), partial(_records, rows, languages, path))


# How rows are written

def read_lines(path: Path, *, mended: Counter[str] | None = None) -> Iterator[str]:
    """The lines of a UTF-8 text file, gzipped or not, without their ends; only a newline ends a line.

    With `mended`, what is taken off is counted there, and a byte that is not UTF-8 is no error: it becomes a lone
    surrogate (PEP 383), and its pair a fault.
    """
    number, counts = 0, Counter() if mended is None else mended
    errors = "strict" if mended is None else "surrogateescape"
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST + 1), b""), start=1):
                if len(line) > LONGEST:
                    raise UserError(f"{path}, line {number}, has more than {LONGEST:,} bytes, expected a sentence")
                if number == 1 and is_utf16(line):
                    raise UserError(f"{path}: {UTF_16}")
                line = line.removesuffix(b"\n")
                if number == 1 and line.startswith(codecs.BOM_UTF8):
                    line = line.removeprefix(codecs.BOM_UTF8)
                    counts[BOM] += 1
                if line.endswith(b"\r"):
                    line = line.removesuffix(b"\r")
                    counts[CR] += 1
                yield line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, line {number}: byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _parallel(files: Sequence[Path]) -> Part:
    mended: Counter[str] = Counter()
    return Part(str(files[0]), tuple(files), partial(_side_by_side, files, mended), mended)


def _side_by_side(files: Sequence[Path], mended: Counter[str]) -> Iterator[Row]:
    counts = [0] * len(files)
    lines = (read_lines(file, mended=mended) for file in files)
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


def _table(path: Path, languages: Sequence[str]) -> Part:
    mended: Counter[str] = Counter()
    return Part(str(path), (path,), partial(_table_rows, path, languages, mended), mended)


def _table_rows(path: Path, languages: Sequence[str], mended: Counter[str]) -> Iterator[Row]:
    suffix = _suffix(path)
    if suffix == ".parquet":
        return _records(_parquet(path), languages, str(path))
    lines = _without_blank_end(read_lines(path, mended=mended))
    if suffix in (".jsonl", ".json"):
        return _records(_json_lines(lines, path), languages, str(path))
    rows = _comma_separated(lines) if suffix == ".csv" else _tab_separated(lines)
    return _delimited(rows, languages, path)


def _without_blank_end(lines: Iterator[str]) -> Iterator[str]:
    """The lines but for blank ones at the end of the file."""
    blank: list[str] = []
    for line in lines:
        blank.append(line)
        if line.strip(" "):
            yield from blank
            blank.clear()


def _tab_separated(lines: Iterator[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        yield number, line.split("\t")


def _comma_separated(lines: Iterator[str]) -> Iterator[Row]:
    """Rows of CSV, whose quoted fields may have line breaks.

    An unclosed quote loses its own line alone: those after it that it took in are read as rows of their own.  Not in a
    file that had fields of several lines before: there they may be parts of one, and each is lost, and counted.
    """
    again: deque[str | None] = deque()  # lines to read once more; None is the end of the file
    taken: list[str | None] = []  # the lines of this row, and what an unclosed quote takes in
    number, columns, has_line_breaks = 1, 0, False

    def take() -> Iterator[str]:
        while True:
            line = again.popleft() if again else next(lines, None)
            taken.append(line)
            if line is None:
                return
            yield line + "\n"

    while True:
        taken.clear()
        cells: list[str] | Fault
        try:
            cells = next(csv.reader(take(), strict=True))
            columns = columns or len(cells)
        except StopIteration:
            return
        except csv.Error as error:
            cells = Fault(f"not CSV ({error})")
        if len(taken) == 1 or (isinstance(cells, list) and len(cells) == columns):
            has_line_breaks = has_line_breaks or len(taken) > 1
            yield number, cells
            number += len(taken)
        else:
            lost = len(taken) - taken.count(None) if has_line_breaks else 1
            again.extendleft(reversed(taken[lost:]))
            yield from ((number + index, Fault("an unclosed quote")) for index in range(lost))
            number += lost


def _spelt(language: str) -> str:
    """A language's name for comparison: `pt_BR` is `pt-br`."""
    return language.strip().casefold().replace("_", "-")


def _name_languages(names: Collection[str], wanted: Sequence[str]) -> bool:
    """Whether columns are named by their languages, so that none may be taken for one of another name by its place."""
    if any(name in wanted or re.fullmatch(REGIONAL, name) for name in names):
        return True
    return all(re.fullmatch(CODE, name) for name in names)


def _delimited(rows: Iterator[Row], languages: Sequence[str], path: Path) -> Iterator[Row]:
    """Rows of a table whose header names languages, or which has just one column a language, in order."""
    first_line, first = next(rows, (1, [""]))
    wanted = list(map(_spelt, languages))
    names = [first] if isinstance(first, Fault) else [cell.strip() for cell in first]
    header = list(map(_spelt, names))
    named = set(wanted) <= set(header)
    if named:
        columns = [header.index(language) for language in wanted]
        if any(header.count(language) > 1 for language in wanted):
            raise UserError(f"{path}, line 1: two columns of one name in {', '.join(names)[:80]!r}; rename one of them")
    elif len(header) == len(wanted) and not _name_languages(header, wanted):
        columns = list(range(len(languages)))
        yield first_line, first
    else:
        raise UserError(
            f"{path}, line 1: expected a header with the columns {', '.join(languages)}, found"
            f" {', '.join(names)[:80]!r}; name the columns, or set data.source and data.target"
        )
    for line, cells in rows:
        if isinstance(cells, Fault):
            yield line, cells
        elif named and cells == first:
            yield line, Fault("the header again")
        elif len(cells) != len(first):
            yield line, Fault(f"expected {len(first)} columns as in line 1, found {len(cells)}")
        else:
            yield line, [cells[column] for column in columns]


def _json_lines(lines: Iterator[str], path: Path) -> Iterator[Any]:
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.lstrip().startswith("["):
            raise UserError(f"{path}, line 1: a JSON array, expected one object a line, as jq -c '.[]' writes them")
        yield _parsed(line)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return Fault(f"not JSON ({getattr(error, 'msg', type(error).__name__)}), one object a line")


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                yield from batch.to_pylist()
    except Exception as error:  # pyarrow's errors have no common class beside Exception
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _records(rows: Iterable[Any], languages: Sequence[str], where: str) -> Iterator[Row]:
    """Records {"en": ..., "fr": ...}, {"translation": {...}}, or with just as many fields as languages, in order."""
    wanted = list(map(_spelt, languages))
    for number, row in enumerate(rows, start=1):
        record = row.get("translation", row) if isinstance(row, dict) else {}
        record = record if isinstance(record, dict) else {}
        named = {_spelt(key): side for key, side in record.items()}
        sides: list[Any] = []
        if set(wanted) <= set(named):
            sides = [named[language] for language in wanted]
        elif len(record) == len(wanted) and not _name_languages(named, wanted):
            sides = list(record.values())
        missing = ", ".join(name for name, language in zip(languages, wanted, strict=True) if language not in named)
        if isinstance(row, Fault):
            yield number, row
        elif sides and all(isinstance(side, str) for side in sides):
            yield number, sides
        elif sides:
            yield number, Fault(f"expected text, found {', '.join(type(side).__name__ for side in sides)}")
        elif number > 1:
            yield number, Fault(f"no column {missing}")
        else:
            raise UserError(
                f"{where}, line {number}: no column {missing} (found {', '.join(record)[:80] or 'none'});"
                " set data.source and data.target, or rename the columns"
            )
