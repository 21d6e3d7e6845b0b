"""Rows of text from anywhere: corpora of the package, TSV, CSV, JSONL, Parquet, parallel files, folders, the Hub.

`find_part` says where a split lies; its rows are then read one by one, never all at once.  A row that cannot be read is
handed on as a `Fault`, for pairs.py to count: `datasets` reads the same files, but names no line of one that is broken.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.languages import NAMES
from seq2see.manifest import sha256
from seq2see.streams import UTF_16
from ..tokenizer.language_codes import codes_of, language_name
from .cache import fingerprint
from .config import BUILT_IN, DataConfig

TABLES = (".csv", ".json", ".jsonl", ".parquet", ".tsv")
LANGUAGE = r"[a-z]{2,3}(-[a-z0-9]{2,4})*"  # a code, such as pt, pt-br or zh-hant-tw
SOURCE, TARGET = {"source", "src"}, {"target", "tgt", "trg"}
HEADER_WORDS = {  # of tables of texts, whatever they are for
    *SOURCE, *TARGET, *map(str.casefold, NAMES.values()),
    "answer", "article", "body", "category", "class", "column", "comment", "content", "context", "description",
    "document", "domain", "emotion", "hypothesis", "id", "idx", "index", "input", "intent", "label", "labels",
    "lang", "language", "message", "name", "original", "output", "premise", "prompt", "query", "question",
    "rating", "ref", "reference", "response", "review", "score", "segment", "sent", "sentence", "sentiment",
    "stars", "string", "summary", "tag", "text", "title", "topic", "transcript", "translated", "translation",
    "tweet", "type", "utterance",
}
FIRST_WORD = re.compile(r"[\W_]*([^\W\d_]+)")
LONGEST_LINE = 2**20  # characters of a line, or of a field of CSV: what is read at a time
VALIDATION = ("val", "valid", "validation", "dev")  # names of the split that we call val
PHRASEBOOK, PHRASEBOOK_LANGUAGES = Path(__file__).parent / "phrasebook", ("en", "fr", "de", "es")
HUB_NAME = r"[\w.-]+/[\w.-]+"  # owner/name


class Fault(str):
    """What is wrong with a row, where its sides would be."""


MISSING = Fault("no translation")  # a side, where a row is of some of several target languages


Row = tuple[int, list[str] | Fault]  # line number, then the source side and each target side


@dataclass(frozen=True)
class TablePart:
    """One split of a corpus."""

    where: str  # for messages
    made_of: tuple[Path | str, ...]  # files, and what else decides what the rows are
    rows: Callable[[], Iterator[Row]]

    def fingerprint(self) -> str:
        """Of the files' names and content: a copy has the same, and a change of one letter another."""
        return fingerprint([item if isinstance(item, str) else [item.name, sha256(item)] for item in self.made_of])


def find_part(data: DataConfig, split: str, *, seed: int = 0, optional: Sequence[str] = ("val",)) -> TablePart | None:
    """Where a split lies; None where the corpus is not divided into splits and this is not `train`, or where it has no
    such split and this is one of the optional ones."""
    languages, (kind, files) = [data.source, *data.targets], locate(data)
    if kind in BUILT_IN:
        if split not in ("train", "val", "test"):
            raise UserError(f"{kind} has the splits train, val and test, not {split!r}", exit_code=2)
        return _storybook(split, languages, seed) if kind == "storybook" else _phrasebook(split, languages)
    if kind == "nowhere":
        problem = "is of an unknown format" if Path(str(data.path)).is_file() else "does not exist"
        raise UserError(
            f"data.path {data.path!r} {problem}; give a folder, a table ({', '.join(TABLES)}), parallel text files"
            f" ({', '.join(f'NAME.{language}' for language in languages)}), {', '.join(BUILT_IN)},"
            " or a Hub dataset as owner/name"
        )
    if isinstance(data.path, list) and len(files) != len(languages):
        raise UserError(f"data.path names {len(files)} files, expected one for each of {', '.join(languages)}")
    if kind == "files":
        return _of_files(files, languages) if split == "train" else None
    return (_folder if kind == "folder" else _hub)(Path(str(data.path)), split, languages, optional)


