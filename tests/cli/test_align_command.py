"""`seq2see align`: Pharaoh lines from any encoder-decoder, a choice fitted and found again, mistakes in one line."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from seq2see import Translator
from seq2see.lens.alignment_choice import AlignmentChoice, best_known
from seq2see.lens.intervals import agreement
from seq2see.measures import aligner as align
from seq2see.measures.gold import groups_of, in_halves
from seq2see.storybook import Storybook, generate
from seq2see.tokenizer.links import from_pharaoh
from seq2see.tokenizer.words import split_words
from seq2see.translate.loaded_checkpoint import fingerprint

SOURCES = ["The cat did not cross the street.", "", "The box.", "An owl lent 12 ladders, didn't it?"]
TARGETS = ["Le chat n'a pas traversé la rue.", "", "La boîte.", "Le sac."]
SUPERVISED = "supervised: a head of this model was trained with gold links"


def lines(*texts):
    return "".join(f"{text}\n" for text in texts)


def short(stories, count):
    """Each two of them are called variants of one sentence: those that are have longer ones."""
    chosen = [one for one in stories if len(one.target) < 40][:count]
    return tuple(replace(one, contrast_key=f"short/{number // 2}") for number, one in enumerate(chosen))


@pytest.fixture
def story(monkeypatch):
    """Twelve sentences of storybook's validation part and fourteen of its test, short enough for the tiny models."""
    stories = generate(train_size=1)
    story = Storybook(stories.train, short(stories.val, 12), short(stories.test, 14), stories.idioms)
    monkeypatch.setattr(align, "generate", lambda seed: story)
    return story


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
    assert "not fitted, so its error is unknown" in err and err.count("\n") == 1
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


def test_fitted_on_storybook_s_validation_part_and_used_from_then_on(folder, files, story, run, monkeypatch):
    (folder / "run.yaml").write_text("data: {path: storybook}\ntraining: {seed: 5}\n")
    monkeypatch.setattr(align, "generate", lambda seed: story if seed == 5 else None)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"supervised_heads": [[1, 0]]}))
    code, out, err = run(folder, "--fit")
    assert (code, err) == (0, "") and out[-1].endswith("alignment.json") and SUPERVISED in out[-2]
    choice = AlignmentChoice.load(folder / "alignment.json")
    assert (choice.fitted_on, choice.sentences, choice.guided) == ("storybook's validation part", 12, True)
    assert choice.fingerprint == fingerprint(folder)
    aligner = align.Aligner(loaded(folder))
    traces = aligner.traces([(one.source, one.target) for one in story.val], views=("raw", choice.view))
    gold = align.texts_and_links(story.val)[1]
    found = agreement([choice.links(trace) for trace in traces], gold, groups=groups_of(story.val))
    assert found["aer"] == pytest.approx((choice.aer, choice.low, choice.high))
    code, out, err = run(folder, *files)
    assert code == 0 and err.startswith("fitted: view") and SUPERVISED in err
    [trace] = aligner.traces([(SOURCES[0], TARGETS[0])], views=("raw", choice.view))
    assert from_pharaoh(out[0]).sure == choice.links(trace)


def test_fitted_on_links_of_one_s_own(folder, files, tmp_path, run):
    (tmp_path / "links").write_text("0-0 1-1\n\n0-0 1-1 2-2\n0-0 0p1\n")
    assert run(folder, "--fit", *files, "--links", tmp_path / "links")[0] == 0
    kept = json.loads((folder / "alignment.json").read_text())
    assert kept["fitted_on"] == str(tmp_path / "links") and kept["sentences"] == 3 and not kept["guided"]


