"""Sentence pairs from anywhere: storybook, TSV, CSV, JSONL, Parquet, parallel text files, a folder, a Hub dataset.

`load_corpus` gives training and validation pairs, `load_split` one named split.  Text is stripped and brought to
Unicode NFC here; the tokenizer never changes it.  Nothing is cut short: a pair with an empty or overlong side is
refused, or with `data.on_bad=skip` left out and counted.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.training.config import DataConfig

TABLES = {".tsv", ".csv", ".jsonl", ".json", ".parquet"}
Row = tuple[int, list[str]]  # line number, then the source side and each target side


@dataclass(frozen=True)
class Pair:
    source: str
    target: str
    source_language: str
    target_language: str


@dataclass(frozen=True)
class Corpus:
    train: list[Pair]
    val: list[Pair]
    skipped: dict[str, int]  # what was wrong with pairs that data.on_bad=skip left out -> how many


@dataclass
class Cleaner:
    """Turns rows into pairs, and counts the bad ones: `finish` refuses them unless they are to be skipped."""

    data: DataConfig
    skipped: Counter[str] = field(default_factory=Counter)

    def pairs(self, rows: Iterable[Row], where: str) -> list[Pair]:
        languages = [self.data.source, *self.data.targets]
        found: list[Pair] = []
        faults: Counter[str] = Counter()
        first: dict[str, int] = {}
        for line, sides in rows:
            texts = [unicodedata.normalize("NFC", side.strip()) for side in sides]
            for text, language in zip(texts[1:], languages[1:], strict=True):
                fault = self._fault(texts[0], text)
                if fault:
                    faults[fault] += 1
                    first.setdefault(fault, line)
                else:
                    found.append(Pair(texts[0], text, self.data.source, language))
        if faults and self.data.on_bad == "refuse":
            fault, count = faults.most_common(1)[0]
            raise UserError(
                f"{where}, line {first[fault]}: {fault} ({count} such, {sum(faults.values())} bad pairs in all);"
                " mend the file, or leave such pairs out with data.on_bad=skip"
            )
        self.skipped.update(faults)
        return found

    def _fault(self, source: str, target: str) -> str | None:
        if not source or not target:
            return "an empty side"
        if max(len(source), len(target)) > self.data.max_characters:
            return f"a side longer than data.max_characters={self.data.max_characters}"
        return None


def load_corpus(data: DataConfig, *, seed: int = 0) -> Corpus:
    """Training and validation pairs.  One table is split by a hash of the source sentence (`data.val_fraction`)."""
    cleaner = Cleaner(data)
    train = _read(data, "train", cleaner, seed)
    val = _read(data, "val", cleaner, seed)
    if val is None:
        train, val = _split_by_hash(train or [], data.val_fraction)
    if not train or not val:
        raise UserError(
            f"{data.path} gives {len(train or [])} training and {len(val)} validation pairs; both are needed:"
            " give more pairs or raise data.val_fraction"
        )
    return Corpus(train, val, dict(cleaner.skipped))


def load_split(data: DataConfig, split: str, *, seed: int = 0) -> list[Pair]:
    """The pairs of one part: `train`, `val`, or any other part that storybook, a folder or a Hub dataset has."""
    if split in ("train", "val"):
        return getattr(load_corpus(data, seed=seed), split)
    pairs = _read(data, split, Cleaner(data), seed)
    if pairs is None:
        raise UserError(f"{data.path} is one table, split into train and val; there is no {split!r}")
    return pairs


def load_all(data: DataConfig) -> list[Pair]:
    """Every pair of one table or of parallel files."""
    return _read(data, "train", Cleaner(data), 0) or []


def is_table(data: DataConfig) -> bool:
    """Whether the pairs come as one table or as parallel files, and so in no parts."""
    if isinstance(data.path, list):
        return True
    path = Path(data.path)
    if data.path == "storybook" or path.is_dir():
        return False
    return path.is_file() or bool(_siblings(path, [data.source, *data.targets]))


def _read(data: DataConfig, split: str, cleaner: Cleaner, seed: int) -> list[Pair] | None:
    """Pairs of a split; None where the corpus is not divided into splits and this is not `train`."""
    languages = [data.source, *data.targets]
    if data.path == "storybook":
        return _storybook(split, languages, seed)
    if isinstance(data.path, list):
        if len(data.path) != len(languages):
            raise UserError(f"data.path names {len(data.path)} files, expected one for each of {', '.join(languages)}")
        files = [Path(item) for item in data.path]
        return cleaner.pairs(_parallel(files), str(files[0])) if split == "train" else None
    path = Path(data.path)
    if path.is_dir():
        return _folder(path, split, languages, cleaner)
    if not is_table(data):
        return _hub(data.path, split, languages, cleaner)
    if split != "train":
        return None
    if _suffix(path) in TABLES:
        return cleaner.pairs(_table(path, languages), str(path))
    if files := _siblings(path, languages):
        return cleaner.pairs(_parallel(files), str(files[0]))
    raise UserError(
        f"{path} is none of {', '.join(sorted(TABLES))}, and there are no {path.stem}.{{{','.join(languages)}}}"
        " beside it; give data.path=[SOURCE_FILE,TARGET_FILE]"
    )


# Where pairs lie

def _folder(folder: Path, split: str, languages: Sequence[str], cleaner: Cleaner) -> list[Pair] | None:
    """`{split}.{language}[.gz]`, one file a language, or one table `{split}.tsv` or the like."""
    if files := _siblings(folder / split, languages):
        return cleaner.pairs(_parallel(files), str(files[0]))
    for path in sorted(folder.glob(f"{split}.*")):
        if _suffix(path) in TABLES:
            return cleaner.pairs(_table(path, languages), str(path))
    if split == "val":
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


def _storybook(split: str, languages: Sequence[str], seed: int) -> list[Pair]:
    from seq2see.training.storybook import generate

    if list(languages) != ["en", "fr"]:
        raise UserError(f"storybook is English to French, not {' to '.join(languages)}", exit_code=2)
    if split not in ("train", "val", "test"):
        raise UserError(f"storybook has the splits train, val and test, not {split!r}", exit_code=2)
    return [Pair(pair.source, pair.target, "en", "fr") for pair in getattr(generate(seed=seed), split)]


def _hub(path: str, split: str, languages: Sequence[str], cleaner: Cleaner) -> list[Pair] | None:
    """A dataset of the Hub, `owner/name` or `owner/name:configuration`; its `validation` split is our `val`."""
    name, _, configuration = path.partition(":")
    looks_local = _suffix(Path(path)) in TABLES or (Path(path).parent.is_dir() and "/" in path)
    if looks_local or not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise UserError(
            f"data.path {path!r} is no file or folder here; give one, or storybook, or a Hub dataset as owner/name"
        )
    from datasets import load_dataset

    try:
        table = load_dataset(name, configuration or None)
    except Exception as error:  # offline, unknown, gated, ill-formed: the library has no common class
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{path} is no file or folder here, and the Hub dataset of that name cannot be had ({reason});"
            " override it with data.path=FILE_OR_FOLDER"
        ) from None
    split = "validation" if split == "val" and "validation" in table else split
    if split not in table:
        if split == "val":
            return None
        raise UserError(f"{path} has the splits {', '.join(table)}, not {split!r}")
    return cleaner.pairs(_records(table[split], languages, path), f"{path} ({split})")


def _split_by_hash(pairs: Sequence[Pair], fraction: float) -> tuple[list[Pair], list[Pair]]:
    """All pairs of one source sentence fall on the same side, whatever else the corpus holds."""
    limit = int(fraction * 2**64)
    sides: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        digest = hashlib.blake2b(pair.source.encode(), digest_size=8).digest()
        sides[int.from_bytes(digest, "big") < limit].append(pair)
    return sides


# How pairs are written

def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file, gzipped or not, without their ends; only a newline ends a line."""
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    lines = []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            lines.append(line.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path}, line {number}: byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8"
            ) from None
    return lines[:-1] if lines[-1] == "" else lines


