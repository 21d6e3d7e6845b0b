"""`seq2see align`: Pharaoh lines from any encoder-decoder, a choice fitted and found again, mistakes in one line."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from seq2see import Translator
from seq2see.cli import command as cli
from seq2see.lens.alignment import AlignmentChoice, best_known
from seq2see.lens.intervals import agreement
from seq2see.measures import alignment as align
from seq2see.measures.gold import groups_of, in_halves
from seq2see.storybook import Storybook, StoryPair, generate
from seq2see.tokenizer.links import from_pharaoh
from seq2see.tokenizer.words import split_words
from seq2see.translate.checkpoint import fingerprint

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny

SOURCES = ["The cat did not cross the street.", "", "The box.", "An owl lent 12 ladders, didn't it?"]
TARGETS = ["Le chat n'a pas traversé la rue.", "", "La boîte.", "Le sac."]
SUPERVISED = "supervised: a head of this model was trained with gold links"


@pytest.fixture(scope="module")
def story() -> Storybook:
    """Twelve sentences of its validation part and fourteen of its test, short enough for the tiny models."""
    book = generate(train_size=1)
    return Storybook(book.train, short(book.val, 12), short(book.test, 14), book.idioms)


def short(stories: Sequence[StoryPair], count: int) -> tuple[StoryPair, ...]:
    """Each two of them are called variants of one sentence: those that are have longer ones."""
    chosen = [one for one in stories if len(one.target) < 40][:count]
    return tuple(replace(one, contrast_key=f"short/{number // 2}") for number, one in enumerate(chosen))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.save(tmp_path / "run", *tiny.seq2see())


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, lines in (("en", SOURCES), ("fr", TARGETS)):
        (tmp_path / f"in.{name}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return ["--src", str(tmp_path / "in.en"), "--tgt", str(tmp_path / "in.fr")]


def run(capsys: pytest.CaptureFixture, *arguments: object) -> tuple[int, list[str], str]:
    code = cli.main(["align", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_line_for_each_pair_with_links_between_its_words(kind, tmp_path, files, capsys):
    folder = tiny.save(tmp_path / kind, *tiny.make(kind))
    capsys.readouterr()
    code, out, err = run(capsys, folder, *files, *([] if kind == "seq2see" else ["--from", "en", "--to", "fr"]))
    assert (code, len(out), out[1]) == (0, 4, "")
    assert "not fitted, so its error is unknown" in err and err.count("\n") == 1
    for source, target, line in zip(SOURCES, TARGETS, out, strict=True):
        sizes = len(split_words(source, language="en")), len(split_words(target, language="fr"))
        links = from_pharaoh(line).sure
        assert all(i < sizes[0] and j < sizes[1] for i, j in links)
        assert line == "" or links
    aligner = align.Aligner(Translator.from_pretrained(folder), source="en", target="fr")
    layers = [name[0] for name in aligner.naive().maps]
    assert set(layers) == {max(layers)} and len(layers) == 2  # both heads of the last layer


def test_byte_order_marks_in_joined_files_are_no_text(files):
    paths = files[1::2]
    expected = list(align.read_pairs(*paths))
    for path in map(Path, paths):
        path.write_text("".join(f"\ufeff{line}\n" for line in path.read_text("utf-8").splitlines()), "utf-8")
    assert list(align.read_pairs(*paths)) == expected


def test_links_count_the_words_of_the_text_that_was_given(tmp_path, capsys):
    """The tokenizer of the other models puts words apart otherwise, and loses what it has no piece for."""
    folder = tiny.save(tmp_path / "marian", *tiny.make("marian"))
    target = "«  Le   chat  » — l'arbre\u2003!"
    aligner = align.Aligner(Translator.from_pretrained(folder), target="fr")
    [trace] = aligner.traces([("The cat.", target)], views=("raw",))
    assert trace.target_text == target
    assert [word.text for word in trace.target_words] == ["«", "Le", "chat", "»", "—", "l'", "arbre", "!"]


def test_fitted_on_storybook_s_validation_part_and_used_from_then_on(folder, files, story, monkeypatch, capsys):
    monkeypatch.setattr(align, "generate", lambda seed: story if seed == 5 else None)
    capsys.readouterr()
    (folder / "run.yaml").write_text("data: {path: storybook}\ntraining: {seed: 5}\n")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"supervised_heads": [[1, 0]]}))
    code, out, err = run(capsys, folder, "--fit")
    assert (code, err) == (0, "") and out[-1].endswith("alignment.json") and SUPERVISED in out[-2]
    choice = AlignmentChoice.load(folder / "alignment.json")
    assert (choice.fitted_on, choice.sentences, choice.guided) == ("storybook's validation part", 12, True)
    assert choice.fingerprint == fingerprint(folder)
    aligner = align.Aligner(Translator.from_pretrained(folder))
    pairs = [(one.source, one.target) for one in story.val]
    traces = aligner.traces(pairs, views=("raw", choice.view))
    gold = align.texts_and_links(story.val)[1]
    found = agreement([choice.links(trace) for trace in traces], gold, groups=groups_of(story.val))
    assert (found.aer, found.low, found.high) == pytest.approx((choice.aer, choice.low, choice.high))
    code, out, err = run(capsys, folder, *files)
    assert code == 0 and err.startswith("fitted: view") and SUPERVISED in err
    [trace] = aligner.traces([(SOURCES[0], TARGETS[0])], views=("raw", choice.view))
    assert from_pharaoh(out[0]).sure == choice.links(trace)


def test_fitted_on_links_of_one_s_own(folder, files, tmp_path, capsys):
    (tmp_path / "links").write_text("0-0 1-1\n\n0-0 1-1 2-2\n0-0 0p1\n")
    code, out, _ = run(capsys, folder, "--fit", *files, "--links", tmp_path / "links")
    assert code == 0
    kept = json.loads((folder / "alignment.json").read_text())
    assert kept["fitted_on"] == str(tmp_path / "links") and kept["sentences"] == 3 and not kept["guided"]


@pytest.mark.parametrize("arguments, said", [
    ([], "give --src FILE and --tgt FILE"),
    (["--src", "SRC"], "--src and --tgt go together"),
    (["--src", "SRC", "--tgt", "SHORT"], "has no line 4, but the other file does"),
    (["--src", "SRC", "--tgt", "none"], "No such file or directory: none"),
    (["--src", "SRC", "--tgt", "LATIN"], "LATIN, line 1, byte 1: not UTF-8"),
    (["--src", "SRC", "--tgt", "LONG"], "line 3: target has"),
    (["--src", "SRC", "--tgt", "SRC", "--to", "xx"], "this model does not translate to xx; choose en to fr, en to de"),
    (["--src", "SRC", "--tgt", "SRC", "--links", "LINKS"], "--links needs --fit"),
    (["--fit", "--src", "SRC", "--tgt", "SRC"], "--fit needs --links"),
    (["--fit"], "not trained on storybook"),
    (["--fit", "--src", "SRC", "--tgt", "SRC", "--links", "LINKS"], "LINKS has 1 lines"),
    (["--fit", "--src", "BLANK", "--tgt", "BLANK", "--links", "LINKS"], "no sentence pairs to fit on"),
])  # fmt: skip
def test_a_mistake_is_one_line(folder, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("SRC").write_text("".join(f"{line}\n" for line in SOURCES))
    Path("SHORT").write_text("Le chat.\n\nLa boîte.\n")
    Path("LATIN").write_bytes("été\n".encode("latin-1") * 4)
    Path("LONG").write_text("Le chat.\n\n" + "sac " * 300 + "\nLe sac.\n")
    Path("LINKS").write_text("0-0\n")
    Path("BLANK").write_text("\n")
    code, _, err = run(capsys, folder, *arguments)
    assert code in (1, 2) and said in err
    assert len([line for line in err.splitlines() if line.startswith("seq2see: ")]) == 1


def test_a_file_that_is_not_there_is_told_before_the_model_is_loaded(files, capsys):
    code, out, err = run(capsys, "no/such/run", *files[:2], "--tgt", "none")
    assert (code, out, err) == (1, [], "seq2see: error: No such file or directory: none\n")


def test_a_choice_of_another_model_is_refused(folder, files, capsys):
    choice = AlignmentChoice("raw", "predicts", ((7, 0),), "target", 0.0, fingerprint=fingerprint(folder))
    choice.save(folder / "alignment.json")
    code, out, err = run(capsys, folder, *files)
    assert code == 1 and "belongs to another model" in err and out == []
    (folder / "alignment.json").write_text("{}")
    code, out, err = run(capsys, folder, *files)
    assert code == 1 and "is no alignment choice" in err and "--fit" in err


def test_a_choice_fitted_to_other_weights_is_not_used(folder, files, capsys):
    fitted = AlignmentChoice("raw", "reads", ((1, 0),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15)
    fitted = replace(fitted, fingerprint=fingerprint(folder))
    fitted.save(folder / "alignment.json")
    assert Translator.from_pretrained(folder, engine="torch").alignment == fitted
    assert run(capsys, folder, *files)[2].startswith("fitted: ")
    checkpoint = tiny.save(folder / "checkpoint-9", *tiny.seq2see())
    assert Translator.from_pretrained(checkpoint, engine="torch").alignment == fitted, "of the same weights"
    tiny.save(folder, *tiny.seq2see(seed=1))  # trained on
    capsys.readouterr()
    for found in (fitted, replace(fitted, fingerprint="")):  # the one of the weights before; one of an older version
        found.save(folder / "alignment.json")
        code, out, err = run(capsys, folder, *files)
        assert (code, len(out)) == (0, 4) and "AER" not in err
        assert err.startswith("not fitted to these weights (alignment.json is for others), so its error is unknown")
        translator = Translator.from_pretrained(folder, engine="torch")
        assert translator.alignment is None
        choice = align.Aligner(translator).naive()
        known = best_known(layers=3, heads=2, fitted=translator.alignment, trust=None)
        assert known.choice == choice and "error unknown" in known.said and choice.describe() in err


@pytest.mark.parametrize("verb", ["--fit", "--trust"])
def test_what_would_fail_after_minutes_is_told_before(folder, files, tmp_path, monkeypatch, capsys, verb):
    monkeypatch.setattr(align.Aligner, "traces", None)  # nothing is traced
    monkeypatch.setattr("seq2see.measures.faithfulness.LEAST", 1)
    links = tmp_path / "links"
    links.write_text("0-0\n\n0-0 1-1\n0-0 1-9\n")
    code, out, err = run(capsys, folder, verb, *files, "--links", links)
    assert (code, out) == (1, []) and err.count("\n") == 1
    assert f"{links}, line 4: link 1-9, but its source has 9 words and its target 3: words are counted from 0" in err
    links.write_text("0-0\n\n0-0 1-1\n0-0\n")
    name = {"--fit": "alignment.json", "--trust": "trust.json"}[verb]
    (folder / name).mkdir()
    told = f"seq2see: error: cannot write {folder / name}: copy the run to a folder of your own\n"
    assert run(capsys, folder, verb, *files, "--links", links) == (1, [], told)
    (folder / name).rmdir()
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != folder)  # to root every folder can be written
    assert run(capsys, folder, verb, *files, "--links", links) == (1, [], told)


# --- how far to trust each view


@pytest.fixture
def short_story(story: Storybook, monkeypatch: pytest.MonkeyPatch) -> Storybook:
    """Storybook with fourteen short test sentences, and few enough asked for."""
    monkeypatch.setattr("seq2see.measures.faithfulness.LEAST", 4)
    monkeypatch.setattr(align, "generate", lambda seed: story)
    return story


def test_trust_is_measured_on_sentences_that_were_held_out(folder, short_story, capsys):
    (folder / "run.yaml").write_text("data: {path: storybook}\n")
    code, out, err = run(capsys, folder, "--trust")
    assert (code, err) == (0, "") and out[-1] == f"wrote {folder / 'trust.json'}"
    trust = Translator.from_pretrained(folder, engine="torch").trust
    assert trust.sentences + trust.chosen_on == 14 and "storybook" in trust.measured_on
    assert len(trust.maps) == 2 * (6 + 6 + 3 * 3) + 1  # rows x (raw, norm, three views of three layers), left_out
    assert all(one.aer.low <= one.aer.value <= one.aer.high for one in trust.maps)
    for one in trust.best:
        [line] = [line for line in out if line.startswith(f"  {one.view} ")]
        assert str(one) in line and one.name in line
    [test] = [part for part in in_halves(short_story.test) if len(part) == trust.sentences][-1:]
    aligner = align.Aligner(Translator.from_pretrained(folder, engine="torch"))
    traces = list(aligner.traces([(one.source, one.target) for one in test], views=["raw"]))
    choice = AlignmentChoice("raw", "predicts", ((1, 1),), "target", 0.0)
    links = agreement([choice.links(trace) for trace in traces], align.texts_and_links(test)[1], groups=groups_of(test))
    assert trust.of("raw", "predicts", (1, 1)).aer == pytest.approx((links.aer, links.low, links.high), abs=1e-4)


def test_trust_in_given_files_with_and_without_links(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("seq2see.measures.faithfulness.LEAST", 3)
    for name, lines in (("en", SOURCES * 2), ("fr", TARGETS * 2), ("links", ["0-0", "", "0-0", "0-0"] * 2)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    files = ["--src", tmp_path / "en", "--tgt", tmp_path / "fr"]
    assert run(capsys, folder, "--trust", *files)[0] == 0
    trust = Translator.from_pretrained(folder, engine="torch").trust
    assert (trust.sentences, trust.chosen_on, trust.measured_on) == (3, 3, "en and fr")
    assert {one.aer for one in trust.maps} == {None}
    assert run(capsys, folder, "--trust", *files, "--links", tmp_path / "links")[0] == 0
    assert all(one.aer for one in Translator.from_pretrained(folder, engine="torch").trust.maps)


@pytest.mark.parametrize(("arguments", "code", "told"), [
    (["--trust"], 2, "not trained on storybook, which has gold links"),
    (["--trust", "--fit"], 2, "one after the other"),
    (["--trust", "FILES"], 1, "3 sentence pairs are too few: 300 are needed for reporting"),
    (["--links", "x", "FILES"], 2, "--links needs --fit or --trust"),
])
def test_trust_that_cannot_be_measured_is_refused_in_one_line(folder, files, capsys, arguments, code, told):
    given = [one for argument in arguments for one in (files if argument == "FILES" else [argument])]
    got, out, err = run(capsys, folder, *given)
    assert (got, out) == (code, []) and told in err and err.count("\n") == 1
    assert not (folder / "trust.json").exists()
