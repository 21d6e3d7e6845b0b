"""`seq2see evaluate` scores what `seq2see translate` writes."""

import io
import json
import sys
from pathlib import Path

import pytest

from seq2see.cli.command import main
from seq2see.training.metrics import score

PASSAGES = [  # several sentences, addresses, numbers and odd spacing, as texts have them
    ("I am tired. I want to go home. It is late.", "Je suis fatigué. Je veux rentrer chez moi. Il est tard."),
    ("The train left at 8:45. We were late. Nobody was there.", "Le train est parti à 8:45. Nous étions en retard. Il"
     " n'y avait personne."),
    ("Write to anna@example.org. She will help you.", "Écris à anna@example.org. Elle t'aidera."),
    ("My brother lives in Paris. He has two dogs. They are small.", "Mon frère vit à Paris. Il a deux chiens. Ils sont"
     " petits."),
    ("Open https://example.org/help and read it. Then call me.", "Ouvre https://example.org/help et lis-le. Puis"
     " appelle-moi."),
    ("What is your name? My name is Tom. I am from London.", "Comment t'appelles-tu ? Je m'appelle Tom. Je viens de"
     " Londres."),
    ("It is cold today. Take your coat. Do not forget your keys. I will wait here.", "Il fait froid aujourd'hui. Prends"
     " ton manteau. N'oublie pas tes clés. J'attendrai ici."),
    ("She opened the door. There was a cat. It was hungry. She gave it some milk. It drank all of it. Then it slept.",
     "Elle ouvrit la porte. Il y avait un chat. Il avait faim. Elle lui donna du lait. Il le but. Puis il dormit."),
    ("Hello %s, you have %d new messages. Read them now.", "Bonjour %s, tu as %d nouveaux messages. Lis-les."),
    ("We went to the sea. The water was warm. We swam for an hour.", "Nous sommes allés à la mer. L'eau était chaude."
     " Nous avons nagé une heure."),
]


def table_of(path: Path, passages: list[tuple[str, str]]) -> Path:
    path.write_text("en\tfr\n" + "".join(f"{source}\t{target}\n" for source, target in passages), "utf-8")
    return path


def evaluated(capsys, *arguments: object) -> dict:
    assert main(["evaluate", *map(str, arguments), "--to", "fr", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["fr"]


@pytest.mark.few(1)
@pytest.mark.parametrize(("engine", "count"), [("auto", 10), ("torch", 4)])
def test_the_scores_are_those_of_what_translate_writes(tmp_path, capsys, monkeypatch, engine, count):
    """Of passages, with the packaged model; the model alone (`--raw`) has other scores, and the record says which."""
    passages = PASSAGES[-count:]
    table = table_of(tmp_path / "passages.tsv", passages)
    lines = "".join(f"{source}\n" for source, _ in passages).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main(["translate", "everyday", "--to", "fr", "--engine", engine]) == 0
    written = capsys.readouterr().out.splitlines()
    expected = score(written, [target for _, target in passages]).to_dict()
    found, raw = (evaluated(capsys, "everyday", "--data", table, "--engine", engine, *how) for how in ((), ["--raw"]))
    assert {key: found[key] for key in expected} == expected
    assert raw["bleu"] <= found["bleu"] and raw["chrf"] != found["chrf"]
    used = {"auto": ("ctranslate2", "int8"), "torch": ("torch", "float32")}[engine]
    for name, row in ("translate", found), ("raw", raw):
        assert (row["pipeline"], row["engine"], row["precision"]) == (name, *used)


@pytest.mark.long
def test_a_model_and_its_own_export_are_scored_alike(tmp_path, capsys):
    table = table_of(tmp_path / "passages.tsv", PASSAGES[:4])
    assert main(["export", "everyday", "--format", "transformers", "--out", str(tmp_path / "stock")]) == 0
    capsys.readouterr()
    row = evaluated(capsys, "everyday", "--data", table, "--against", tmp_path / "stock")
    against = row["against"]
    assert (row["engine"], against["bleu"], against["chrf"]) == ("ctranslate2", row["bleu"], row["chrf"])
    assert against["bleu_p"] == against["chrf_p"] == 1


def test_it_prints_the_test_of_a_difference_and_the_words_that_a_model_never_saw(tmp_path, capsys):
    table = tmp_path / "own.csv"
    table.write_text("en,fr\nThe zyxomma sleeps.,Le zyxomma dort\u00a0!\nThe cat.,Le\u202fchat.\n", "utf-8")
    page = tmp_path / "page.html"
    assert main(["evaluate", "storybook", "--against", "everyday", "--data", str(table), "--to", "fr", "--html",
                 str(page)]) == 0
    out, err = capsys.readouterr()
    assert out.count("(approximate randomisation, 1,000 trials, seed 12345)") == 2
    for name in ("storybook", "everyday"):
        assert f"{name}: 1 of 2 pairs: words not seen in training, so their translation is a guess (first: pair 1:" \
               " zyxomma)" in err.replace(", sleeps", "")
    assert "Le zyxomma dort !" in page.read_text("utf-8") and "xa0" not in page.read_text("utf-8")
