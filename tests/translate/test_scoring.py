"""Scores of given translations: what a plain forward pass says, whatever shares the batch; and the verb `score`."""

import io
import math
import shutil
import sys
from pathlib import Path

import pytest
import torch
from tiny import SENTENCES, calibrate_by_hand

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.lens import Calibrator
from seq2see.lens.teacher_forcing import encode_target
from seq2see.translate import scoring

SOURCES = [SENTENCES[0], "The box.", "An owl lent 12 ladders.", SENTENCES[2], "The cat."]
TRANSLATIONS = ["Le chat n'a pas traversé la rue.", "La boîte.", "Un", SENTENCES[4], "Le chat </s> dort."]


def forward_score(translator, source: str, ids: list[int], *, given: int) -> tuple[float, int]:
    """The definition, one pair alone and no padding."""
    source_ids = torch.tensor([translator.codec.encode([source])[0]])
    inputs = torch.tensor([[translator.model.config.decoder_start_token_id, *ids[:-1]]])
    with torch.no_grad():
        logits = translator.model(input_ids=source_ids, decoder_input_ids=inputs).logits[0]
    steps = [math.log(logits[t].double().softmax(-1)[piece]) for t, piece in enumerate(ids)]
    return sum(steps[given:]), len(ids) - given


@pytest.mark.parametrize("limit", [10**9, 1200])
def test_scores_are_those_of_a_plain_forward_pass(any_folder, limit, monkeypatch):
    """For every kind of model, in the order given, in one batch and in several."""
    monkeypatch.setattr(scoring, "BATCH_LOGITS", limit * 10)
    translator = Translator.from_pretrained(any_folder, engine="torch")
    first = translator.model.generation_config.forced_bos_token_id
    scores = translator.score(SOURCES, TRANSLATIONS)
    target = translator.language_pairs[0][1] if translator.language_pairs else ""
    for source, translation, score in zip(SOURCES, TRANSLATIONS, scores, strict=True):
        ids = encode_target(translator.tokenizer, translation, language=target, first=first)
        assert ids[-1] == translator.model.config.eos_token_id
        assert (ids[0] == first) == (first is not None)
        expected, tokens = forward_score(translator, source, ids, given=0 if first is None else 1)
        assert score.log_prob == pytest.approx(expected, rel=1e-5)
        assert score.tokens == tokens and score.mean == score.log_prob / tokens
    assert len({round(score.log_prob, 3) for score in scores}) == len(scores)


def test_the_score_of_a_translation_is_that_of_its_trace(translator):
    """Greedy search found it, another pass read its attention, and scoring it as text says the same."""
    result = translator(SENTENCES[0], target="de", num_beams=1)
    (trace,) = translator.look(result)
    ids = result.hypotheses[0].token_ids
    (score,) = scoring.score_targets(translator.model, [translator.codec.encode([SENTENCES[0]])[0]], [ids], given=1)
    assert score.log_prob == pytest.approx(trace.log_prob, rel=1e-5)
    assert score.tokens == len(ids) - 1


def test_the_language_decides_the_tag(translator):
    french, german = (translator.score(["The cat."], ["Le chat."], target=target)[0] for target in ("fr", "de"))
    assert french.tokens == german.tokens and french.log_prob != pytest.approx(german.log_prob, rel=1e-3)


def test_what_cannot_be_scored_is_refused(translator):
    for source, translation, fault in (
        ("The cat.", " ", "the translation is blank"),
        ("", "Le chat.", "the source is blank"),
        ("The cat.", "chat " * 100, "too long: it has"),
    ):
        with pytest.raises(UserError, match=fault):
            translator.score(["The box.", source], ["La boîte.", translation])


def test_white_space_at_the_ends_does_not_count(translator):
    bare, spaced = translator.score(["The cat.", " The cat.\n"], ["Le chat.", "\u2003Le chat.  "])
    assert bare == spaced


def test_every_source_has_its_translation(translator):
    with pytest.raises(UserError, match="1 sources and 2 translations"):
        translator.score(["The cat."], ["Le chat.", "La boîte."])


@pytest.fixture
def run(monkeypatch, capsys, folder):
    def call(stdin: bytes, *arguments: str) -> tuple[int, list[str], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["score", str(folder), *arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return call


def test_the_verb_writes_three_columns_a_line_in_order(run, translator):
    lines = [f"{source}\t{translation}" for source, translation in zip(SOURCES, TRANSLATIONS, strict=True)]
    code, out, err = run("\n".join(lines).encode(), "--from", "en", "--to", "de")
    assert (code, err) == (0, "")
    expected = translator.score(SOURCES, TRANSLATIONS, target="de")
    assert out == [f"{score.log_prob:.6f}\t{score.mean:.6f}\t{score.tokens}" for score in expected]
    assert run(b"") == (0, [], "")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"The owl.", "line 3: expected a source, a TAB and its translation, found 1 columns: 'The owl.'"),
        (b"a\tb\tc", "line 3: expected a source, a TAB and its translation, found 3 columns"),
        (b"", "line 3: expected a source, a TAB"),
        (b"The owl.\t", "line 3: the translation is blank"),
        (b"The owl.\t" + b"box " * 100, "line 3: the text 'box"),
        (b"The owl.\tb\xe9", "line 3 of the input, byte 11: not UTF-8"),
    ],
)
def test_a_bad_line_is_named_after_those_before_it(run, bad, said):
    good = b"The cat.\tLe chat.\nThe box.\tLa bo\xc3\xaete.\n"
    code, out, err = run(good + bad + b"\nThe cat.\tLe chat.\n")
    assert code == 1 and len(out) == 2
    assert said in err and err.count("\n") == 1


