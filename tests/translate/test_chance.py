"""The chance of a whole translation, odds against the best one, log-probabilities, and texts found twice."""

import math

import pytest
from tiny import SENTENCES

from seq2see import Translator
from seq2see.lens.measurements import NOTHING

pytest.importorskip("ctranslate2")
TEXTS = ["The cat is tired.", "The owl lent the ladder to the crow. It was grateful."]
CHANGED = [  # of the usual search
    {"prefix": "Le"}, {"temperature": 1.0}, {"top_k": 3}, {"repetition_penalty": 1.2}, {"no_repeat_ngram_size": 2},
    {"length_penalty": 0.5}, {"max_new_tokens": 30}, {"format": "html"},
]


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_only_the_best_hypothesis_of_the_usual_search_has_a_chance(engine):
    """Of a text that is translated whole."""
    storybook = Translator.from_pretrained("storybook", engine=engine)
    calibrator = storybook.calibration.sentence_calibrator("fr")
    for more in ({}, {"num_beams": 6}, {"seed": 3}, {"length_penalty": 1.0}):
        for result in storybook(TEXTS, alternatives=3, **more):
            best, *others = result.hypotheses
            assert best.probability == calibrator(best.log_prob, len(best.token_ids) - best.given) > 0
            assert others and not any(one.probability for one in others)
    for more in CHANGED:
        for result in storybook(TEXTS, **more):
            assert {one.probability for one in result.hypotheses} == {None}, more
    parts = storybook("The cat is tired.\n\nThe box is red.")
    assert len(parts.segments) == 2 and {one.probability for one in parts.hypotheses} == {None}
    storybook.measured_files = NOTHING
    assert storybook(TEXTS[0]).hypotheses[0].probability is None


@pytest.fixture(scope="module", params=["torch", "ctranslate2"])
def translator(request, folder) -> Translator:
    return Translator.from_pretrained(folder, engine=request.param, precision="float32")


@pytest.mark.few(4)
@pytest.mark.parametrize("more", [
    {"alternatives": 3}, {"alternatives": 3, "repetition_penalty": 1.5}, {"alternatives": 3, "no_repeat_ngram_size": 1},
    {"num_beams": 1, "repetition_penalty": 0.7}, {"alternatives": 2, "repetition_penalty": 2.0, "max_new_tokens": 4},
    {"alternatives": 2, "no_repeat_ngram_size": 2, "prefix": "Le chat"},
    {"alternatives": 3, "temperature": 1.0, "repetition_penalty": 1.5},
], ids=str)
def test_a_log_probability_is_the_sum_over_the_tokens_whatever_the_search(translator, more):
    """Under the model's own probabilities, and odds are of these."""
    results = translator(SENTENCES[:3], target="fr", **more)
    for result in results:
        first = result.hypotheses[0]
        for number, one in enumerate(result.hypotheses):
            [trace] = translator.look(result, alternative=number)
            assert trace.target_ids == one.token_ids
            assert one.log_prob == pytest.approx(trace.log_probs[one.given :].sum(), abs=2e-2), more
            assert one.odds == pytest.approx(math.exp(one.log_prob - first.log_prob))


def test_a_text_found_twice_is_one_hypothesis(translator, monkeypatch):
    monkeypatch.setattr(translator.codec, "decode", lambda ids: ["Le même.", "Un autre."][len(set(ids)) % 2])
    found = [one.text for one in translator("The cat.", target="fr", alternatives=12).hypotheses]
    assert len(found) == len(set(found)) <= 2
    monkeypatch.setattr(translator.codec, "decode", lambda ids: " ")
    assert [one.text for one in translator("The cat.", target="fr", alternatives=4).hypotheses] == ["The cat."]
    monkeypatch.setattr(translator.codec, "decode", lambda ids: "Le même.")
    samples = translator("The cat.", target="fr", alternatives=4, temperature=1.0)
    assert len(samples.hypotheses) == 4, "samples are independent"


@pytest.mark.few(2)
@pytest.mark.parametrize("text", [
    "We're ready.", "What are they made of?", "The cat is tired.", "Thank you.", "I'm here.", "Come in.", "Go away!",
])
def test_everyday_gives_one_chance_at_most(text):
    """No chances of alternatives that sum to more than 1, no text twice, none after a prefix."""
    everyday = Translator.from_pretrained("everyday")
    for target in ("fr", "de", "es"):
        found = everyday(text, target=target, alternatives=5).hypotheses
        assert sum(one.probability or 0 for one in found) <= 1 and not any(one.probability for one in found[1:])
        assert len({one.text for one in found}) == len(found)
        assert sum(math.exp(one.log_prob) for one in found) <= 1
        [begun] = everyday(text, target=target, prefix="Le chien").hypotheses
        assert begun.probability is None


def test_the_verb_begins_each_line_with_its_chance(command):
    """A text that is its own translation is certain; a line translated in parts has none."""
    lines = ["The cat is tired.", "", " ".join(["The cat is tired. It slept."] * 4)]
    code, out, _ = command("translate", "storybook", "--calibrated", stdin="\n".join(lines))
    storybook = Translator.from_pretrained("storybook")
    best = storybook(lines[0]).hypotheses[0]
    assert code == 0 and storybook(lines[2]).segments
    assert [line.split("\t") for line in out.splitlines()] == [
        [f"{best.probability:.4f}", best.text], ["1.0000", ""], ["", storybook(lines[2]).text]]
    code, out, err = command("translate", "everyday", "--to", "fr", "--calibrated", stdin="The cat.")
    assert (code, out) == (1, "") and "everyday has no reliable probability for whole translations to fr; see" in err
    assert err.endswith("seq2see measure everyday\n")


@pytest.mark.parametrize("alternatives", [1, 4])
def test_a_rescored_translation_has_what_the_float32_weights_give(alternatives):
    """Whatever engine found it: int8 is off by 0.05 nats and more."""
    storybook = Translator.from_pretrained("storybook", engine="ctranslate2")
    text = "The crate is heavy because it is full."
    result = storybook(text, alternatives=alternatives)
    [trace] = storybook.look(result)
    found = storybook.rescored(result, trace).hypotheses
    scores = storybook.score([text] * alternatives, [one.text for one in result.hypotheses])
    assert [one.log_prob for one in found] == pytest.approx([one.log_prob for one in scores], abs=1e-3)
    assert [one.log_prob for one in found] != [one.log_prob for one in result.hypotheses]
    assert [one.odds for one in found] == pytest.approx([math.exp(one.log_prob - scores[0].log_prob) for one in scores],
                                                        rel=2e-3)
    calibrator = storybook.calibration.sentence_calibrator("fr")
    assert found[0].probability == calibrator(found[0].log_prob, found[0].tokens)
