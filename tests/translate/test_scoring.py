"""Scores of given translations: what a plain forward pass says, whatever shares the batch; and the verb `score`."""

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from tiny import SENTENCES, calibrate_by_hand

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import Calibrator
from seq2see.tokenizer.encoding import encode_target
from seq2see.translate import scoring

SOURCES = [SENTENCES[0], "The box.", "An owl lent 12 ladders.", SENTENCES[2], "The cat."]
TRANSLATIONS = ["Le chat n'a pas traversé la rue.", "La boîte.", "Un", SENTENCES[4], "Le chat </s> dort."]


def forward_score(translator, source, ids, *, given):
    """The definition, one pair alone and no padding."""
    source_ids = torch.tensor([translator.codec.encode([source])[0]])
    inputs = torch.tensor([[translator.model.config.decoder_start_token_id, *ids[:-1]]])
    with torch.no_grad():
        logits = translator.model(input_ids=source_ids, decoder_input_ids=inputs).logits[0]
    steps = [math.log(logits[t].double().softmax(-1)[token]) for t, token in enumerate(ids)]
    return sum(steps[given:]), len(ids) - given


@pytest.mark.parametrize("any_folder", tiny.KINDS, indirect=True)
def test_scores_are_those_of_a_plain_forward_pass(any_folder, monkeypatch):
    """For every kind of model, in the order given, in one batch and in several."""
    translator = Translator.from_pretrained(any_folder, engine="torch")
    first = translator.model.generation_config.forced_bos_token_id
    scores = translator.score(SOURCES, TRANSLATIONS)
    monkeypatch.setattr(scoring, "BATCH_LOGITS", 12_000)
    cut = translator.score(SOURCES, TRANSLATIONS)
    assert [one.log_prob for one in cut] == pytest.approx([one.log_prob for one in scores], rel=1e-5)
    target = translator.language_pairs[0][1] if translator.language_pairs else ""
    for source, translation, score in zip(SOURCES, TRANSLATIONS, scores, strict=True):
        ids = encode_target(translator.tokenizer, translation, language=target, first=first)
        assert ids[-1] == translator.model.config.eos_token_id and (ids[0] == first) == (first is not None)
        expected, tokens = forward_score(translator, source, ids, given=0 if first is None else 1)
        assert score.log_prob == pytest.approx(expected, rel=1e-5)
        assert score.tokens == tokens and score.mean == score.log_prob / tokens
    assert len({round(score.log_prob, 3) for score in scores}) == len(scores)


def test_white_space_at_the_ends_does_not_count(translator):
    bare, spaced = translator.score(["The cat.", " The cat.\n"], ["Le chat.", "\u2003Le chat.  "])
    assert bare == spaced


def test_what_cannot_be_scored_is_refused(translator):
    for sources, translations, told in (
        (["The cat."], [" "], "the translation is blank"),
        (["The box.", ""], ["La boîte.", "Le chat."], "the source is blank"),
        (["The cat."], ["chat " * 100], "too long: it has"),
        (["The cat."], ["Le chat.", "La boîte."], "1 sources and 2 translations"),
    ):
        with pytest.raises(UserError, match=told):
            translator.score(sources, translations)


def test_the_verb_writes_three_columns_a_line_in_order(command, folder, translator):
    lines = [f"{source}\t{translation}" for source, translation in zip(SOURCES, TRANSLATIONS, strict=True)]
    expected = translator.score(SOURCES, TRANSLATIONS, target="de")
    assert expected != translator.score(SOURCES, TRANSLATIONS, target="fr"), "the language decides the tag"
    code, out, said = command("score", folder, "--from", "en", "--to", "de", stdin="\n".join(lines))
    found = [[float(number) for number in line.split("\t")] for line in out.splitlines()]
    assert (code, said) == (0, "") and re.fullmatch(r"(-\d+\.\d{6}\t-\d+\.\d{6}\t\d+\n)*", out)
    assert np.array(found) == pytest.approx(np.array([[one.log_prob, one.mean, one.tokens] for one in expected]))


# --- calibrated


@pytest.fixture
def calibrated(folder, tmp_path):
    """A run that is calibrated to French, and not to German."""
    run = Path(shutil.copytree(folder, tmp_path / "run"))
    calibrate_by_hand(run, "fr", Calibrator(0.1, 0.7))
    return run


def test_calibrated_scores_are_those_of_the_calibrated_trace(calibrated, command):
    translator = Translator.from_pretrained(calibrated, engine="torch")
    pair = "The cat.", "Le chat."
    trace = translator.look_at(*pair, target="fr")
    raw, sure = (translator.score(*([one] for one in pair), target="fr", calibrated=one)[0] for one in (False, True))
    assert raw.log_prob == pytest.approx(trace.log_prob, rel=1e-4)
    assert sure.log_prob == pytest.approx(trace.calibrated.log_probs[trace.given :].sum(), rel=2e-3)
    assert abs(sure.log_prob - raw.log_prob) > 0.1
    assert translator.look_at(*pair, target="fr", calibrated=False).calibrated is None
    assert translator.look_at(*pair, target="de").calibrated is None, "it says nothing of German"
    code, found, _ = command("score", calibrated, "--to", "fr", "--calibrated", stdin="\t".join(pair))
    assert code == 0 and found.split("\t")[0] == f"{sure.log_prob:.6f}"
    code, out, err = command("score", calibrated, "--to", "de", "--calibrated", stdin="\t".join(pair))
    assert (code, out) == (1, "") and "has no calibration to de" in err
