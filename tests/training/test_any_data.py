"""Whatever a file of pairs or settings holds, it is read or refused by one line: properties over arbitrary content."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.training.config import DataConfig
from seq2see.training.reading import Fault, Row, find_part

CHARACTERS = st.one_of(st.sampled_from("\t\n\r\0\"',;{}[]:&*!#-\ufeff\u2028\x85é漢"), st.characters())
TEXTS = st.text(CHARACTERS, max_size=60)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\t"), min_size=1, max_size=20)
CELLS = st.text(st.sampled_from('ab ,"\n\té'), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["en", "fr", "translation"]), inner),
    max_leaves=6,
)
CONTENTS = st.one_of(
    st.binary(max_size=80),
    TEXTS.map(lambda text: ("en\tfr\n" + text).encode("utf-8", "surrogatepass")),
    TEXTS.map(lambda text: ("en,fr\n" + text).encode("utf-8", "surrogatepass")),
    st.lists(VALUES, max_size=3).map(lambda rows: "\n".join(map(json.dumps, rows)).encode()),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("any")


def rows_of(path: Path, content: bytes) -> list[Row] | None:
    """The rows of a file, faults among them; None where it is refused, by one line that names it."""
    path.write_bytes(content)
    try:
        part = find_part(DataConfig(path=str(path)), "train")
        assert part is not None
        part.fingerprint()
        rows = list(part.rows())
    except UserError as error:
        assert path.stem in str(error) and "\n" not in str(error) and len(str(error)) < 600
        return None
    for number, sides in rows:
        if isinstance(sides, Fault):
            assert number >= 1 and 5 < len(sides) < 300 and "\n" not in sides
        else:
            assert number >= 1 and len(sides) == 2 and all(isinstance(side, str) for side in sides)
    return rows


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "parquet", "tsv.gz"])
@example(content=b"en,fr\na\0b,c\n")
@example(content=b"en\rfr,a\n")
@example(content=b'en,fr\n"' + b"a" * 200_000 + b'",b\n')
@example(content=b"[" * 100_000)
@example(content=b'{"en": ' + b"1" * 5_000 + b', "fr": "b"}')
@example(content=b'{"en": "\\ud800", "fr": "b"}')
@example(content=gzip.compress(b"a\tb\n" * 99)[:-3])
@given(content=CONTENTS)
def test_any_table_is_read_or_refused(suffix: str, content: bytes, folder: Path) -> None:
    rows_of(folder / f"any.{suffix}", content)


@given(pairs=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_what_is_written_is_read(pairs: list[tuple[str, str]], folder: Path) -> None:
    """Whatever the characters: no separator but the tab, the newline and a carriage return before it."""
    table = ("en\tfr\n" + "".join(f"{a}\t{b}\n" for a, b in pairs)).encode()
    assert rows_of(folder / "whole.tsv", table) == [(number, list(pair)) for number, pair in enumerate(pairs, start=2)]
    lines = "".join(json.dumps({"fr": b, "en": a}) + "\n" for a, b in pairs).encode()
    assert rows_of(folder / "a.jsonl", lines) == [(number, list(pair)) for number, pair in enumerate(pairs, start=1)]


@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=6), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_csv_writes_is_read_line_breaks_and_all(rows: list[tuple[str, str]], quoting: int, folder: Path) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)
    read = rows_of(folder / "a.csv", f"en,fr\n{text.getvalue()}".encode())
    lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert read == [(2 + sum(lines[:index]), list(row)) for index, row in enumerate(rows)]
