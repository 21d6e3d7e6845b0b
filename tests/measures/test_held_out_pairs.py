"""Which pairs a model is fitted to, and which it is measured on."""

from collections import Counter
from pathlib import Path

import pytest

from seq2see import Translator
from seq2see.measures.held_out_pairs import HeldOutPairs, held_out_pairs
from seq2see.pretrained import HOME
from seq2see.storybook import Storybook, StoryPair
from seq2see.training.config import load_config, load_record

LANGUAGES = ("en", "fr")


def test_validation_pairs_are_fitted_on_and_test_pairs_measured_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the seed that the run was trained with."""
    texts = [StoryPair(f"The cat {n}.", f"Le chat {n}.", "plain", "form", ()) for n in range(8)]
    stories = Storybook((), val=tuple(texts[:3]), test=tuple(texts[3:]), idioms=())
    trained = load_record(HOME / "storybook" / "run.yaml").training
    monkeypatch.setattr("seq2see.training.reading.book", lambda *asked: {("fr", trained["seed"]): stories}[asked])
    [corpus], name = held_out_pairs(Translator.from_pretrained("storybook", engine="torch"))
    assert (corpus.name, corpus.languages, corpus.decides) == ("storybook", LANGUAGES, True), "it is all there is"
    assert name == "the run's held-out pairs"
    assert Counter(corpus.fitted) == Counter((one.source, one.target) for one in stories.val)
    assert Counter(corpus.held) == Counter((one.source, one.target) for one in stories.test)


def table(path: Path, pairs: list[tuple[str, str]]) -> str:
    path.write_text("en\tfr\n" + "".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return str(path)


@pytest.fixture
def run(tmp_path: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The record of a run on a table of 400 sources; every tenth has a second translation."""
    pairs = [(f"Text {i}.", f"Texte {i}.") for i in range(400)]
    pairs += [(f"text {i}!", f"Mot {i}.") for i in range(0, 400, 10)]
    path = table(tmp_path / "own.tsv", pairs)
    config = load_config("finetune", [f"data.path={path}", "data.val_fraction=0.2", "data.test_fraction=0.3",
                                      "data.source=en", "data.target=fr"])
    (tmp_path / "run.yaml").write_text(config.to_yaml(), "utf-8")
    monkeypatch.setattr(translator, "folder", tmp_path)
    return tmp_path


@pytest.mark.long
def test_storybook_beside_other_pairs_is_reported_and_not_fitted_on(run: Path, translator: Translator) -> None:
    [before], _ = held_out_pairs(translator, target="fr")
    own, stories = held_out_pairs(translator, check=["storybook"], target="fr")[0]
    assert own == before and own.fitted and own.held and own.decides
    assert stories.name == "storybook" and stories.held and not stories.fitted and not stories.decides
    check_apart(own)


def check_apart(corpus: HeldOutPairs) -> None:
    """No source is in both halves, and none has two translations."""
    sources = [{source.casefold() for source, _ in half} for half in (corpus.fitted, corpus.held)]
    assert not sources[0] & sources[1]
    assert [len(one) for one in sources] == [len(half) for half in (corpus.fitted, corpus.held)]


def test_pairs_to_check_on_leave_all_others_to_fit_on(run: Path, translator: Translator) -> None:
    pairs = [("A text.", "Un texte."), ("A text", "Texte."), ("One.", "Un."), ("Two.", "Deux.")]
    other = table(run / "test.tsv", pairs)
    before, _ = held_out_pairs(translator, target="fr")
    corpora, name = held_out_pairs(translator, check=[other], target="fr")
    assert [(one.name, one.decides, bool(one.held)) for one in corpora] == [
        ("own.tsv", True, False), ("test.tsv", True, True)]
    assert set(corpora[0].fitted) == {*before[0].fitted, *before[0].held}
    assert set(corpora[1].held) == {("One.", "Un."), ("Two.", "Deux.")} and not corpora[1].fitted
    assert name == "test.tsv"


def test_other_pairs_are_halved_by_their_source(run: Path, translator: Translator) -> None:
    path = str(run / "own.tsv")
    [corpus], _ = held_out_pairs(translator, [path], target="fr")
    check_apart(corpus)
    assert (len(corpus.fitted), len(corpus.held), corpus.given) == (180, 180, 440)
    checked = table(run / "test.tsv", [("One.", "Un.")])
    fitted, held = held_out_pairs(translator, [path], [checked], target="fr")[0]
    assert len(fitted.fitted) == 360 and not fitted.held and held.held == [("One.", "Un.")]