def locate(data: DataConfig) -> tuple[str, list[Path]]:
    """What `data.path` names: one of `BUILT_IN`, `files` (one table or parallel ones, which have no parts) and which, a
    `folder`, a data set of the `hub`, or `nowhere`, where it is not here and has no name that the Hub could know."""
    languages, name = [data.source, *data.targets], str(data.path)
    if isinstance(data.path, list):
        files = [Path(item) for item in data.path]
        return "files" if all(map(Path.is_file, files)) else "nowhere", files
    if name in BUILT_IN:
        return name, []
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
    if isinstance(data.path, list):
        return replace(data, path=list(map(os.path.abspath, data.path)))
    return replace(data, path=os.path.abspath(str(data.path))) if locate(data)[0] in ("files", "folder") else data


def hash_fraction(text: str) -> float:
    """A number from 0 to below 1, the same for the same text in every run."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


# Where rows lie

def _of_files(files: Sequence[Path], languages: Sequence[str]) -> TablePart:
    rows = partial(_table_rows, files[0], languages) if len(files) == 1 else partial(_side_by_side, files)
    return TablePart(str(files[0]), tuple(files), rows)


def _folder(folder: Path, split: str, languages: Sequence[str], optional: Sequence[str]) -> TablePart | None:
    """`{split}.{language}[.gz]`, one file a language, or one table `{split}.tsv` or the like.

    UserError for a validation set that is there, but not in these languages: it would be passed over in silence.
    """
    def files_of(name: str) -> list[Path]:
        tables = [path for path in sorted(folder.glob(f"{name}.*")) if _suffix(path) in TABLES]
        return _siblings(folder / name, languages) or tables[:1]

    name = _split_name(folder, split, files_of)
    if files := files_of(name):
        return _of_files(files, languages)
    there = sorted(item.name for item in folder.iterdir())
    others = [item for item in there if item.partition(".")[0] in VALIDATION and ".lc.norm.tok." not in item]
    if split in optional and not (split == "val" and others):
        return None
    name = others[0].partition(".")[0] if split == "val" and others else name
    expected = ", ".join(f"{name}.{language}[.gz]" for language in languages)
    raise UserError(f"{folder} has no {expected}; it contains {', '.join(others or there)[:300] or 'nothing'}")


def _split_name(where: object, split: str, there: Callable[[str], object]) -> str:
    """What a split is called there; UserError where several could be the validation set."""
    names = [name for name in (VALIDATION if split == "val" else (split,)) if there(name)]
    if len(names) > 1:
        raise UserError(f"{where} has the splits {' and '.join(names)}, expected one validation split; rename the"
                        " others")
    return names[0] if names else split


def _siblings(path: Path, languages: Sequence[str]) -> list[Path]:
    """The files `stem.en`, `stem.fr` (gzipped or not), path being their stem or one of them; none if one is missing."""
    stem = str(path).removesuffix(".gz")
    start, _, ending = stem.rpartition(".")
    if any(codes_of(language, (ending,)) for language in languages):
        stem = start
    found = []
    for language in languages:
        options = [Path(f"{stem}.{code}{end}") for code in (language, *_other_endings(stem, language))
                   for end in ("", ".gz")]
        found += [option for option in options if option.is_file()][:1]
    return found if len(found) == len(languages) else []


def _other_endings(stem: str, language: str) -> Iterator[str]:
    """The endings of the files beside a stem that are other codes of the language, such as `por` of `pt`."""
    beside, name = Path(stem).parent, Path(stem).name
    if beside.is_dir():
        endings = {path.name.removesuffix(".gz").removeprefix(f"{name}.") for path in sorted(beside.iterdir())
                   if path.name.startswith(f"{name}.")}
        yield from codes_of(language, tuple(sorted(endings)))


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _storybook(split: str, languages: Sequence[str], seed: int) -> TablePart:
    if list(languages) not in (["en", "fr"], ["en", "de"], ["en", "es"]):
        raise UserError(
            f"storybook has English to French, German or Spanish, not {' to '.join(languages)}", exit_code=2
        )
    from .. import storybook

    grammar = sorted(Path(storybook.__file__).parent.glob("*.py"))
    return TablePart(
        "storybook",
        (*grammar, f"{split} {seed} {languages[1]}"),
        lambda: enumerate(([pair.source, pair.target] for pair in getattr(book(languages[1], seed), split)), start=1),
    )


@lru_cache(maxsize=3)
def book(target: str, seed: int) -> Any:
    """Storybook in a language, written once."""
    from ..storybook import in_language

    return in_language(target, seed=seed)


def _phrasebook(split: str, languages: Sequence[str]) -> TablePart:
    """The rows of this split, in two or more of the phrasebook's languages; one English sentence is on one side."""
    files = sorted(PHRASEBOOK.glob("*.tsv"))
    if others := [language for language in languages if language not in PHRASEBOOK_LANGUAGES]:
        raise UserError(f"the phrasebook has {', '.join(PHRASEBOOK_LANGUAGES)}, not {', '.join(others)}", exit_code=2)

    def rows() -> Iterator[Row]:
        every = (row for file in files for row in _table_rows(file, (*languages, "en")))
        for number, (_, sides) in enumerate(every, start=1):
            assert not isinstance(sides, Fault), sides
            place = hash_fraction(f"phrasebook {sides[-1]}")
            if split == ("test" if place < 0.05 else "val" if place < 0.075 else "train"):
                yield number, sides[:-1]

    return TablePart("phrasebook", (*files, split), rows)


