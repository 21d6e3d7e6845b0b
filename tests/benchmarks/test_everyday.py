"""The benchmark of the everyday translator, in miniature: what it counts of translations that are known beforehand."""

import gzip
import json
from types import SimpleNamespace

import pytest

from seq2see.errors import UserError

COUNT = 300
WORDS = ["red", "blue", "old", "new", "big", "small", "fast", "slow", "warm", "cold"]


@pytest.fixture(scope="module")
def bench(imported):
    return imported("everyday")


@pytest.fixture(scope="module")
def test_folder(tmp_path_factory):
    """A published test in miniature, with its clean lines."""
    folder = tmp_path_factory.mktemp("published")
    for language in ("fr", "de", "es"):
        for name, count in ((f"en-{language}.tsv.gz", COUNT), (f"en-{language}.clean.tsv.gz", COUNT // 2)):
            lines = [f"The {WORDS[i // 100]} {WORDS[i // 10 % 10]} box is {WORDS[i % 10]}." for i in range(count)]
            rows = [f"en\t{language}", *(f"{line}\t{language.title()} {line}" for line in lines)]
            with gzip.open(folder / name, "wt", encoding="utf-8") as file:
                file.write("\n".join(rows) + "\n")
    return folder


def writing(write):
    """A translator that writes what it is told to, and each text once."""

    def translate(sources, *, target):
        assert len(set(sources)) == len(sources)
        return [SimpleNamespace(text=write(one, target)) for one in sources]

    return translate


def test_the_published_test_is_scored_on_all_lines_and_on_clean_ones_beside_others(bench, test_folder):
    one = bench.Bench(writing(lambda source, to: f"Fr {source}" if to == "fr" else "Nein."), test_folder)
    table = bench.published(one)
    assert table["en-fr, all lines"]["pairs"] == COUNT and table["en-fr, clean lines"]["pairs"] == COUNT // 2
    assert table["en-fr, clean lines"]["bleu"] == 100 and table["en-de, clean lines"]["bleu"] < 1
    assert table["OPUS-MT en-XX, all lines"] == {"fr": 51.8, "de": 44.7, "es": 53.8}
    with pytest.raises(UserError, match="give --test FOLDER"):
        bench.published(bench.Bench(writing(lambda source, to: source)))


@pytest.mark.parametrize("name", ["phrasebook", pytest.param("storybook", marks=pytest.mark.long)])
def test_corpora_of_the_package_are_scored_on_what_no_training_has(bench, name):
    table = getattr(bench, name)(bench.Bench(writing(lambda source, to: source), quick=True))
    assert list(table) == ["en-fr", "en-de", "en-es"] and all(row["pairs"] == 20 for row in table.values())
    assert ("families" in table["en-fr"]) == (name == "storybook")


def test_what_is_copied_is_counted_by_kind(bench):
    def write(source, to):
        return source.replace("@", " at ").replace(".", ",")

    lost = bench.copied(bench.Bench(writing(write), quick=True))
    whole = dict.fromkeys(("number", "name", "name in quotes", "quantity"), "20 of 20")
    assert lost["de"] == whole | dict.fromkeys(("e-mail address", "URL", "date"), "0 of 20"), "12,50 is 12.50"


def test_a_date_is_kept_as_the_language_writes_it(bench):
    assert bench._kept("14 March", "am 14. März", "de") and not bench._kept("14 March", "am 14 März", "de")
    assert bench._kept("2 May", "le 2 mai", "fr") and bench._kept("2 May", "el 2 de mayo", "es")


def test_lost_and_added_sentences_are_counted(bench, test_folder):
    def write(source, to):
        return source.split(". ")[0] + "." if to == "fr" else source + " Und mehr." if ". " in source else source

    table = bench.texts(bench.Bench(writing(write), test_folder, quick=True))
    assert table["fr"] == {"texts": 20, "lost": 20, "added": 0} and table["de"]["added"] == 20


def test_genders_are_counted_by_what_english_says(bench):
    def write(source, target):
        return "La cuisinière." if " cook " in source else "Le médecin dit qu'il dort." if " he " in source else "Bon."

    table = bench.bias(bench.Bench(writing(write)))["fr"]
    jobs, each = len(bench.OCCUPATIONS), len(bench.HE_OR_SHE)
    assert table["article"]["he"] == {"masculine": (jobs - 1) * each, "feminine": each, "unknown": 0}
    assert table["article"]["she"] == {"masculine": 0, "feminine": each, "unknown": (jobs - 1) * each}
    assert table["pronoun"]["he"] == {"masculine": (jobs - 1) * each, "feminine": 0, "unknown": each}
    assert table["article, by occupation"]["cook"]["neither"] == {"masculine": 0, "feminine": 4, "unknown": 0}


def test_forms_and_strings_are_scored_by_language_from_the_folders_given(bench, tmp_path):
    rows = [{"en": "Two lamps.", "fr": "Deux lampes."}, {"en": "Two lamps.", "de": "Zwei Lampen."},
            {"en": "Two lamps.", "es": "Dos lámparas."}]  # fmt: skip
    (tmp_path / "forms.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with gzip.open(tmp_path / "test.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("en\tfr\tde\tes\nOpen\tOuvrir\tÖffnen\tAbrir\n")
    right = {"fr": {"Two lamps.": "Deux lampes.", "Open": "Ouvrir"}}
    one = bench.Bench(writing(lambda source, to: right.get(to, {}).get(source, "?")), data=tmp_path, strings=tmp_path)
    for table in (bench.forms(one), bench.strings(one)):
        assert table["en-fr"]["chrf"] == 100 and table["en-de"]["chrf"] == 0 and table["en-es"]["pairs"] == 1
    with pytest.raises(UserError, match="give --data FOLDER"):
        bench.forms(bench.Bench(writing(lambda source, to: source)))


def test_what_people_type_first_is_right_if_it_is_one_of_the_translations_given(bench):
    rows = bench.rows_of(bench.FIRST)
    answers = {to: {row["sentence"]: row[to].split("|")[-1].upper() for row in rows} for to in ("fr", "de", "es")}
    answers["de"][rows[0]["sentence"]] = "Hallo, wie bist du?"
    table = bench.first(bench.Bench(writing(lambda source, to: answers[to][source])))
    assert [table[to]["right"] for to in ("fr", "de", "es")] == [
        f"{right} of {len(rows)}" for right in (len(rows), len(rows) - 1, len(rows))]
    assert [row[2] for row in table["table"] if not row[3]] == ["Hallo, wie bist du?"]


def test_a_word_that_neither_training_nor_the_source_has_is_invented(bench, test_folder):
    seen = frozenset({"la", "boîte"})
    one = bench.Bench(writing(lambda source, to: source if to == "fr" else f"La boîte {source} deuxôtés."), test_folder,
                      quick=True, seen=lambda language: seen)  # fmt: skip
    table = bench.invented(one)
    assert table["fr"] == "0 of 20" and table["de"] == "20 of 20"
    assert {row[2] for row in table["table"]} == {"deuxôtés"}