def _parallel(files: Sequence[Path]) -> Iterator[Row]:
    columns = [read_lines(path) for path in files]
    for path, column in zip(files[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            raise UserError(
                f"{files[0]} has {len(columns[0])} lines and {path} {len(column)}: line i of one must translate line i"
                " of the other; find the line that is missing"
            )
    for number, sides in enumerate(zip(*columns, strict=True), start=1):
        yield number, list(sides)


def _table(path: Path, languages: Sequence[str]) -> Iterator[Row]:
    suffix = _suffix(path)
    if suffix == ".parquet":
        import pyarrow.parquet

        try:
            rows = pyarrow.parquet.read_table(path).to_pylist()
        except Exception as error:  # pyarrow's errors have no common class beside Exception
            raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
        return _records(rows, languages, str(path))
    if suffix in (".jsonl", ".json"):
        return _records(_json_lines(path), languages, str(path))
    if suffix == ".csv":
        reader = csv.reader(line + "\n" for line in read_lines(path))
        rows = ((reader.line_num, cells) for cells in reader)
    else:
        rows = ((number, line.split("\t")) for number, line in enumerate(read_lines(path), start=1))
    return _delimited(rows, languages, path)


def _delimited(rows: Iterator[Row], languages: Sequence[str], path: Path) -> Iterator[Row]:
    """Rows of a table whose header names languages, or which has just one column a language, in order."""
    first_line, first = next(rows, (1, [""]))
    header = [cell.strip().lower() for cell in first]
    if set(languages) <= set(header):
        columns = [header.index(language) for language in languages]
    elif len(first) == len(languages) and not all(re.fullmatch(r"[a-z]{2,3}", cell) for cell in header):
        columns = list(range(len(languages)))
        yield first_line, first
    else:
        raise UserError(
            f"{path}, line 1: expected a header with the columns {', '.join(languages)}, found"
            f" {', '.join(header)[:80]!r}; name the columns, or set data.source and data.target"
        )
    for line, cells in rows:
        if len(cells) != len(first):
            raise UserError(f"{path}, line {line}: expected {len(first)} columns as in line 1, found {len(cells)}")
        yield line, [cells[column] for column in columns]


def _json_lines(path: Path) -> Iterator[Any]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {number}: not JSON ({error.msg}); write one object a line") from None


def _records(rows: Iterable[Any], languages: Sequence[str], where: str) -> Iterator[Row]:
    """Records {"en": ..., "fr": ...}, {"translation": {...}}, or with just as many fields as languages, in order."""
    for number, row in enumerate(rows, start=1):
        record = row.get("translation", row) if isinstance(row, dict) else {}
        if set(languages) <= set(record):
            sides = [record[language] for language in languages]
        elif len(record) == len(languages) and not all(re.fullmatch(r"[a-z]{2,3}", key) for key in record):
            sides = list(record.values())
        else:
            missing = [language for language in languages if language not in record]
            raise UserError(
                f"{where}, line {number}: no column {', '.join(missing)} (found {', '.join(record) or 'none'});"
                " set data.source and data.target, or rename the columns"
            )
        if not all(isinstance(side, str) for side in sides):
            raise UserError(f"{where}, line {number}: expected text, found {[type(side).__name__ for side in sides]}")
        yield number, sides