def _hub(path: Path, split: str, languages: Sequence[str], optional: Sequence[str]) -> TablePart | None:
    """A dataset of the Hub, `owner/name` or `owner/name:configuration`."""
    name, _, configuration = path.as_posix().partition(":")
    from datasets import load_dataset

    try:
        table = load_dataset(name, configuration or None)
    except Exception as error:  # offline, unknown, gated, ill-formed: the library has no common class
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{path} is not a file or folder, and the Hub dataset {name} cannot be loaded ({reason});"
            " give data.path=FILE_OR_FOLDER for training, or --data FILE_OR_FOLDER for evaluation"
        ) from None
    name = _split_name(path, split, table.__contains__)
    if name in table:
        rows = table[name]
        return TablePart(f"{path} ({name})", (rows._fingerprint,), partial(_records, rows, languages))
    if split in optional:
        return None
    raise UserError(f"{path} has the splits {', '.join(table)}, not {split!r}")


# How rows are written

def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, gzipped or not, without their ends; only a newline ends a line.

    A byte that is not UTF-8 becomes a lone surrogate (PEP 383), and its pair a fault.  A line that is far too long is a
    fault, and only a part of it is in memory at a time: a small gzip may hold gigabytes.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            read = partial(file.readline, LONGEST_LINE)
            for number, line in enumerate(iter(read, "")):
                if number == 0 and "\0" in line:
                    raise UserError(f"{path}: {UTF_16}")
                if len(line) == LONGEST_LINE and not line.endswith("\n"):
                    while (rest := read()) and not rest.endswith("\n"):
                        pass
                    yield Fault(f"a line of {LONGEST_LINE:,} characters or more")
                else:
                    yield line.removesuffix("\n").removesuffix("\r")
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _side_by_side(files: Sequence[Path]) -> Iterator[Row]:
    counts = [0] * len(files)
    lines = (read_lines(file) for file in files)
    for number, sides in enumerate(itertools.zip_longest(*lines), start=1):
        counts = [count if side is None else number for count, side in zip(counts, sides, strict=True)]
        if min(counts) == number:
            yield number, next((side for side in sides if isinstance(side, Fault)), list(sides))
    for path, count in zip(files, counts, strict=True):
        if count != counts[0]:
            raise UserError(
                f"{files[0]} has {counts[0]} lines, but {path} has {count}: line N of one file must translate line N"
                " of the other; find the missing line"
            )


