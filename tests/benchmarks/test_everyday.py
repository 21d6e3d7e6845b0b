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


def perfect(source, target):
    return f"{target.title()} {source}"


def test_scores_are_of_all_test_pairs_of_each_language(bench, data):
    one = bench.Bench(writing(lambda source, to: perfect(source, to) if to == "fr" else "Nein."), data)
    table = bench.scores(one)
    assert list(table) == ["fr.tsv en-fr", "de.tsv en-de"]
    french, german = table.values()
    assert french["pairs"] == german["pairs"] > bench.QUICK
    assert french["bleu"] == french["chrf"] == french["exact_match"] == 100 and german["bleu"] < 1
    assert "nrefs:1" in french["bleu_signature"] and "nc:6" in french["chrf_signature"]
    quick = bench.scores(bench.Bench(writing(perfect), data, quick=True))
    assert [row["pairs"] for row in quick.values()] == [bench.QUICK] * 2


def test_sentences_are_a_table_for_a_person(bench, data, tmp_path):
    out = tmp_path / "table.tsv"
    found = bench.sentences(bench.Bench(writing(perfect), data, out=out))
    lines = out.read_text("utf-8").splitlines()
    assert lines[0] == "kind\tEnglish\tfr\tde" and len(lines) == found["sentences"] + 1
    given = bench.SENTENCES.read_text("utf-8").splitlines()
    assert [line.split("\t")[:2] for line in lines[1:]] == [line.split("\t") for line in given[1:]]
    assert all(row[2:] == [f"Fr {row[1]}", f"De {row[1]}"] for row in found["table"][1:])


def test_what_is_copied_is_counted_by_kind(bench, data):
    kept = bench.copied(bench.Bench(writing(perfect), data, quick=True))
    lost = bench.copied(bench.Bench(writing(lambda source, to: source.replace("@", " at ").replace(".", ",")), data,
                                    quick=True))  # fmt: skip
    assert set(kept["fr"].values()) == {"20 of 20"} and list(kept) == ["fr", "de"]
    assert lost["de"] | {"number": "20 of 20", "name": "20 of 20"} == lost["de"], "12,50 is 12.50"
    assert lost["de"]["e-mail address"] == lost["de"]["URL"] == "0 of 20"


def test_what_another_way_of_writing_costs(bench, data):
    """A translator that drops everything in capitals."""
    def write(source, to):
        return "?" if source.isupper() else perfect(source.strip(" 🙂"), to)

    table = bench.written(bench.Bench(writing(write), data, quick=True))["fr"]
    assert table["as it is"] == table["lower case"] == table["emoji"] == table["no final stop"] == 100
    assert table["capitals"] < 5


def test_lost_and_added_sentences_are_counted(bench, data):
    def write(source, to):
        return source.split(". ")[0] + "." if to == "fr" else source + " Und mehr." if ". " in source else source

    table = bench.texts(bench.Bench(writing(write), data, quick=True))
    assert table["fr"] == {"texts": 20, "lost": 20, "added": 0} and table["de"]["added"] == 20


@pytest.mark.parametrize(("language", "translation", "article", "pronoun"), [
    ("fr", "L’infirmière a dit qu’elle était fatiguée.", "unknown", "feminine"),
    ("fr", "Le médecin a dit qu'elle était fatiguée.", "masculine", "feminine"),
    ("de", "Der Arzt sagte, er sei müde.", "masculine", "masculine"),
    ("es", "La doctora dijo que estaba cansada.", "feminine", "unknown"),
])
def test_which_gender_a_translation_has(bench, language, translation, article, pronoun):
    assert bench.genders(translation, language) == (article, pronoun)


def test_genders_are_counted_by_what_english_says(bench, data):
    def write(source, target):
        return "La cuisinière." if " cook " in source else "Le médecin dit qu'il dort." if " he " in source else "Bon."

    table = bench.bias(bench.Bench(writing(write), data))["fr"]
    jobs, each = len(bench.OCCUPATIONS), len(bench.HE_OR_SHE)
    assert table["article"]["he"] == {"masculine": (jobs - 1) * each, "feminine": each, "unknown": 0}
    assert table["article"]["she"] == {"masculine": 0, "feminine": each, "unknown": (jobs - 1) * each}
    assert table["pronoun"]["he"] == {"masculine": (jobs - 1) * each, "feminine": 0, "unknown": each}
    assert table["article, by occupation"]["cook"]["neither"] == {"masculine": 0, "feminine": 4, "unknown": 0}
