"""Columns are found by the languages they are named by, however these are spelt, and never taken for others."""

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from seq2see.errors import UserError
from seq2see.training.config import DataConfig
from seq2see.training.pairs import load_split

KINDS = ("tsv", "csv", "jsonl", "parquet")
ROWS = [("bom dia", "bonjour"), ("um gato", "un chat")]


def table(folder: Path, kind: str, names: tuple[str, ...], rows: list[tuple[str, ...]] = ROWS) -> Path:
    """A table whose columns have these names, in this order."""
    path = folder / f"a.{kind}"
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if kind == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(records), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    else:
        path.write_text("".join(("," if kind == "csv" else "\t").join(row) + "\n" for row in [names, *rows]), "utf-8")
    return path


def read(path: Path, *, source: str = "pt", target: str = "fr") -> list[tuple[str, str]]:
    pairs = load_split(DataConfig(str(path), source=source, target=target), "all")
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_a_language_is_the_same_in_any_case_with_a_hyphen_or_an_underscore(tmp_path, kind):
    """And a tag keeps the spelling that was asked for."""
    for names in (("pt_BR", "fr-FR"), ("pt-br", "FR_fr")):
        assert read(table(tmp_path, kind, names), source="PT-br", target="fr_fr") == ROWS
        path = table(tmp_path, kind, names[::-1], [row[::-1] for row in ROWS])
        assert read(path, source="PT-br", target="fr_fr") == ROWS
    pairs = load_split(DataConfig(str(path), source="fr_fr", target="PT-br"), "all")
    assert {(pair.source_language, pair.target_language) for pair in pairs} == {("fr_fr", "PT-br")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("fr-FR", "pt_BR"), ("zh-Hant-TW", "text"), ("fr", "translation1"), ("DE", "ita")])
def test_columns_named_by_other_languages_are_refused_and_not_taken_in_order(tmp_path, kind, names):
    path = table(tmp_path, kind, names)
    with pytest.raises(UserError, match=r"line 1: .*\bpt.*data\.source and data\.target") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_names_no_language_is_a_row_or_taken_in_order(tmp_path, kind):
    for first in (("guarda-chuva", "parapluie"), ("sentence_1", "sentence_2")):
        assert read(table(tmp_path, kind, first)) == ([first, *ROWS] if kind in ("tsv", "csv") else ROWS)


def test_a_later_record_with_other_keys_is_a_fault_and_not_read_in_order(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "bom", "target": "bon"}\n{"fr-FR": "chat", "pt-BR": "gato"}\n', "utf-8")
    with pytest.raises(UserError, match="line 2: no text for pt, fr"):
        read(path)


def test_a_quote_within_a_field_is_a_character_and_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('pt,fr\n\na 5" disk,un "disque"\n\n"c,\nd",e\n', "utf-8")
    assert read(path) == [('a 5" disk', 'un "disque"'), ("c,\nd", "e")]
