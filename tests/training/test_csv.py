"""CSV: what was written is read, and what is no CSV is one line."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.training.config import DataConfig
from seq2see.training.pairs import load_split
from seq2see.training.reading import Row, find_part

CELLS = st.text(st.sampled_from('ab ,"\n\té'), max_size=6)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("csv") / "a.csv"


def rows_of(path: Path, text: str) -> list[Row]:
    path.write_bytes(f"en,fr\n{text}".encode())
    part = find_part(DataConfig(path=str(path)), "train")
    assert part is not None
    return list(part.rows())


@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=6), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_csv_writes_is_read_line_breaks_and_all(path, rows, quoting):
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)
    read = rows_of(path, text.getvalue())
    assert [sides for _, sides in read] == [list(row) for row in rows]
    lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [number for number, _ in read] == [2 + sum(lines[:index]) for index in range(len(rows))]


def test_an_unclosed_quote_is_one_line_that_says_where(path):
    """Whatever is to be skipped: what it takes in are no pairs that anybody wrote."""
    for on_invalid in ("error", "skip"):
        path.write_text('en,fr\na,b\n"c,d\ne,f\n', "utf-8")
        with pytest.raises(UserError, match=r"a\.csv, line 3: not CSV \(.*\); mend the row that begins there"):
            load_split(DataConfig(path=str(path), on_invalid=on_invalid), "all")


def test_a_quote_within_a_field_is_a_character(path):
    assert [sides for _, sides in rows_of(path, 'a 5" disk,un "disque"\n')] == [['a 5" disk', 'un "disque"']]


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("tsv", "\t")])
def test_blank_lines_are_no_rows(tmp_path, kind, separator):
    table = tmp_path / f"a.{kind}"
    table.write_text("\n\n".join(f"{a}{separator}{b}" for a, b in (("en", "fr"), ("a", "b"), ("c", "d"))), "utf-8")
    pairs = load_split(DataConfig(path=str(table)), "all")
    assert [(pair.source, pair.target) for pair in pairs] == [("a", "b"), ("c", "d")]
