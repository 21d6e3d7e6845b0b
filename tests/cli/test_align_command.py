"""`seq2see align`: Pharaoh lines from any encoder-decoder, a choice fitted and found again, mistakes in one line."""

from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from seq2see import Translator
from seq2see.lens.heads.alignment_choice import AlignmentChoice, best_known
from seq2see.measures import aligner as align
from seq2see.text.word_links import from_pharaoh
from seq2see.tokenizer.words import split_words
from seq2see.translate.loaded_checkpoint import fingerprint

SOURCES = ["The cat did not cross the street.", "", "The box.", "An owl lent 12 ladders, didn't it?"]
TARGETS = ["Le chat n'a pas traversé la rue.", "", "La boîte.", "Le sac."]
SUPERVISED = "supervised: a head of this model was trained with gold links"


def lines(*texts):
    return "".join(f"{text}\n" for text in texts)


@pytest.fixture
def folder(tmp_path):
    return tiny.save(tmp_path / "run", *tiny.seq2see())


@pytest.fixture
def files(tmp_path):
    for name, texts in (("en", SOURCES), ("fr", TARGETS)):
        (tmp_path / f"in.{name}").write_text(lines(*texts), "utf-8")
    return ["--src", tmp_path / "in.en", "--tgt", tmp_path / "in.fr"]


@pytest.fixture
def run(command):
    def run(*arguments):
        code, out, err = command("align", *arguments)
        return code, out.splitlines(), err

    return run


def loaded(folder):
    return Translator.from_pretrained(folder, engine="torch")


@pytest.mark.parametrize("kind", ["marian", "t5", "seq2see"])
def test_a_line_for_each_pair_with_links_between_its_words(kind, tmp_path, files, run):
    folder = tiny.save(tmp_path / kind, *tiny.make(kind))
    code, out, err = run(folder, *files, *([] if kind == "seq2see" else ["--from", "en", "--to", "fr"]))
    assert (code, len(out), out[1]) == (0, 4, "")
    assert "word links not fitted, so their error is unknown" in err and err.count("\n") == 1
    for source, target, line in zip(SOURCES, TARGETS, out, strict=True):
        sizes = len(split_words(source, language="en")), len(split_words(target, language="fr"))
        links = from_pharaoh(line).sure
        assert all(i < sizes[0] and j < sizes[1] for i, j in links)
        assert line == "" or links


def test_links_count_the_words_of_the_text_that_was_given(tmp_path):
    """The tokenizer of the other models puts words apart otherwise, and loses what it has no token for."""
    folder = tiny.save(tmp_path / "marian", *tiny.make("marian"))
    target = "«  Le   chat  » — l'arbre\u2003!"
    [trace] = align.Aligner(loaded(folder), target="fr").traces([("The cat.", target)], views=("raw",))
    assert trace.target_text == target
    assert [word.text for word in trace.target_words] == ["«", "Le", "chat", "»", "—", "l'", "arbre", "!"]


@pytest.mark.parametrize(("arguments", "said"), [
    ("", "give --src FILE and --tgt FILE"),
    ("--src SRC", "give --src FILE and --tgt FILE: line N of --tgt"),
    ("--src SRC --tgt SHORT", "has no line 4, but the other file does"),
    ("--src SRC --tgt none", "No such file or directory: none"),
    ("--src SRC --tgt LONG", "line 3: target has"),
    ("--src SRC --tgt SRC --to xx", "this model does not translate to xx; choose en to fr, en to de"),
])
def test_a_mistake_is_one_line(folder, tmp_path, monkeypatch, run, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("SRC").write_text(lines(*SOURCES))
    Path("SHORT").write_text(lines(*TARGETS[:3]))
    Path("LONG").write_text(lines("Le chat.", "", "sac " * 300, "Le sac."))
    code, _, err = run(folder, *arguments.split())
    assert code in (1, 2) and said in err
    assert len([line for line in err.splitlines() if line.startswith("seq2see: ")]) == 1
    assert not list(folder.glob("*t.json"))  # alignment, trust


def test_a_choice_of_another_model_is_refused(folder, files, run):
    choice = AlignmentChoice("raw", "predicts", ((7, 0),), "target", 0.0, fingerprint=fingerprint(folder))
    choice.save(folder / "alignment.json")
    code, out, err = run(folder, *files)
    assert code == 1 and "belongs to another model" in err and out == []
    (folder / "alignment.json").write_text("{}")
    code, out, err = run(folder, *files)
    assert code == 1 and "is not a valid alignment choice" in err and "seq2see measure" in err


def test_a_choice_fitted_to_other_weights_is_not_used(folder, files, run):
    fitted = AlignmentChoice("raw", "reads", ((1, 0),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15)
    fitted = replace(fitted, fingerprint=fingerprint(folder))
    fitted.save(folder / "alignment.json")
    assert loaded(folder).alignment == fitted
    assert run(folder, *files)[2].startswith("word links fitted: ")
    checkpoint = tiny.save(folder / "checkpoint-9", *tiny.seq2see())
    assert loaded(checkpoint).alignment == fitted, "of the same weights"
    tiny.save(folder, *tiny.seq2see(seed=1))  # trained on
    for found in (fitted, replace(fitted, fingerprint="")):  # the one of the weights before; one of an older version
        found.save(folder / "alignment.json")
        code, out, err = run(folder, *files)
        assert (code, len(out)) == (0, 4) and "AER" not in err
        assert err.startswith("word links not fitted to these weights (alignment.json belongs to other weights)")
        translator = loaded(folder)
        assert translator.alignment is None
        choice = align.Aligner(translator).naive()
        known = best_known(layers=3, heads=2, fitted=translator.alignment, trust=None)
        assert known == choice and choice.describe() in err