def test_a_wrong_language_is_told_though_nothing_is_to_be_scored(run):
    code, out, err = run(b"", "--to", "xx")
    assert (code, out) == (1, []) and "choose en to fr, en to de" in err


def test_calibrated_scores_are_those_of_the_calibrated_trace(folder, tmp_path, capsys, monkeypatch):
    """And only where they are asked for; of a model without a calibration they are refused in one line."""
    run = tmp_path / "run"
    shutil.copytree(folder, run)
    translator = Translator.from_pretrained(run, engine="torch")
    with pytest.raises(UserError, match=f"{run} has no calibration to de: run seq2see calibrate {run}"):
        translator.score(["The cat."], ["Die Katze."], target="de", calibrated=True)
    calibrate_by_hand(run, "de", Calibrator(0.1, 0.7))
    translator = Translator.from_pretrained(run, engine="torch")
    trace = translator.look_at("The cat.", "Die Katze.", target="de")
    scores = [translator.score(["The cat."], ["Die Katze."], target="de", calibrated=one)[0] for one in (False, True)]
    assert scores[0].log_prob == pytest.approx(trace.log_prob, rel=1e-4)
    assert scores[1].log_prob == pytest.approx(trace.calibrated.log_probs[trace.given :].sum(), rel=2e-3)
    assert abs(scores[1].log_prob - scores[0].log_prob) > 0.1
    assert translator.look_at("The cat.", "Die Katze.", target="de", calibrated=False).calibrated is None
    assert translator.look_at("The cat.", "Le chat.", target="fr").calibrated is None, "it says nothing of French"

    def printed(*argv):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat.\tDie Katze.\n")))
        return main(["score", str(run), *argv]), capsys.readouterr()

    for argv, score in (("--to de", scores[0]), ("--to de --calibrated", scores[1])):
        code, said = printed(*argv.split())
        assert code == 0 and said.out.split("\t")[0] == f"{score.log_prob:.6f}"
    code, said = printed("--to", "fr", "--calibrated")
    assert code == 1 and said.out == "" and "has no calibration to fr" in said.err


@pytest.fixture
def calibrated(folder, tmp_path):
    run = Path(shutil.copytree(folder, tmp_path / "run"))
    calibrate_by_hand(run, "fr", Calibrator(0.1, 0.7))
    return run


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_every_hypothesis_has_the_calibrated_log_probability_of_its_trace_if_asked(calibrated, engine):
    translator = Translator.from_pretrained(calibrated, engine=engine)
    texts = ["The cat.", " ", "The cat did. The box was https://a.example/b too.\n\nAn owl!", "Der"]
    for more in ({}, {"prefix": "Le"}, {"format": "html"}):
        results = translator(texts, target="fr", alternatives=3, calibrated=True, **more)
        for text, result in zip(texts, results, strict=True):
            assert bool(result.hypotheses) == bool(text.strip())
            for number, one in enumerate(result.hypotheses):
                traces = translator.look(result, alternative=number)
                sums = [trace.calibrated.log_probs[trace.given :].sum() for trace in traces]
                assert one.calibrated_log_prob == pytest.approx(sum(sums), rel=2e-3)
                assert abs(one.calibrated_log_prob - one.log_prob) > 0.05
        bare = translator(texts, target="fr", alternatives=3, **more)
        assert [one.text for one in bare] == [one.text for one in results]
        assert {one.calibrated_log_prob for result in bare for one in result.hypotheses} == {None}
    with pytest.raises(UserError, match="has no calibration to de"):
        translator([], target="de", calibrated=True)
    with pytest.raises(UserError, match="has no calibration to de"):
        translator.with_calibrated([translator("The cat.", target="de")])


def test_the_command_begins_a_line_with_its_calibrated_probability_if_asked(calibrated, capsys, monkeypatch):
    result = Translator.from_pretrained(calibrated)("The cat.", target="fr", calibrated=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat.\n\n")))
    assert main(["translate", str(calibrated), "--to", "fr", "--calibrated"]) == 0
    probability = math.exp(result.hypotheses[0].calibrated_log_prob)
    assert capsys.readouterr().out == f"{probability:.4f}\t{result.text}\n1.0000\t\n"
