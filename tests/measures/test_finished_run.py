"""What is measured as soon as a training has ended: in time, on as many sentences as that allows, and at no risk."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Translator
from seq2see.errors import UserError
from seq2see.measures import aligner, calibration_fitting, finished_run, measure
from seq2see.measures.finished_run import measure_run, within
from seq2see.measures.gold import in_halves
from seq2see.measures.held_out_pairs import HeldOutPairs
from seq2see.measures.measure import Measure, Result
from seq2see.storybook import Storybook
from seq2see.tokenizer import train_tokenizer
from seq2see.training.moments import FOLDER


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(finished_run, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def taking(clock: SimpleNamespace, seconds: float, **bounds: int) -> Measure:
    """Takes so many seconds a sentence; its results know of how many sentences they are."""
    def take(count: int) -> Result:
        clock.seconds += seconds * count
        return Result(count, lambda path: path.write_text(str(count)))

    return Measure("patience", "patience.json", take, **{"few": 10, "least": 20, "most": 500, **bounds})


@pytest.mark.parametrize(("seconds", "given", "expected"), [
    (1.0, 100.0, 72),  # 90 s are left after ten sentences, and four fifths of them are used
    (0.1, 100.0, 500),
    (1.0, 35.0, 20),
])
def test_there_are_as_many_sentences_as_fit_the_time(
    clock: SimpleNamespace, tmp_path: Path, seconds: float, given: float, expected: int
) -> None:
    within(taking(clock, seconds), given).save(tmp_path / "x")
    assert int((tmp_path / "x").read_text()) == expected and clock.seconds <= given


@pytest.mark.parametrize(("given", "spent"), [(34.0, 10.0), (-3.0, 0.0)])
def test_where_too_few_fit_none_are_measured(clock: SimpleNamespace, given: float, spent: float) -> None:
    with pytest.raises(UserError, match=f"{max(given, 0):.1f} s are left, too little for 20 sentences"):
        within(taking(clock, 1.0), given)
    assert clock.seconds == spent


@pytest.fixture(scope="module")
def stories(short_stories: Storybook) -> Storybook:
    """Some of storybook's sentences: of the test part contrasts, with all their variants."""
    whole = short_stories
    contrasts = sorted((one for one in whole.test if one.kind == "contrast"), key=lambda one: str(one.contrast_key))
    return Storybook(whole.train, whole.val[:50], tuple(contrasts[:240]), whole.idioms)


@pytest.fixture(scope="module")
def trained(stories: Storybook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of storybook that took 1,000 seconds, and an empty folder for moments."""
    texts = [text for one in stories.test for text in (one.source, one.target)]
    tokenizer = train_tokenizer(texts, vocab_size=900, languages=["fr"])
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, language_pairs=[["en", "fr"]],
    ))
    model.generation_config.max_length = 12
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    folder = tiny.save(tmp_path_factory.mktemp("trained") / "run", tiny.spread_out(model), tokenizer)
    (folder / "run.yaml").write_text("name: storybook\ndata: {path: storybook}\n")
    training = {"seconds": 1000.0, "steps": 9, "kept_step": 9, "log": []}
    (folder / "metrics.json").write_text(json.dumps({"training": training}))
    (folder / FOLDER).mkdir()
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.mark.long
def test_all_is_measured_of_these_weights_and_says_on_how_many_sentences(
    run: Path, stories: Storybook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(aligner, "generate", lambda seed: stories)
    fitted, held = ([(one.source, one.target) for one in part] for part in (stories.val, stories.test[:60]))
    corpus = HeldOutPairs("storybook", ("en", "fr"), fitted, held, True)
    monkeypatch.setattr(measure, "held_out_pairs", lambda *_, **__: ([corpus], "pairs"))
    monkeypatch.setattr(calibration_fitting, "SENTENCES", 60)
    monkeypatch.setattr(finished_run, "SHARE", 1000.0)  # there is time for all
    measure_run(run)
    translator = Translator.from_pretrained(run, engine="torch")
    half = min(map(len, in_halves(stories.test)))
    assert translator.alignment and translator.alignment.sentences == 50
    assert translator.trust and (translator.trust.sentences, translator.trust.chosen_on) == (half, half)
    report = json.loads((run / "heads.json").read_text("utf-8"))
    assert report["sentences"] == {"dev": half, "test": half}
    assert {head: len(roles) for head, roles in translator.roles.items()} == {
        tuple(row["head"]): len(row["roles"]) for row in report["heads"] if row["roles"]
    }
    assert translator.calibration and translator.calibration.languages["fr"].pairs == 60
    first, *said = capsys.readouterr().err.splitlines()
    assert first.startswith(f"the model is finished; measuring {run} for at most ")
    assert [line.partition(", about ")[0] for line in said] == [
        "calibration: 60 sentences", f"wrote {run / 'calibration.json'}",
        "examples: 24 pairs of sentences", f"wrote {run / 'example_pairs.json'}",
        "word links: 50 sentences", f"wrote {run / 'alignment.json'}",
        f"faithfulness: {half} sentences", f"wrote {run / 'trust.json'}",
        f"head roles: {half} sentences", f"wrote {run / 'heads.json'}",
    ]


def test_what_fails_costs_a_line_and_not_the_others(
    run: Path, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """200 s for three: what one leaves is for those that follow."""
    def fail(count: int) -> Result:
        raise RuntimeError("no\nmemory")

    def measures(translator: Translator, *, full: bool) -> Iterator[Measure]:
        yield Measure("luck", "luck.json", fail, few=1, least=1, most=1, command="seq2see luck RUN")
        yield Measure("tact", "tact.json", fail, few=1, least=2, most=1, command="seq2see tact RUN")
        yield taking(clock, 0.1, most=100)
        yield taking(clock, 8.0)

    monkeypatch.setattr(finished_run, "measures_of", measures)
    measure_run(run)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "not measured: luck (no memory); to measure this: seq2see luck RUN",
        "not measured: tact (at least 2 sentences are needed; there are 1); to measure this: seq2see tact RUN --data"
        " PAIRS",
        "patience: 100 sentences, about 0:00:10",
        f"wrote {run / 'patience.json'}",
        "not measured: patience (189.0 s are left, too little for 20 sentences)",
    ]
    assert not (run / FOLDER).exists()
    (run / FOLDER).mkdir()
    (run / "model.safetensors").write_bytes(b"")
    measure_run(run)
    [_, told] = capsys.readouterr().err.splitlines()
    assert told.startswith("nothing was measured (") and "model.safetensors" in told
    assert not (run / FOLDER).exists()


def test_a_run_on_data_that_is_gone_is_not_measured(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "run.yaml").write_text("data: {path: mine.tsv}\n")
    measure_run(run)
    [_, told] = capsys.readouterr().err.splitlines()
    assert told.startswith("nothing was measured (") and "was trained on mine.tsv, which does not exist here" in told
    assert not (run / FOLDER).exists()
