"""The benchmark of the everyday translator, in miniature: what it counts of translations that are known beforehand."""

from types import SimpleNamespace

import pytest

from seq2see.training.config import CorpusConfig, DataConfig

COUNT = 300
WORDS = ["red", "blue", "old", "new", "big", "small", "fast", "slow", "warm", "cold"]


@pytest.fixture(scope="module")
def bench(imported):
    return imported("everyday")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two tables of pairs."""
    folder = tmp_path_factory.mktemp("corpora")
    for language in ("fr", "de"):
        lines = [f"The {WORDS[i // 100]} {WORDS[i // 10 % 10]} box is {WORDS[i % 10]}." for i in range(COUNT)]
        rows = [f"en\t{language}", *(f"{line}\t{language.title()} {line}" for line in lines)]
        (folder / f"{language}.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    corpora = [CorpusConfig("fr.tsv", "fr"), CorpusConfig("de.tsv", "de")]
    return DataConfig(corpora=corpora, folder=str(folder), val_fraction=0.1, test_fraction=0.2)


def writing(write):
    """A translator that writes what it is told to, and each text once."""

    def translate(sources, *, target):
        assert len(set(sources)) == len(sources)
        return [SimpleNamespace(text=write(one, target)) for one in sources]

    return translate


def test_scores_are_of_all_test_pairs_of_each_language(bench, data):
    one = bench.Bench(writing(lambda source, to: f"Fr {source}" if to == "fr" else "Nein."), data)
    table = bench.scores(one)
    assert list(table) == ["fr.tsv en-fr", "de.tsv en-de"]
    french, german = table.values()
    assert french["pairs"] == german["pairs"] > bench.QUICK
    assert french["bleu"] == french["chrf"] == french["exact_match"] == 100 and german["bleu"] < 1


def test_what_is_copied_is_counted_by_kind(bench, data):
    lost = bench.copied(bench.Bench(writing(lambda source, to: source.replace("@", " at ").replace(".", ",")), data,
                                    quick=True))  # fmt: skip
    whole = dict.fromkeys(("number", "name", "name in quotes"), "20 of 20")
    assert lost["de"] == whole | {"e-mail address": "0 of 20", "URL": "0 of 20"}, "12,50 is 12.50"


def test_lost_and_added_sentences_are_counted(bench, data):
    def write(source, to):
        return source.split(". ")[0] + "." if to == "fr" else source + " Und mehr." if ". " in source else source

    table = bench.texts(bench.Bench(writing(write), data, quick=True))
    assert table["fr"] == {"texts": 20, "lost": 20, "added": 0} and table["de"]["added"] == 20


def test_genders_are_counted_by_what_english_says(bench, data):
    def write(source, target):
        return "La cuisinière." if " cook " in source else "Le médecin dit qu'il dort." if " he " in source else "Bon."

    table = bench.bias(bench.Bench(writing(write), data))["fr"]
    jobs, each = len(bench.OCCUPATIONS), len(bench.HE_OR_SHE)
    assert table["article"]["he"] == {"masculine": (jobs - 1) * each, "feminine": each, "unknown": 0}
    assert table["article"]["she"] == {"masculine": 0, "feminine": each, "unknown": (jobs - 1) * each}
    assert table["pronoun"]["he"] == {"masculine": (jobs - 1) * each, "feminine": 0, "unknown": each}
    assert table["article, by occupation"]["cook"]["neither"] == {"masculine": 0, "feminine": 4, "unknown": 0}
