"""Several corpora in one run: what is mixed, what is held out, and what may change when a run is resumed."""

import json
import re
from collections import Counter

import pytest

from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.training.config import CorpusConfig, DataConfig, load_config
from seq2see.training.corpora import HELD_OUT, load_corpus
from seq2see.training.offensive import is_offensive
from seq2see.training.pairs import Pair, sentence_key
from seq2see.training.variation import other_name, other_numbers
from .conftest import last_error, train

COUNT = 300


def write(path, language, sentences):
    lines = [f"en\t{language}", *(f"{text}.\t{language} {text}." for text in sentences)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "fr.tsv", "fr", [f"sentence {i}" for i in range(COUNT)])
    write(tmp_path / "de.tsv", "de", [f"SENTENCE {i}" for i in range(COUNT // 2, COUNT)])  # half of them the same
    return tmp_path


def data(folder, **more):
    corpora = [CorpusConfig("fr.tsv", "fr"), CorpusConfig("de.tsv", "de")]
    settings = {"corpora": corpora, "folder": str(folder), "val_fraction": 0.1, "test_fraction": 0.1}
    return DataConfig(**settings | more)


def test_the_corpora_are_one_and_a_sentence_is_on_one_side_in_every_language(folder):
    corpus = load_corpus(data(folder))
    assert [part.target for part, _ in corpus.parts] == ["fr", "de"] == data(folder).targets
    for side in ("train", "val", "test"):
        assert list(getattr(corpus, side)) == [pair for _, part in corpus.parts for pair in getattr(part, side)]
    sides = [{sentence_key(pair.source) for pair in side} for side in (corpus.train, corpus.val, corpus.test)]
    assert len(set.union(*sides)) == sum(map(len, sides))


def test_what_one_corpus_holds_out_by_name_the_others_do_not_train_on(folder):
    split = folder / "split"
    split.mkdir()
    write(split / "train.tsv", "fr", ["other 1", "other 2"])
    write(split / "val.tsv", "fr", ["sentence 250"])
    write(split / "test.tsv", "fr", ["sentence 260", "sentence 261"])
    corpora = [CorpusConfig("split", "fr"), CorpusConfig("de.tsv", "de")]
    corpus = load_corpus(data(folder, corpora=corpora, val_fraction=0.01, test_fraction=0.0))
    there = {pair.source for pair in corpus.parts[1][1].train}
    held_out = {f"SENTENCE {number}." for number in (250, 260, 261)}
    assert held_out & there and not held_out & {pair.source for pair in corpus.train}
    assert corpus.skipped[HELD_OUT] == len(held_out & there)


def test_what_is_held_out_is_not_trained_on_in_another_writing_either(folder):
    write(folder / "fr.tsv", "fr", [f"plain {number}{emoji}" for number in range(COUNT) for emoji in ("", " 😀")])
    corpus = load_corpus(data(folder, corpora=[CorpusConfig("fr.tsv", "fr")], varied=0.5))
    held_out = {sentence_key(pair.source) for pair in (*corpus.val, *corpus.test)}
    assert held_out and not held_out & {sentence_key(pair.source) for pair in corpus.train}


@pytest.mark.parametrize("share", [0.5, 2.5])
def test_a_share_is_of_the_same_sentences_in_each_language(folder, share):
    shares = [CorpusConfig("fr.tsv", "fr", share=share), CorpusConfig("de.tsv", "de", share=share)]
    corpus = load_corpus(data(folder, corpora=shares))
    whole = load_corpus(data(folder))
    assert len(corpus.train) == pytest.approx(share * len(whole.train), rel=0.15)
    assert (corpus.val, corpus.test) == (whole.val, whole.test)
    french, german = (Counter(sentence_key(pair.source) for pair in corpus.train if pair.target_language == language)
                      for language in ("fr", "de"))  # fmt: skip
    assert german and all(french[key] == count for key, count in german.items())


@pytest.mark.parametrize(("overrides", "message"), [
    (["data.corpora=[{path: a.tsv, target: fr, share: 0}]"], r"data.corpora\[0\].share in .* is 0, expected at least"),
    (["data.corpora=[{path: a.tsv, target: fr}]", "data.path=b.tsv"], "data.path in .* has no effect beside"),
    (["data.corpora=[{path: a.tsv}]"], r"data.corpora\[0\].target in .*: missing"),
    (["data.path=a.tsv", "data.varied=0.1"], "data.varied in .* has no effect without data.corpora"),
])  # fmt: skip
def test_mistakes_are_told(tmp_path, overrides, message):
    (tmp_path / "recipe.yaml").write_text("data: {source: en}\n", "utf-8")
    with pytest.raises(UserError, match=message):
        load_config(str(tmp_path / "recipe.yaml"), overrides)


def test_a_run_of_several_corpora_scores_each_and_resumes(folder, tmp_path, capsys):
    run = tmp_path / "run"
    overrides = ["data.corpora=[{path: fr.tsv, target: fr}, {path: de.tsv, target: de}]", f"data.folder={folder}",
                 "data.path=null", "data.test_fraction=0.1", "training.max_steps=2", f"training.output_dir={run}"]
    assert train(*overrides) == 0
    assert "of these, from " in capsys.readouterr().err
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    named = [f"{to}.tsv en-{to} {side}" for to in ("fr", "de") for side in ("val", "test")]
    assert list(metrics["evaluation"]) == named
    assert [part["target"] for part in metrics["training"]["corpora"]] == ["fr", "de"]
    card = (run / "README.md").read_text("utf-8")
    for part in metrics["training"]["corpora"]:
        assert f"| {part['target']}.tsv | {part['target']} | {part['pairs']} | {part['val']} |" in card
    assert main(["evaluate", str(run)]) == 0
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {name for name in scores if "tsv" in name} - {"data"} == {"fr.tsv en-fr", "de.tsv en-de"}
    assert main(["evaluate", str(run), "--to", "de", "--json"]) == 0
    assert "fr.tsv en-fr" not in json.loads(capsys.readouterr().out)
    assert main(["evaluate", str(run), "--to", "es"]) != 0
    assert train(*overrides, "training.resume=true") == 0
    assert train(*overrides, "training.resume=true", "data.varied=0.5") == 2
    assert "data.varied is 0.5, but the run in" in last_error(capsys)


def test_names_and_numbers_are_exchanged_on_both_sides_or_not_at_all():
    both = Pair("Tom and Mary met Tom at 8:45.", "Tom et Mary ont rencontré Tom à 8:45.", "en", "fr")
    after = other_numbers(other_name(both))
    names = re.findall(r"^(.*) and (.*) met (.*) at (\d:\d\d)\.$", after.source)[0]
    assert names[0] == names[2] != names[1] and not {"Tom", "Mary"} & set(names) and names[3] != "8:45"
    assert after.target == "{} et {} ont rencontré {} à {}.".format(*names)
    assert other_name(both) == other_name(both)
    for source, target in (("Tom's house", "Toms Haus"), ("Tom, Tom!", "Tom!"), ("Tomato", "Tomate")):
        assert other_name(Pair(source, target, "en", "de")) == Pair(source, target, "en", "de")
    for source, target in (("2:30", "halb 3"), ("1 dog", "1 Hund"), ("07", "07"), ("3 dogs", "drei Hunde")):
        assert other_numbers(Pair(source, target, "en", "de")) == Pair(source, target, "en", "de")


def test_pairs_with_offensive_words_are_left_out_where_asked_for(folder):
    (folder / "rude.tsv").write_text(
        "en\tde\nHello.\tHallo.\nThis is SHIT!\tDas ist Mist!\nGo away.\tVerpiss dich, Arschloch.\n"
        "They had a pique-nique.\tEin Picknick.\n", "utf-8")  # fmt: skip
    corpora = [CorpusConfig("rude.tsv", "de", offensive="skip"), CorpusConfig("de.tsv", "de")]
    assert load_corpus(data(folder, corpora=corpora)).skipped == {"offensive words": 2}
    assert not is_offensive("Shit!", language="fr") and not is_offensive("Un pique-nique.", language="fr")