def _table_rows(path: Path, languages: Sequence[str]) -> Iterator[Row]:
    suffix = _suffix(path)
    if suffix == ".parquet":
        return _records(_parquet(path), languages)
    lines = read_lines(path)
    if suffix in (".jsonl", ".json"):
        return _records(map(_parsed, lines), languages)
    tabs = ((number, line if isinstance(line, Fault) else line.split("\t"))
            for number, line in enumerate(lines, start=1) if line.strip(" "))
    return _delimited(_comma_separated(lines, path, languages) if suffix == ".csv" else tabs, languages, path)


def _comma_separated(lines: Iterator[str], path: Path, languages: Sequence[str]) -> Iterator[Row]:
    """Rows of CSV, whose quoted fields may have line breaks.

    UserError for semicolons, as spreadsheets may write, and for a fault in a row of several lines: nobody can tell
    where it ends.
    """
    csv.field_size_limit(max(LONGEST_LINE, csv.field_size_limit()))  # of the process; data.max_characters is ours
    first, number = next(lines, ""), 0
    heading = first.split("\r")[:1]  # of a file that has them alone between its lines, the first line
    commas, semicolons = (_layout(next(csv.reader(heading, delimiter=mark), ()), languages) for mark in ",;")
    if commas is None and semicolons is not None:
        raise UserError(f"{path}, line 1: the columns are separated by semicolons, expected commas; save it with"
                        " commas, or with tabs as a .tsv file")

    def counted(line: str) -> str:
        nonlocal number
        number += 1
        if isinstance(line, Fault):
            raise csv.Error(line)
        return f"{line}\n"

    reader = csv.reader(map(counted, itertools.chain([first], lines)), strict=True)
    while True:
        begun = number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if number > begun:
                raise UserError(f"{path}, line {begun}: not CSV ({error}); correct the row that begins there") from None
            yield begun, Fault(f"not CSV ({error})")
        else:
            if cells:
                yield begun, cells


@lru_cache(maxsize=16)  # most records of a file have the same keys
def _named(names: tuple[str, ...], languages: tuple[str, ...]) -> list[int] | Fault | None:
    """Where the columns or keys of the languages are: named by their codes, in whatever case, `pt_BR` as `pt-br`; by
    their English names; of two, `source` and `target`; or by other codes, `por` and `por_Latn` as `pt`.  A Fault if two
    could be the same side; None if one is missing."""
    found, codes = list(map(_normal, names)), list(map(_normal, languages))
    english = [{NAMES[code].casefold()} if code in NAMES else set() for code in codes]
    spellings: list[Callable[[], Sequence[Collection[str]]]] = [
        lambda: [{code} for code in codes], lambda: english, lambda: [SOURCE, TARGET] if len(codes) == 2 else [()],
        lambda: [{*codes_of(code, tuple(found)), language_name(code).casefold()} for code in codes],
    ]
    for sides in (spelt() for spelt in spellings):
        places = [[place for place, name in enumerate(found) if name in side] for side in sides]
        if all(places):
            doubled = [found[place] for side in places if len(side) > 1 for place in side]
            return Fault(f"two columns or keys for one side: {', '.join(doubled)}") if doubled else [
                place for place, *_ in places]
    return None


def _normal(name: str) -> str:
    return name.strip().casefold().replace("_", "-")


def _layout(cells: Sequence[str], languages: Sequence[str]) -> list[int] | Fault | None:
    """Where a table whose first line this is has the languages: as its header names them, or in their order where there
    is one column a language, and none is named by another language."""
    if (columns := _named(tuple(cells), tuple(languages))) is not None:
        return columns
    found, wanted = list(map(_normal, cells)), set(map(_normal, languages))
    others = any(name in wanted for name in found) or all(re.fullmatch(LANGUAGE, name) for name in found)
    return None if others or len(found) != len(wanted) else list(range(len(found)))


