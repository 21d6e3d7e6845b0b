"""The phrasebook: what every row has, that one English sentence is on one side, and that any direction trains."""

import csv
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from seq2see.errors import UserError
from seq2see.training.config import DataConfig, load_config
from seq2see.training.pairs import load_corpus, load_split, sentence_key
from seq2see.training.reading import PHRASEBOOK
from .conftest import last_error, train

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "everyday_sentences.tsv"
LANGUAGES = ("en", "fr", "de", "es")
COLUMNS = [*LANGUAGES, "topic", "register"]


@pytest.fixture(scope="module")
def rows():
    found = []
    for file in sorted(PHRASEBOOK.glob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            assert reader.fieldnames == COLUMNS, file.name
            own = list(reader)
        assert {row["topic"] for row in own} == {own[0]["topic"]}, f"{file.name} is of one topic"
        found += own
    return found


def test_every_row_has_four_texts_a_topic_and_a_register(rows):
    assert len(rows) >= 10_000 and len({row["topic"] for row in rows}) >= 40
    for row in rows:
        assert list(row) == COLUMNS and all(row.values()), row
        assert row["register"] in ("informal", "formal", "neutral"), row
        for text in row.values():
            assert text == unicodedata.normalize("NFC", " ".join(text.split())), row
            assert not set(text) & set("’\u00a0\u202f"), row
    registers = Counter(row["register"] for row in rows)
    assert min(registers.values()) > len(rows) / 5


def test_no_english_sentence_is_there_twice(rows):
    assert [key for key, count in Counter(sentence_key(row["en"]) for row in rows).items() if count > 1] == []


def test_marks_and_capitals_are_those_of_the_language(rows):
    for row in rows:
        ends = {row[language][-1] in "?!" and row[language][-1] for language in LANGUAGES}
        assert len(ends) == 1, row
        assert row["es"].count("?") == row["es"].count("¿") and row["es"].count("!") == row["es"].count("¡"), row
        assert not re.search(r"[^\s?!][?!;]", row["fr"]), row
        assert len({row[language].isupper() for language in ("en", "fr", "de")}) == 1, row
    assert sum(row["en"].isupper() for row in rows) > len(rows) / 50


def test_no_sentence_is_one_of_the_benchmark(rows):
    with SENTENCES.open(encoding="utf-8") as file:
        tested = {sentence_key(line.rstrip("\n").split("\t")[1]) for line in file}
    assert not tested & {sentence_key(row["en"]) for row in rows}


def test_a_sentence_is_on_the_same_side_in_every_direction(rows):
    sides = {}
    for source, target in (("en", "fr"), ("es", "en"), ("de", "fr")):  # from English, to it, and without it
        data = DataConfig(path="phrasebook", source=source, target=target)
        parts = [load_split(data, split) for split in ("train", "val", "test")]
        sides[source, target] = [len(part) for part in parts]
        assert sum(sides[source, target]) == len(rows)
    assert len({tuple(one) for one in sides.values()}) == 1
    train_pairs, val, test = sides["en", "fr"]
    assert 0.04 < test / len(rows) < 0.06 and 0.015 < val / len(rows) < 0.035


@pytest.mark.long
def test_it_trains_and_is_scored_as_it_is(tmp_path, capsys):
    assert train("data.path=phrasebook", "data.target=[de,es]", "training.max_steps=2",
                 f"training.output_dir={tmp_path / 'run'}") == 0
    assert f"training and {2 * len(load_split(DataConfig(path='phrasebook'), 'val'))} validation pairs" in \
        capsys.readouterr().err
    corpus = load_corpus(load_config(str(tmp_path / "run" / "run.yaml")).data)
    assert {pair.target_language for pair in corpus.train} == {"de", "es"}


def test_another_language_or_split_is_told(capsys, tmp_path):
    assert train("data.path=phrasebook", "data.target=it", f"training.output_dir={tmp_path / 'run'}") == 2
    assert "the phrasebook has en, fr, de, es, not it" in last_error(capsys)
    with pytest.raises(UserError, match="phrasebook has the splits train, val and test, not 'all'"):
        load_split(DataConfig(path="phrasebook"), "all")


def test_a_table_of_ones_own_with_more_columns_trains(tmp_path, rows):
    lines = ["\t".join(COLUMNS), *("\t".join(row.values()) for row in rows[:200])]
    (tmp_path / "mine.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    corpus = load_corpus(DataConfig(path=str(tmp_path / "mine.tsv"), target=["fr", "es"], val_fraction=0.1))
    assert len(corpus.train) + len(corpus.val) == 400 and not corpus.skipped
