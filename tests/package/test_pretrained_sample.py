"""What a packaged model's card says, recomputed on a sample of storybook's test sentences: scores, calibration, roles.

A difference counts where chance makes it in one of a thousand samples or less.
"""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from seq2see import Translator
from seq2see.lens import Calibrator, trace_texts, with_calibration
from seq2see.lens.heads.role_scores import measure
from seq2see.lens.records.calibration import Calibration
from seq2see.measures.gold import in_halves, to_gold
from seq2see.measures.reliability import reliability
from seq2see.passes.hooks import Head
from seq2see.pretrained import HOME, NAMES
from seq2see.training.metrics import subject_pronouns

pytest.importorskip("ctranslate2")
SAMPLE = 40  # sentences
DEVIATIONS = 3.3  # standard ones


def sample(stories: list) -> list:
    return stories[:: len(stories) // SAMPLE][:SAMPLE]


@pytest.fixture(scope="module", params=NAMES)
def model(request, stories) -> SimpleNamespace:
    folder: Path = HOME / request.param
    if not folder.is_dir():
        pytest.skip(f"this checkout ships no {request.param}")
    evaluation = json.loads((folder / "metrics.json").read_text())["evaluation"]
    return SimpleNamespace(
        folder=folder, translator=Translator.from_pretrained(folder, engine="torch"),
        scores=next(evaluation[name] for name in ("test", "storybook en-fr test") if name in evaluation),
        stories=in_halves(stories.test)[1],  # roles are reported on it
    )


@pytest.fixture(scope="module")
def traced(model):
    stories = sample(model.stories)
    traces = trace_texts(model.translator.model, model.translator.tokenizer, [one.source for one in stories],
                         [one.target for one in stories], source_language="en", target_language="fr")
    return stories, traces


def near(found: list[bool], percent: float) -> None:
    """Whether a share is that of the card.  One of 0 or 100 % is known no better than by a sentence of a hundred."""
    share = min(max(percent / 100, 0.01), 0.99)
    assert abs(np.mean(found) - share) <= DEVIATIONS * math.sqrt(share * (1 - share) / len(found)), (found, percent)


@pytest.mark.few(1)
def test_scores_are_those_of_the_card(model):
    fast = Translator.from_pretrained(model.folder, engine="ctranslate2")
    stories = sample(model.stories)
    results = fast([one.source for one in stories], target="fr")
    near([one.text == story.target for one, story in zip(results, stories, strict=True)], model.scores["exact_match"])
    contrast = sample([one for one in model.stories if one.kind == "contrast"])
    results = fast([one.source for one in contrast], target="fr")
    near([subject_pronouns(one.text) == subject_pronouns(story.target)
          for one, story in zip(results, contrast, strict=True)], model.scores["families"]["contrast"]["pronoun"])


@pytest.mark.parametrize("model", ["storybook"], indirect=True)  # everyday is calibrated on sentences of all kinds
def test_calibrated_tokens_are_as_often_right_as_they_are_sure(model, traced):
    calibration = model.translator.calibration
    found = [with_calibration(trace, calibration.calibrator("fr")) for trace in traced[1]]
    steps = [(number, trace, step) for number, trace in enumerate(found) for step in range(trace.given, len(trace.top))]
    right = np.array([trace.top[step][0].log_prob - trace.log_probs[step] < 1e-4 for _, trace, step in steps])
    sentence = np.array([number for number, *_ in steps])
    for way, own in (("raw", lambda trace: trace), ("both", lambda trace: trace.calibrated)):
        confidence = np.exp([own(trace).top[step][0].log_prob for _, trace, step in steps])
        found = reliability(Calibrator(), confidence_N=confidence, right_N=right, nll_N=-np.log(confidence),
                            sentence_N=sentence)
        assert found.ece.low - 0.01 <= calibration.languages["fr"].ways[way].ece.value <= found.ece.high + 0.01, way


def test_chances_are_shown_where_they_hold_and_nowhere_else():
    """Everyday has too few sure translations of new sentences to tell."""
    for name, shown in (("everyday", set()), ("storybook", {"fr"})):
        calibration = Calibration.load(HOME / name / "calibration.json")
        assert {language for language in calibration.languages if calibration.sentence_calibrator(language)} == shown
        card = (HOME / name / "README.md").read_text("utf-8")
        for language, found in calibration.languages.items():
            [check] = [one for one in found.sentences.checks if one.decides]
            sure = check.bands[-1]
            assert (abs(sure.confidence - sure.right) <= 0.03 and sure.size >= 50) == (language in shown)
            assert f"{sure.confidence:.1%}, {sure.right:.1%} ({sure.size:,})" in card or not sure.size
            assert check.corpus in card
            assert "storybook" not in found.sentences.fitted_on or name == "storybook"


@pytest.mark.long
def test_as_many_sure_translations_are_the_reference_as_they_say(stories):
    held_out = in_halves(stories.test)[1]
    results = Translator.from_pretrained("storybook")([one.source for one in held_out], target="fr")
    found = [(one.hypotheses[0].probability, one.text == story.target)
             for one, story in zip(results, held_out, strict=True)]
    chance, same = np.mean([one for one in found if (one[0] or 0) >= 0.8], axis=0)
    assert abs(chance - same) <= 0.03 + DEVIATIONS * math.sqrt(chance * (1 - chance) / len(found))


def test_roles_of_heads_are_those_of_the_file(model, traced):
    stories, traces = traced
    measured = measure(traces, map(to_gold, stories))
    roles = [one for one in json.loads((model.folder / "heads.json").read_text())["roles"] if one["holds"]]
    assert len(roles) > 3
    for one in roles:
        kind, layer, head = Head(*one["head"])
        scores = measured[kind, one["role"]].scores[:, layer, head]
        half = DEVIATIONS * np.std(scores) / math.sqrt(len(scores))
        assert one["low"] - half <= scores.mean() <= one["high"] + half, one["role"]
