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
    if kind == "parquet":
        columns = zip(*rows, strict=True)
        parquet.write_table(pyarrow.table(dict(zip(names, map(list, columns), strict=True))), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows), "utf-8")
    else:
        path.write_text("".join(("," if kind == "csv" else "\t").join(row) + "\n" for row in [names, *rows]), "utf-8")
    return path


def read(path: Path, *, source: str, target: str) -> list[tuple[str, str]]:
    pairs = load_split(DataConfig(str(path), source=source, target=target), "all")
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), [("pt_BR", "fr-FR"), ("pt-br", "fr_fr"), ("PT_BR", "FR-fr")])
def test_a_language_is_the_same_in_any_case_with_a_hyphen_or_an_underscore(tmp_path, kind, source, target):
    for names in (("pt_BR", "fr-FR"), ("pt-br", "FR_fr")):
        assert read(table(tmp_path, kind, names), source=source, target=target) == ROWS
        path = table(tmp_path, kind, names[::-1], [row[::-1] for row in ROWS])
        assert read(path, source=source, target=target) == ROWS


def test_a_tag_keeps_the_spelling_that_was_asked_for(tmp_path):
    data = DataConfig(str(table(tmp_path, "tsv", ("pt_BR", "fr-FR"))), source="fr_fr", target="PT-br")
    assert {(pair.source_language, pair.target_language) for pair in load_split(data, "all")} == {("fr_fr", "PT-br")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "names",
    [("fr-FR", "pt_BR"), ("fra_Latn", "por_Latn"), ("zh-Hant-TW", "text"), ("es-419", "x1"), ("fr", "translation1"),
     ("Sentence", "FR"), ("PT", "pt-BR"), ("DE", "ita")],
)  # fmt: skip
def test_columns_named_by_other_languages_are_refused_and_not_taken_in_order(tmp_path, kind, names):
    path = table(tmp_path, kind, names)
    with pytest.raises(UserError, match=r"line 1: .*\bpt.*data\.source and data\.target") as caught:
        read(path, source="pt", target="fr")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["tsv", "csv"])
def test_a_row_of_words_is_no_header(tmp_path, kind):
    for first in (("Vou lá.", "J'y vais."), ("guarda-chuva", "parapluie"), ("pt 1", "fr 1")):
        path = table(tmp_path, kind, first)
        assert read(path, source="pt", target="fr") == [first, *ROWS]


def test_fields_that_name_no_language_are_still_taken_in_order(tmp_path):
    for names in (("source", "target"), ("sentence_1", "sentence_2")):
        for kind in ("jsonl", "parquet"):
            assert read(table(tmp_path, kind, names), source="pt", target="fr") == ROWS


def test_a_later_record_with_other_keys_is_a_fault_and_not_read_in_order(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "bom", "target": "bon"}\n{"fr-FR": "chat", "pt-BR": "gato"}\n', "utf-8")
    with pytest.raises(UserError, match="line 2: no text for pt, fr"):
        read(path, source="pt", target="fr")
