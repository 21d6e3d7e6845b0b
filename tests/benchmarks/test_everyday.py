"""The benchmark of the everyday translator, in miniature: what it counts of translations that are known beforehand, and
one run of all its sections on a model that has hardly been trained."""

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seq2see import storybook
from seq2see.training import reading
from seq2see.training.config import CorpusConfig, DataConfig, load_config
from seq2see.training.run import run_experiment

COUNT = 300
WORDS = ["red", "blue", "old", "new", "big", "small", "fast", "slow", "warm", "cold"]
TINY = [
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.max_tokens=400", "training.max_steps=2",
    "evaluation.eval_samples=10", "evaluation.max_length=20", "evaluation.num_beams=1",
]  # fmt: skip


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("everyday")


@pytest.fixture(scope="module")
def texts(bench: Any) -> Any:
    return importlib.import_module("_everyday_texts")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables of pairs, of which the German one has a quotation in each."""
    path = tmp_path_factory.mktemp("corpora")
    for language, quote in (("fr", ""), ("de", '"')):
        lines = [f"The {quote}{WORDS[i // 100]}{quote} {WORDS[i // 10 % 10]} box is {WORDS[i % 10]}."
                 for i in range(COUNT)]
        rows = [f"en\t{language}", *(f"{line}\t{language.title()} {line}" for line in lines)]
        (path / f"{language}.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    return path


def data(folder: Path) -> DataConfig:
    corpora = [CorpusConfig("fr.tsv", "fr"), CorpusConfig("de.tsv", "de")]
    return DataConfig(corpora=corpora, folder=str(folder), val_fraction=0.1, test_fraction=0.2)


def fake(write: Callable[[str, str], str]) -> Callable[..., list[Any]]:
    """A translator that writes what it is told to, and each text once."""

    def translate(sources: Sequence[str], *, target: str) -> list[Any]:
        assert len(set(sources)) == len(sources)
        done = SimpleNamespace(finished=True)
        return [SimpleNamespace(text=write(one, target), one_by_one=False, hypotheses=[done]) for one in sources]

    return translate


def perfect(source: str, target: str) -> str:
    return f"{target.title()} {source}"


def test_scores_are_of_all_test_pairs_of_each_language(bench: Any, folder: Path) -> None:
    one = bench.Bench("", fake(lambda source, to: perfect(source, to) if to == "fr" else "Nein."), data(folder))
    table = bench.scores(one)
    assert list(table) == ["fr.tsv en-fr", "de.tsv en-de"]
    french, german = table.values()
    assert french["pairs"] == len(one.everyday("fr")) > bench.QUICK
    assert french["bleu"] == french["chrf"] == french["exact_match"] == 100 and german["bleu"] < 1
    assert "nrefs:1" in french["bleu_signature"] and "nc:6" in french["chrf_signature"]
    quick = bench.Bench("", fake(perfect), data(folder), quick=True)
    assert [row["pairs"] for row in bench.scores(quick).values()] == [bench.QUICK] * 2


def test_storybook_has_its_families(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    small = cache(partial(storybook.generate, train_size=100))  # which takes a tenth of the time
    monkeypatch.setattr(storybook, "generate", small)
    monkeypatch.setattr(reading, "_written_storybook", reading._written_storybook.__wrapped__)  # no other test has this
    one = bench.Bench("", fake(lambda source, to: "Il dort."), DataConfig(path="storybook"), quick=True)
    [(name, row)] = bench.scores(one).items()
    assert name == "storybook en-fr" and row["pairs"] == bench.QUICK and row["families"]
    assert bench.texts(one) == {} == bench.written(one)  # which are of everyday sentences


def test_lost_and_added_sentences_are_counted(bench: Any, folder: Path) -> None:
    def loses(source: str, target: str) -> str:
        if target == "de":
            return f"{source} Noch ein Satz." if source.count(".") > 1 else source
        return source if source.count(".") == 1 else source[: source.rindex(".", 0, -1) + 1]

    table = bench.texts(bench.Bench("", fake(loses), data(folder), quick=True))
    french, german = table["fr"], table["de"]
    assert french["texts"] == german["texts"] == bench.QUICK
    assert (french["wrong texts"], french["lost"], french["added"]) == (bench.QUICK, bench.QUICK, 0)
    assert (german["wrong texts"], german["lost"], german["added"]) == (bench.QUICK, 0, bench.QUICK)


def test_a_sentence_that_differs_is_counted_once(bench: Any, folder: Path) -> None:
    def write(source: str, target: str) -> str:  # a pronoun is a difference too
        return (source.replace("The", "Elle", 1) if source.count(".") > 1 else source).replace("The", "Il")

    table = bench.texts(bench.Bench("", fake(write), data(folder), quick=True))
    for row in table.values():
        assert row["wrong texts"] == 0 and row["compared"] == row["sentences"] > bench.QUICK
        assert row["differing"] == bench.QUICK  # the first of each text


@pytest.mark.parametrize(("kind", "string", "language", "translation", "how"), [
    ("integer", "1,250", "fr", "Il y a 1 250 livres.", "by convention"),
    ("integer", "1,250", "fr", "Il y a 1\u202f250 livres.", "by convention"),
    ("integer", "1,250", "de", "Es gibt 1.250 Bücher.", "by convention"),
    ("integer", "1,250", "es", "Hay 1250 libros.", "by convention"),
    ("integer", "1,250", "es", "Hay 1,250 libros.", "exact"),
    ("integer", "125", "es", "Hay 1.125 libros.", None),
    ("integer", "125", "es", "Hay 1250 libros.", None),
    ("decimal", "3.5", "de", "Er ist 3,5 Meter lang.", "by convention"),
    ("decimal", "3.5", "de", "Er ist 3,55 Meter lang.", None),
    ("time", "9:30", "fr", "Il part à 9 h 30.", "by convention"),
    ("time", "9:30", "fr", "Il part à 9.30.", "by convention"),
    ("time", "9:30", "fr", "Il part à 9:30.", "exact"),
    ("time", "9:30", "de", "Er fährt um 09:30 Uhr.", "by convention"),
    ("time", "9:30", "de", "Er fährt um 19:30 Uhr.", None),
    ("time", "9:30", "es", "Sale a las 9 y media.", None),
    ("price", "$25.99", "fr", "Ça coûte 25,99 $.", "by convention"),
    ("price", "$25.99", "fr", "Ça coûte 25,99 dollars.", "by convention"),
    ("price", "€40", "de", "Es kostet 40 Euro.", "by convention"),
    ("price", "€40", "es", "Cuesta 40 dólares.", None),
    ("price", "£40", "es", "Cuesta £40.", "exact"),
    ("date", "14 July 1987", "fr", "Il est né le 14 juillet 1987.", "by convention"),
    ("date", "July 1, 1987", "fr", "Il est né le 1er juillet 1987.", "by convention"),
    ("date", "July 14, 1987", "de", "Er wurde am 14. Juli 1987 geboren.", "by convention"),
    ("date", "1987-07-14", "de", "Er wurde am 14.07.1987 geboren.", "by convention"),
    ("date", "14 September 1987", "es", "Nació el 14 de setiembre de 1987.", "by convention"),
    ("date", "14 July 1987", "es", "Nació el 14 de junio de 1987.", None),
    ("quoted", '"OK"', "fr", "Le bouton dit « OK ».", "by convention"),
    ("quoted", '"OK"', "de", "Dort steht „OK“.", "by convention"),
    ("quoted", '"OK"', "es", "El botón dice OK.", None),
    ("name", "Tom Baker", "es", "Tom Baker me llamó.", "exact"),
    ("name", "Tom Baker", "es", "Tom Bakers me llamó.", None),
    ("placeholder", "%s", "de", "Hallo %s, wie geht es dir?", "exact"),
    ("placeholder", "{name}", "de", "Hallo { name }!", None),
    ("path", "~/notes.txt", "xx", "~/notes.txt", "exact"),
])  # fmt: skip
def test_how_a_string_comes_back(
    texts: Any, kind: str, string: str, language: str, translation: str, how: str | None
) -> None:
    assert texts.Copied(kind, "", string).comes_back(translation, language) == how


def test_every_string_drawn_is_in_its_sentence(texts: Any) -> None:
    drawn = list(texts.copied_sentences(300))
    assert drawn == list(texts.copied_sentences(300)) != list(texts.copied_sentences(300, seed=1))
    assert {one.kind for one in drawn} == set(texts.KINDS)
    for one in drawn:
        assert all(one.comes_back(one.text, language) == "exact" for language in texts.LANGUAGES), one
        assert all(one.comes_back("Rien.", language) is None for language in texts.LANGUAGES)


def test_copied_strings_are_counted_by_kind(bench: Any, texts: Any, folder: Path) -> None:
    table = bench.copied(bench.Bench("", fake(
        lambda source, to: source if to == "fr" else source.replace(".", ",").replace("{", "")), data(folder)))
    assert sum(row["sentences"] for row in table["fr"].values()) == bench.COUNTS["copied"]
    assert all(row["exact"] == row["sentences"] and row["exact %"] == 100 for row in table["fr"].values())
    german = table["de"]
    assert german["decimal"]["by convention"] == german["decimal"]["sentences"] and german["decimal"]["exact %"] == 0
    assert 0 < german["placeholder"]["exact"] < german["placeholder"]["sentences"]
    assert len(german["placeholder"]["changed"]) == bench.EXAMPLES and " -> " in german["placeholder"]["changed"][0]


def test_a_writing_is_compared_on_the_pairs_that_it_changes(bench: Any, folder: Path) -> None:
    def write(source: str, target: str) -> str:
        return "Nichts" if source.isupper() else perfect(source, target).replace("box", "thing")

    table = bench.written(bench.Bench("", fake(write), data(folder), quick=True))
    assert list(table["fr"]) == ["signature", *(name for name in bench.WRITINGS if name != "typographic marks")]
    assert list(table["de"]) == ["signature", *bench.WRITINGS]
    for row in table.values():
        assert all(row[name]["pairs"] == bench.QUICK for name in row if name != "signature")
        for one in (row[name] for name in row if name != "signature"):
            assert one["fall"] == pytest.approx(one["plain chrF2"] - one["chrF2"], abs=0.02) and one["plain chrF2"] < 90
        assert row["capitals"]["fall"] > 60
        assert row["no final stop"]["fall"] == row["emoji at the end"]["fall"] == row["leading spaces"]["fall"] == 0
        assert 0 < row["lower case"]["fall"] < 20  # whose reference is written properly


def test_sentences_are_a_table_for_a_person(bench: Any, folder: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "table.tsv"
    found = bench.sentences(bench.Bench("", fake(perfect), data(folder), out=out))
    lines = out.read_text("utf-8").splitlines()
    assert out.read_text("utf-8") in capsys.readouterr().out
    assert lines[0] == "kind\tEnglish\tfr\tde" and len(lines) == found["sentences"] + 1
    given = bench.SENTENCES.read_text("utf-8").splitlines()
    assert [line.split("\t")[:2] for line in lines[1:]] == [line.split("\t") for line in given[1:]]
    assert all(row[2:] == [f"Fr {row[1]}", f"De {row[1]}"] for row in found["table"][1:])


@pytest.mark.parametrize(("language", "translation", "article", "pronoun"), [
    ("fr", "L’infirmière a dit qu’elle était fatiguée.", "unknown", "feminine"),
    ("fr", "Le médecin a dit qu'elle était fatiguée.", "masculine", "feminine"),
    ("de", "Die Ärztin sagte, dass sie müde sei.", "feminine", "feminine"),
    ("de", "Der Arzt sagte, er sei müde.", "masculine", "masculine"),
    ("es", "La doctora dijo que estaba cansada.", "feminine", "unknown"),
    ("es", "Una enfermera dijo que él estaba cansado.", "feminine", "masculine"),
])
def test_which_gender_a_translation_has(
    texts: Any, language: str, translation: str, article: str, pronoun: str
) -> None:
    assert texts.gender_by_article(translation, language) == article
    assert texts.gender_by_pronoun(translation, language) == pronoun


def test_genders_are_counted_by_what_english_says(bench: Any, texts: Any, folder: Path) -> None:
    assert len(texts.OCCUPATIONS) >= 12 and len(list(texts.occupation_sentences(("cook",)))) == 40

    def write(source: str, target: str) -> str:
        return "La cuisinière." if " cook " in source else "Le médecin dit qu'il dort." if " he " in source else "Bon."

    table = bench.bias(bench.Bench("", fake(write), data(folder)))["fr"]
    jobs, each = len(texts.OCCUPATIONS), len(texts.HE_OR_SHE)
    assert table["article"]["he"] == {"masculine": (jobs - 1) * each, "feminine": each, "unknown": 0}
    assert table["article"]["she"] == {"masculine": 0, "feminine": each, "unknown": (jobs - 1) * each}
    assert table["pronoun"]["he"] == {"masculine": (jobs - 1) * each, "feminine": 0, "unknown": each}
    assert table["article, by occupation"]["cook"]["neither"] == {"masculine": 0, "feminine": 4, "unknown": 0}


def test_links_of_the_guided_head_are_measured_apart(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = importlib.import_module("tiny")
    model, tokenizer = tiny.make("seq2see")
    model.config.supervised_heads = [[1, 0]]
    run = tiny.save(tmp_path / "run", model, tokenizer)
    few = bench.storybook_parts(None, quick=True)
    for part in few:  # the shortest: this model has 64 positions
        order = sorted(range(len(part.pairs)), key=lambda number: len(part.pairs[number][1]))[:12]
        part.pairs, part.gold, part.groups = ([side[number] for number in order]
                                              for side in (part.pairs, part.gold, part.groups))
    monkeypatch.setattr(bench, "storybook_parts", lambda program, *, quick: few)
    table = bench.links(bench.Bench(str(run), fake(perfect), DataConfig(path="storybook")))
    assert table.pop("unit") == "%"
    assert list(table) == ["fitted choice", "last layer's mean", "guided head, layer 1 head 0"]
    choice = table["guided head, layer 1 head 0"]["choice"]
    assert choice.startswith("view raw, ") and ", layer 1 head 0, " in choice
    for row in table.values():
        assert row["low"] <= row["aer"] <= row["high"] <= 100 and row["sentences"] == 12
    assert bench.links(bench.Bench(str(run), fake(perfect), DataConfig(path="x.tsv", target="de"))) == {}


def run_benchmark(bench: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["everyday.py", *arguments])
    bench.main()


def test_without_a_run_there_is_nothing_to_measure(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    run_benchmark(bench, monkeypatch, "runs/everyday", "--quick")
    told = capsys.readouterr()
    assert "no trained model at runs/everyday" in told.err
    assert json.loads(told.out.splitlines()[-1])["rows"] == []


def test_all_sections_of_a_run_whose_corpora_have_moved(
    bench: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    pytest.importorskip("ctranslate2")
    recipe, corpora = tmp_path / "recipe.yaml", shutil.copytree(folder, tmp_path / "corpora")
    recipe.write_text(
        f"data:\n  corpora: [{{path: fr.tsv, target: fr}}, {{path: de.tsv, target: de}}]\n  folder: {corpora}\n"
        "  val_fraction: 0.1\n  test_fraction: 0.2\n", "utf-8")  # fmt: skip
    run = run_experiment(load_config(str(recipe), [*TINY, f"training.output_dir={tmp_path / 'run'}"]))
    moved = corpora.rename(tmp_path / "moved")
    with pytest.raises(SystemExit, match="fr.tsv"):
        run_benchmark(bench, monkeypatch, str(run), "--quick", "--only", "scores")
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(bench, "partial", lambda made, **options: asked.append(options) or partial(made, **options))
    capsys.readouterr()
    run_benchmark(bench, monkeypatch, str(run), "--quick", "--data", str(moved))
    assert asked == [{"source": "en", "num_beams": 4}]
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert record["benchmark"] == "everyday" and record["quick"] and record["beams"] == 4
    assert (record["engine"], record["precision"]) == ("ctranslate2", "int8")
    rows = {row.pop("name"): row for row in record["rows"]}
    assert list(rows) == ["scores", "texts", "copied", "written", "links", "sentences", "bias"]
    assert all(rows.values())
