"""CSV: whatever a file holds, each of its lines is in a row or is counted as lost."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.training.config import DataConfig
from seq2see.training.pairs import Cleaner, Pair, load_all
from seq2see.training.reading import Fault, Row, find_part

CELLS = st.text(st.sampled_from('ab ,"\n\té'), max_size=6)
LINES = st.lists(st.text(st.sampled_from('a,"'), max_size=6), max_size=8)
WORDS = st.text(st.sampled_from("abé "), min_size=1, max_size=5).filter(str.strip)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("csv") / "a.csv"


def rows_of(path: Path, text: str) -> list[Row]:
    path.write_bytes(f"en,fr\n{text}".encode())
    part = find_part(DataConfig(path=str(path)), "train")
    assert part is not None
    return list(part.rows())


def skipped(path: Path) -> tuple[list[Pair], dict[str, int]]:
    cleaner = Cleaner(DataConfig(path=str(path), on_invalid="skip"))
    part = find_part(cleaner.data, "train")
    assert part is not None
    return list(cleaner.pairs(part)), dict(cleaner.skipped)


@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=6), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_csv_writes_is_read_line_breaks_and_all(path, rows, quoting):
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)
    read = rows_of(path, text.getvalue())
    assert [sides for _, sides in read] == [list(row) for row in rows]
    lines = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    assert [number for number, _ in read] == [2 + sum(lines[:index]) for index in range(len(rows))]


@example(lines=['"a,a', "a,a", "a,a"])
@example(lines=['"a,a', '"a","a"'])
@example(lines=['"a,a', 'a,"'])
@example(lines=['"a', 'a",a', '"a', 'a"a,a', "a,a"])
@given(lines=LINES)
def test_each_line_is_in_a_row_or_a_fault_of_its_own(path, lines):
    read = rows_of(path, "\n".join(lines) + "\n")
    while lines and not lines[-1]:
        lines.pop()
    number = 2
    for first, sides in read:
        assert first == number
        number += 1 if isinstance(sides, Fault) else 1 + sum(side.count("\n") for side in sides)
    assert number == 2 + len(lines)


@given(rows=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), data=st.data())
def test_an_unclosed_quote_costs_its_own_line_alone(path, rows, data):
    bad = data.draw(st.integers(0, len(rows) - 1))
    side = data.draw(st.sampled_from(['"{},{}', '{},"{}']))
    quoted = data.draw(st.booleans())
    lines = [side.format(*row) if index == bad else ('"{}","{}"' if quoted else "{},{}").format(*row)
             for index, row in enumerate(rows)]  # fmt: skip
    rows_of(path, "\n".join(lines) + "\n")
    pairs, lost = skipped(path)
    assert [(pair.source, pair.target) for pair in pairs] == [
        (source.strip(), target.strip()) for index, (source, target) in enumerate(rows) if index != bad
    ]
    assert lost == {"an unclosed quote": 1}
    with pytest.raises(UserError, match=rf"a\.csv, line {bad + 2}: an unclosed quote \(1 such.*on_invalid=skip"):
        load_all(DataConfig(path=str(path)))


def test_where_fields_have_line_breaks_all_lines_up_to_the_fault_are_lost_and_counted(path):
    """They are no rows of their own: `two, deux` would be a pair that nobody wrote."""
    rows_of(path, '"one\nline",une ligne\n"two, deux\nthree, trois\nfour "4"",quatre\nfive,cinq\n')
    pairs, lost = skipped(path)
    assert [(pair.source, pair.target) for pair in pairs] == [("one\nline", "une ligne"), ("five", "cinq")]
    assert lost == {"an unclosed quote": 3}
    with pytest.raises(UserError, match=r"line 4: an unclosed quote \(3 such, 3 bad pairs in all\)"):
        load_all(DataConfig(path=str(path)))


def test_a_quote_within_a_field_is_a_character(path):
    assert [sides for _, sides in rows_of(path, 'a 5" disk,un "disque"\n')] == [['a 5" disk', 'un "disque"']]


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("tsv", "\t")])
def test_blank_lines_at_the_end_are_ignored_and_others_are_not(tmp_path, kind, separator):
    table = tmp_path / f"a.{kind}"
    rows = [f"{a}{separator}{b}\n" for a, b in (("en", "fr"), ("a", "b"), ("c", "d"))]
    table.write_text("".join(rows) + "\n  \n\r\n", "utf-8")
    assert [(pair.source, pair.target) for pair in load_all(DataConfig(path=str(table)))] == [("a", "b"), ("c", "d")]
    table.write_text("\n".join(rows), "utf-8")
    with pytest.raises(UserError, match="line 2: expected 2 columns"):
        load_all(DataConfig(path=str(table)))