@pytest.mark.parametrize(("arguments", "said"), [
    ("", "give --src FILE and --tgt FILE"),
    ("--src SRC", "--src and --tgt go together"),
    ("--src SRC --tgt SHORT", "has no line 4, but the other file does"),
    ("--src SRC --tgt none", "No such file or directory: none"),
    ("--src SRC --tgt LONG", "line 3: target has"),
    ("--src SRC --tgt SRC --to xx", "this model does not translate to xx; choose en to fr, en to de"),
    ("--src SRC --tgt SRC --links LINKS", "--links needs --fit or --trust"),
    ("--fit --src SRC --tgt SRC", "--fit needs --links"),
    ("--fit", "not trained on storybook"),
    ("--fit --src SRC --tgt SRC --links LINKS", "LINKS has 1 lines"),
    ("--fit --trust", "one after the other"),
    ("--trust", "not trained on storybook, which has gold links"),
    ("--trust --src SRC --tgt SRC", "3 sentence pairs are too few: 300 are needed for reporting"),
])
def test_a_mistake_is_one_line(folder, tmp_path, monkeypatch, run, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("SRC").write_text(lines(*SOURCES))
    Path("SHORT").write_text(lines(*TARGETS[:3]))
    Path("LONG").write_text(lines("Le chat.", "", "sac " * 300, "Le sac."))
    Path("LINKS").write_text("0-0\n")
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
    assert code == 1 and "is no alignment choice" in err and "--fit" in err


def test_a_choice_fitted_to_other_weights_is_not_used(folder, files, run):
    fitted = AlignmentChoice("raw", "reads", ((1, 0),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15)
    fitted = replace(fitted, fingerprint=fingerprint(folder))
    fitted.save(folder / "alignment.json")
    assert loaded(folder).alignment == fitted
    assert run(folder, *files)[2].startswith("fitted: ")
    checkpoint = tiny.save(folder / "checkpoint-9", *tiny.seq2see())
    assert loaded(checkpoint).alignment == fitted, "of the same weights"
    tiny.save(folder, *tiny.seq2see(seed=1))  # trained on
    for found in (fitted, replace(fitted, fingerprint="")):  # the one of the weights before; one of an older version
        found.save(folder / "alignment.json")
        code, out, err = run(folder, *files)
        assert (code, len(out)) == (0, 4) and "AER" not in err
        assert err.startswith("not fitted to these weights (alignment.json is for others), so its error is unknown")
        translator = loaded(folder)
        assert translator.alignment is None
        choice = align.Aligner(translator).naive()
        known = best_known(layers=3, heads=2, fitted=translator.alignment, trust=None)
        assert known == choice and choice.describe() in err


@pytest.mark.parametrize(("verb", "name"), [("--fit", "alignment.json"), ("--trust", "trust.json")])
def test_what_would_fail_after_minutes_is_told_before(folder, files, tmp_path, monkeypatch, run, verb, name):
    monkeypatch.setattr(align.Aligner, "traces", None)  # nothing is traced
    monkeypatch.setattr("seq2see.measures.held_out_faithfulness.LEAST", 1)
    links = tmp_path / "links"
    links.write_text("0-0\n\n0-0 1-1\n0-0 1-9\n")
    code, out, err = run(folder, verb, *files, "--links", links)
    assert (code, out) == (1, []) and err.count("\n") == 1
    assert f"{links}, line 4: link 1-9, but its source has 9 words and its target 3: words are counted from 0" in err
    links.write_text("0-0\n\n0-0 1-1\n0-0\n")
    (folder / name).mkdir()
    told = f"seq2see: error: cannot write {folder / name}: copy the run to a folder of your own\n"
    assert run(folder, verb, *files, "--links", links) == (1, [], told)
    (folder / name).rmdir()
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != folder)  # to root every folder can be written
    assert run(folder, verb, *files, "--links", links) == (1, [], told)


# --- how far to trust each view


def test_trust_is_measured_on_sentences_that_were_held_out(folder, story, run, monkeypatch):
    monkeypatch.setattr("seq2see.measures.held_out_faithfulness.LEAST", 4)
    (folder / "run.yaml").write_text("data: {path: storybook}\n")
    code, out, err = run(folder, "--trust")
    assert (code, err) == (0, "") and out[-1] == f"wrote {folder / 'trust.json'}"
    translator = loaded(folder)
    trust = translator.trust
    assert trust.sentences + trust.chosen_on == 14 and "storybook" in trust.measured_on
    assert len(trust.maps) == 2 * (6 + 6 + 3 * 3) + 1  # rows x (raw, norm, three views of three layers), left_out
    for one in trust.best:
        [line] = [line for line in out if line.startswith(f"  {one.view} ")]
        assert str(one) in line and one.name in line
    [test] = [part for part in in_halves(story.test) if len(part) == trust.sentences][-1:]
    traces = list(align.Aligner(translator).traces([(one.source, one.target) for one in test], views=["raw"]))
    choice = AlignmentChoice("raw", "predicts", ((1, 1),), "target", 0.0)
    links = agreement([choice.links(trace) for trace in traces], align.texts_and_links(test)[1], groups=groups_of(test))
    assert trust.of("raw", "predicts", (1, 1)).aer == pytest.approx(links["aer"], abs=1e-4)


def test_trust_in_given_files_with_and_without_links(folder, tmp_path, run, monkeypatch):
    monkeypatch.setattr("seq2see.measures.held_out_faithfulness.LEAST", 3)
    for name, texts in (("en", SOURCES * 2), ("fr", TARGETS * 2), ("links", ["0-0", "", "0-0", "0-0"] * 2)):
        (tmp_path / name).write_text(lines(*texts), "utf-8")
    files = ["--src", tmp_path / "en", "--tgt", tmp_path / "fr"]
    assert run(folder, "--trust", *files)[0] == 0
    trust = loaded(folder).trust
    assert (trust.sentences, trust.chosen_on, trust.measured_on) == (3, 3, "en and fr")
    assert {one.aer for one in trust.maps} == {None}
    assert run(folder, "--trust", *files, "--links", tmp_path / "links")[0] == 0
    assert all(one.aer for one in loaded(folder).trust.maps)