def is_header(cells: Sequence[str], languages: Sequence[str]) -> bool:
    """Whether these are names of columns and no pair, such as `English, German`, `source_text, target_text`, `text,
    label`, `sentence1, sentence2` or `question_en, answer_de`."""
    known, ends_in_code = _header_words(tuple(languages))
    start = FIRST_WORD.match(cells[0])
    if not (start and start[1].casefold() in known) and not ends_in_code.fullmatch(_normal(cells[0])):
        return False  # soon told, of most rows
    codes = {found[1] for cell in cells if (found := ends_in_code.fullmatch(_normal(cell)))}
    if len(codes) == len(cells):
        return True
    words = [tuple(re.findall(r"[^\W_]+", cell.casefold())) for cell in cells]
    names = [{word if " " in cell else word.rstrip("0123456789") for word in found} - {""}
             for cell, found in zip(cells, words, strict=True)]
    return len(set(words)) == len(cells) and all(name and known.issuperset(name) for name in names)


@lru_cache
def _header_words(languages: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    codes = list(map(_normal, languages))
    return frozenset(HEADER_WORDS.union(codes)), re.compile(rf"(?:\S*-)?({'|'.join(map(re.escape, codes))})")


def _delimited(rows: Iterator[Row], languages: Sequence[str], path: Path) -> Iterator[Row]:
    """Rows of a table whose header names languages, or which has just one column a language, in order."""
    first_line, first = next(rows, (1, [""]))
    columns = first if isinstance(first, Fault) else _layout(first, languages)
    if isinstance(columns, Fault):
        raise UserError(f"{path}, line {first_line}: {columns}")
    if columns is None:
        raise UserError(
            f"{path}, line 1: expected a header with the columns {', '.join(languages)}, found"
            f" {', '.join(first)[:80]!r}; name the columns, or set data.source and data.target"
        )
    named = _named(tuple(first), tuple(languages)) is not None
    if not named and is_header(first, languages):
        raise UserError(f"{path}, line 1: {', '.join(first)!r} is a header, not a pair; name the columns by language"
                        f" codes: {', '.join(languages)}")
    for line, cells in rows if named else itertools.chain([(first_line, first)], rows):
        if isinstance(cells, Fault):
            yield line, cells
        elif len(cells) == len(first):
            yield line, [cells[column] for column in columns]
        else:
            yield line, Fault(f"expected {len(first)} columns as in line 1, found {len(cells)}")


def _parsed(line: str) -> Any:
    if isinstance(line, Fault):
        return line
    try:
        row = json.loads(line, object_pairs_hook=_object) if line.strip() else None
    except (ValueError, RecursionError):
        return Fault("not JSON (expected one object per line)")
    return row if isinstance(row, dict | Fault | None) else Fault("no JSON object (expected one object per line)")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Fault:
    record = dict(pairs)
    return record if len(record) == len(pairs) else Fault("two values for one key")


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                yield from batch.to_pylist()
    except Exception as error:  # pyarrow's errors have no common class beside Exception
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _records(rows: Iterable[Any], languages: Sequence[str]) -> Iterator[Row]:
    for number, row in enumerate(rows, start=1):
        if row is not None:  # a blank line
            yield number, _sides(row, languages)


def _sides(row: Any, languages: Sequence[str]) -> list[str] | Fault:
    """The texts of a record {"en": ..., "fr": ...}, {"source": ..., "target": ...} or {"translation": {...}}, found by
    their keys; MISSING for a translation that it does not have, where there are several target languages."""
    inner = row.get("translation") if isinstance(row, dict) else None
    record, codes = inner if isinstance(inner, dict | Fault) else row, list(languages)
    if isinstance(record, dict) and len(languages) > 2:
        record = {key: value for key, value in record.items() if value is not None}
        codes = [code for code in languages if _named(tuple(record), (code,)) is not None]
    columns = _named(tuple(record), tuple(codes)) if isinstance(record, dict) else record
    if isinstance(columns, Fault):
        return columns
    if isinstance(columns, list) and isinstance(record, dict) and languages[0] in codes and len(codes) > 1:
        values = list(record.values())
        if all(isinstance(values[column], str) for column in columns):
            texts = {code: values[column] for code, column in zip(codes, columns, strict=True)}
            return [texts.get(code, MISSING) for code in languages]
    return Fault(f"no text for {', '.join(languages)}; name the keys by these codes, or source and target, or set"
                 " data.source and data.target")
