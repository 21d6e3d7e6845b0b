"""`seq2see measure`: any model on any pairs, kept where it can be written, found again; mistakes in one line."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from seq2see import Translator
from seq2see.lens.heads.alignment_choice import AlignmentChoice
from seq2see.lens.records.intervals import agreement
from seq2see.measures import aligner as align
from seq2see.measures.gold import groups_of, in_halves
from seq2see.measures.held_out_pairs import data_of, held_out_pairs
from seq2see.measures.previous import with_roles
from seq2see.storybook import Storybook, generate
from seq2see.text.word_links import from_pharaoh
from seq2see.translate.loaded_checkpoint import fingerprint

SUPERVISED = "supervised: a head of this model was trained with gold links"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("seq2see.measures.measure.LEAST_VIEWS", 40)
    return tmp_path / "cache" / "seq2see"


@pytest.fixture
def measured(command):
    def measured(*arguments):
        code, out, err = command("measure", *arguments)
        return code, out.splitlines(), err.splitlines()

    return measured


@pytest.fixture
def pairs():
    """Pairs of a few words, each source once."""
    dice = random.Random(0)
    words = ["cat", "street", "box", "bag", "owl"], ["chat", "rue", "sac", "boite", "hibou"]
    return [tuple(" ".join(dice.choices(own, k=dice.randint(3, 5))) + f" {number}." for own in words)
            for number in range(260)]


def table(path, pairs, header=("en", "fr")):
    path.write_text("".join(f"{one},{other}\n" for one, other in [header, *pairs]), "utf-8")
    return path


# --- any model


MODELS = {
    "seq2see": lambda folder: tiny.save(folder, *tiny.seq2see()), "nllb": tiny.nllb, "t5": tiny.t5,
    "opus": lambda folder: tiny.opus_mt(folder, tags=[">>fra<<", ">>deu<<"], target_lang="mul"),
}


@pytest.mark.parametrize("kind", ["seq2see", *(pytest.param(one, marks=pytest.mark.long) for one in MODELS
                                               if one != "seq2see")])
def test_views_roles_and_calibration_of_any_model(kind, pairs, tmp_path, measured):
    folder = tmp_path / "model"
    folder.mkdir()
    MODELS[kind](folder)
    code, out, err = measured(folder, "--data", table(tmp_path / "own.csv", pairs), "--sentences", 50)
    assert code == 0 and [line for line in out if line.startswith("# ")] == [
        "# calibration", "# examples", "# faithfulness", "# head roles"]
    left = [line.partition(" (")[0] for line in err if line.startswith("not measured: ")]
    assert left == ["not measured: word links", "not measured: heads and the pronoun"]
    assert [Path(line.split()[1]).name for line in out if line.startswith("wrote ")] == [
        "calibration.json", "example_pairs.json", "trust.json", "heads.json"]
    translator = Translator.from_pretrained(folder, engine="torch")
    trust, [(target, calibrated)] = translator.trust, translator.calibration.languages.items()
    assert (trust.measured_on, trust.sentences, trust.chosen_on) == ("own.csv", 50, 50)
    assert {one.aer for one in trust.maps} == {None} and any(one.tau for one in trust.maps)
    assert target == {"nllb": "fra_Latn", "opus": "fra"}.get(kind, "fr") and calibrated.pairs == 50
    report = json.loads((folder / "heads.json").read_text("utf-8"))
    assert report["sentences"] == {"dev": 50, "test": 50} and translator.pronoun_effects is None
    assert {tuple(row["head"]): len(row["roles"]) for row in report["heads"] if row["roles"]} == {
        head: len(roles) for head, roles in translator.roles.items()}
    [trace] = translator.look(translator(pairs[0][0], source="en", target="fr", max_new_tokens=8))
    assert trace.trust == trust and trace.calibrated is not None, "as the page shows them"


def test_gold_links_of_one_s_own_give_alignment_errors_and_word_links(pairs, tmp_path, measured):
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    for number, language in enumerate(("en", "fr")):
        (tmp_path / f"held.{language}").write_text("".join(f"{pair[number]}\n" for pair in pairs), "utf-8")
    links = tmp_path / "held.pharaoh"
    links.write_text("0-0 1-1 2p2\n" * len(pairs))
    code, out, err = measured(folder, "--data", tmp_path / "held.en", "--links", links, "--sentences", 50)
    assert code == 0 and "not measured: word links" not in "".join(err)
    translator = Translator.from_pretrained(folder, engine="torch")
    assert all(one.aer for one in translator.trust.maps) and translator.alignment.fitted_on == "held.en"
    assert (translator.alignment.sentences, translator.alignment.guided) == (50, False)
    assert {one["role"] for one in json.loads((folder / "heads.json").read_text())["roles"]} >= {"alignment"}
    links.write_text("0-0\n" * (len(pairs) - 1) + "0-9\n")
    code, out, [told] = measured(folder, "--data", tmp_path / "held.en", "--links", links)
    assert code == 1 and f"{links}, line 260: link 0-9, but its source has " in told and not out
    links.write_text("0-0\n")
    code, _, [told] = measured(folder, "--data", tmp_path / "held.en", "--links", links)
    assert code == 1 and f"{links} has 1 lines, but {tmp_path / 'held.en'} has 260" in told


# --- which languages the data name


@pytest.mark.few(2)
@pytest.mark.parametrize(("header", "asked", "pair"), [
    (("en", "fr"), {}, ("eng_Latn", "fra_Latn")),
    (("fr", "en"), {}, ("fra_Latn", "eng_Latn")),
    (("fra", "deu"), {}, ("fra_Latn", "deu_Latn")),
    (("French", "English"), {}, ("fra_Latn", "eng_Latn")),
    (("fra_Latn", "eng_Latn"), {}, ("fra_Latn", "eng_Latn")),
    (("fr", "en"), {"source": "English", "target": "fra"}, ("eng_Latn", "fra_Latn")),
    (("source", "target"), {"source": "en", "target": "fr"}, ("eng_Latn", "fra_Latn")),
])
def test_a_header_names_the_languages(header, asked, pair, pairs, tmp_path):
    translator = Translator.from_pretrained(tiny.nllb(tmp_path / "nllb"), engine="torch")
    asked = {"source": None, "target": None} | asked
    path = str(table(tmp_path / "own.csv", pairs, header))
    assert list(data_of(translator, path, **asked)) == [pair]
    [corpus], _ = held_out_pairs(translator, [path], **asked)
    turned = (pair[0] == "eng_Latn") != (header[0] in ("en", "source"))
    assert asked["source"] is None or {*corpus.fitted, *corpus.held} == {one[::-1] if turned else one for one in pairs}
    for number, name in enumerate(header):
        (tmp_path / f"dev.{name}").write_text("".join(f"{one[number]}\n" for one in pairs), "utf-8")
    assert list(data_of(translator, str(tmp_path / f"dev.{header[0]}"), **asked)) == [pair], "endings too"


# --- where it is kept


@pytest.mark.long
def test_a_download_and_a_read_only_folder_are_not_written_to(pairs, tmp_path, cache, monkeypatch, measured):
    own = table(tmp_path / "own.csv", pairs)
    download = tmp_path / "hub" / "models--org--name" / "snapshots" / "0a1b"
    download.mkdir(parents=True)
    tiny.nllb(download)
    closed = tiny.nllb(tmp_path / "closed")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != closed)  # root may write everywhere
    assert fingerprint(download) == fingerprint(closed)
    kept = cache / "measurements" / fingerprint(closed)
    for folder in (download, closed):
        before = sorted(folder.rglob("*"))
        assert measured(folder, "--data", own, "--sentences", 50)[0] == 0
        assert sorted(folder.rglob("*")) == before
        assert {one.name for one in kept.iterdir()} == {
            "calibration.json", "example_pairs.json", "trust.json", "heads.json", "reliability.png"}
        trust = Translator.from_pretrained(folder, engine="torch").trust
        assert trust.measured_on == "own.csv"
        replace(trust, measured_on="the author's pairs").save(folder / "trust.json")
        assert Translator.from_pretrained(folder, engine="torch").trust == trust, "the user's own comes first"
        (folder / "trust.json").unlink()


def test_what_replaces_measurements_that_come_with_a_model_says_so_and_keeps_what_it_leaves_out(
        pairs, tmp_path, monkeypatch, cache, measured):
    monkeypatch.setattr("seq2see.pretrained.is_packaged", lambda folder: True)
    monkeypatch.setattr("seq2see.folders.is_packaged", lambda folder: True)
    monkeypatch.setattr("seq2see.folders.check_packaged", lambda folder: None)
    folder = tiny.save(tmp_path / "model", *tiny.seq2see())
    weights = fingerprint(folder)
    own = table(tmp_path / "own.csv", pairs)
    _, _, err = measured(folder, "--data", own, "--sentences", 50)
    assert not any("From now on" in line for line in err), "there was nothing to replace"
    kept = cache / "measurements" / weights
    before = Translator.from_pretrained(folder, engine="torch").calibration
    renamed = {"de": before.languages["fr"]}
    replace(before, measured_on="theirs", languages=renamed).save(folder / "calibration.json")
    report = json.loads((kept / "heads.json").read_text("utf-8"))
    head, score = report["heads"][0]["head"], {"role": "antecedent", "score": 0.9, "low": 0.8, "high": 1.0,
                                               "uniform": 0.1, "positional": None, "rival": None}
    report["heads"][0]["roles"] = [score, score | {"role": "diagonal"}, score | {"role": "next"}]
    report |= {"roles": [{"head": head, **score}], "nouns": ["cat chat m"]}
    (folder / "heads.json").write_text(json.dumps(report), "utf-8")
    for file in kept.iterdir():
        file.unlink()
    code, out, err = measured(folder, "--data", own, "--sentences", 50)
    way_back = f"the packaged ones (to return to them, delete {kept})"
    assert code == 0 and f"From now on Seq2See shows the new measurements instead of {way_back}." in err
    assert out[-1] == (f"Seq2See now shows these measurements of {folder} instead of {way_back}. What they leave out"
                       " stays as it was, except the alignment error of each view, which needs --links.")
    translator = Translator.from_pretrained(folder, engine="torch")
    calibration, roles = translator.calibration, translator.roles
    assert set(calibration.languages) == {"fr", "de"} and calibration.measured_on == "own.csv (de: theirs)"
    assert "antecedent" in {one.role for one in roles[tuple(head)]}, "which these pairs cannot show"
    assert ("next" in {one.role for one in roles[tuple(head)]}) == any(
        one["role"] == "next" for one in json.loads((kept / "heads.json").read_text())["heads"][0]["roles"])
    assert translator.measurements.nouns == {("cat", "chat", "m")}
    retrained = report | {"weights": "others", "roles": []}
    assert with_roles(retrained, translator.measurements) == retrained


# --- storybook


def short(stories, count):
    """Each two of them are called variants of one sentence: those that are have longer ones."""
    chosen = [one for one in stories if len(one.target) < 40][:count]
    return tuple(replace(one, contrast_key=f"short/{number // 2}") for number, one in enumerate(chosen))


def test_a_run_of_storybook_is_measured_on_its_gold_links(tmp_path, measured, monkeypatch):
    """Twelve sentences of its validation part and fourteen of its test, short enough for the tiny model."""
    stories = generate(train_size=1)
    story = Storybook(stories.train, short(stories.val, 12), short(stories.test, 14), stories.idioms)
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    (folder / "run.yaml").write_text("data: {path: storybook}\ntraining: {seed: 5}\n")
    monkeypatch.setattr(align, "generate", lambda seed: story if seed == 5 else None)
    monkeypatch.setattr("seq2see.training.reading.book", lambda *_: story)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"supervised_heads": [[1, 0]]}))
    _few(monkeypatch)
    code, out, err = measured(folder)
    assert code == 0 and any(SUPERVISED in line for line in out), err
    choice = AlignmentChoice.load(folder / "alignment.json")
    assert (choice.fitted_on, choice.sentences, choice.guided) == ("storybook's validation part", 12, True)
    translator = Translator.from_pretrained(folder, engine="torch")
    assert choice == translator.alignment
    aligner, trust = align.Aligner(translator), translator.trust
    traces = aligner.traces([(one.source, one.target) for one in story.val], views=("raw", choice.view))
    found = agreement([choice.links(trace) for trace in traces], align.texts_and_links(story.val)[1],
                      groups=groups_of(story.val))
    assert found["aer"] == pytest.approx((choice.aer, choice.low, choice.high))
    assert trust.sentences + trust.chosen_on == 14 and "storybook" in trust.measured_on
    assert len(trust.maps) == 2 * (6 + 6 + 3 * 3) + 1  # rows x (raw, norm, three views of three layers), left_out
    for one in trust.best:
        [line] = [line for line in out if line.startswith(f"  {one.view} ")]
        assert str(one) in line and one.name in line
    [test] = [part for part in in_halves(story.test) if len(part) == trust.sentences][-1:]
    traces = list(aligner.traces([(one.source, one.target) for one in test], views=["raw"]))
    choice = AlignmentChoice("raw", "predicts", ((1, 1),), "target", 0.0)
    links = agreement([choice.links(trace) for trace in traces], align.texts_and_links(test)[1], groups=groups_of(test))
    assert trust.of("raw", "predicts", (1, 1)).aer == pytest.approx(links["aer"], abs=1e-4)


def _few(monkeypatch):
    """So few sentences are enough here."""
    from seq2see.measures import measure

    made = measure.Measure
    monkeypatch.setattr(measure, "Measure", lambda *parts, **bounds: made(*parts, **{**bounds, "least": 1}))


# --- mistakes


@pytest.mark.few(2)
@pytest.mark.parametrize(("arguments", "said"), [
    ("", "has no run.yaml, so its own pairs are unknown; give --data FILE"),
    ("--data none.csv", "none.csv is not a file of sentence pairs"),
    ("--data own.csv --to xx", "this model does not translate to xx; choose en to fr, en to de"),
    ("--data own.csv --links none", "No such file or directory: none"),
    ("--links own.csv", "needs one file of pairs: give --data FILE"),
    ("--data own.csv own.csv --links own.csv", "needs one file of pairs"),
])
def test_a_mistake_is_one_line(arguments, said, pairs, tmp_path, monkeypatch, measured):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "own.csv", pairs)
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    code, out, err = measured(folder, *arguments.split())
    [line] = [line for line in err if line.startswith("seq2see: ")]
    assert code in (1, 2) and said in line and not out


def test_too_few_pairs_leave_out_what_needs_more(pairs, tmp_path, measured):
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    code, out, err = measured(folder, "--data", table(tmp_path / "own.csv", pairs[:9]))
    assert code == 1 and not out and [line.partition(" (")[0] for line in err] == [f"not measured: {name}" for name in (
        "calibration", "examples", "word links", "faithfulness", "head roles", "heads and the pronoun")]
    assert ("not measured: faithfulness (it needs 40 sentences for choosing and 40 others for reporting; you gave 9"
            " pairs, which leave 4 for each; give at least 80)") in err


def test_as_many_pairs_as_the_message_asks_for_are_enough(pairs, tmp_path, measured):
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    _, out, _ = measured(folder, "--data", table(tmp_path / "own.csv", pairs[:80]), "--sentences", 50)
    assert "# faithfulness" in out
    _, _, err = measured(folder, "--data", table(tmp_path / "own.csv", pairs[:79]))
    assert any("you gave 79 pairs, which leave 39 for each; give at least 80" in line for line in err)
    twice = [*pairs[:70], *((one, f"{other} oui") for one, other in pairs[:10])]
    _, _, err = measured(folder, "--data", table(tmp_path / "own.csv", twice))
    assert any("you gave 80 pairs, which leave 30 for each, without long pairs and source sentences with several"
               " translations; give at least 100" in line for line in err)


def test_pharaoh_lines_follow_what_was_fitted(tmp_path, pairs, command, measured):
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    texts = tmp_path / "in.en", tmp_path / "in.fr"
    for number, path in enumerate(texts):
        path.write_text(f"{pairs[0][number]}\n", "utf-8")
    choice = AlignmentChoice("raw", "reads", ((1, 0),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15,
                             fingerprint=fingerprint(folder))
    choice.save(folder / "alignment.json")
    code, out, err = command("align", folder, "--src", texts[0], "--tgt", texts[1])
    assert code == 0 and err.startswith("word links fitted: view")
    [trace] = align.Aligner(Translator.from_pretrained(folder, engine="torch")).traces([pairs[0]], views=("raw",))
    assert from_pharaoh(out.strip()).sure == choice.links(trace)
