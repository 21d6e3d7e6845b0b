"""What was measured of a model is said of that model only: not once it was trained further, nor with a head off."""

import pytest
import torch

from seq2see import Translator
from seq2see.lens import ablate, mean_outputs, steer
from seq2see.lens.heads.alignment_choice import best_known

TEXT = "The cat did not cross the street because it was too tired."
HEAD = ("decoder", 1, 0)
NAMES = ("trust", "roles", "pronoun_effects", "alignment", "calibration", "replay")


@pytest.fixture(scope="module", params=["torch", "ctranslate2"])
def translator(request):
    return Translator.from_pretrained("storybook", engine=request.param)


def said(translator):
    """What is known of it, of a trace, and of the hypothesis that an engine finds."""
    result = translator(TEXT, target="fr")
    [trace] = translator.look(result)
    given = translator.look_at(TEXT, result.text, target="fr")
    assert (trace.trust, trace.calibrated is None) == (given.trust, given.calibrated is None)
    known = {name for name in NAMES if getattr(translator, name)}
    return known, trace.trust, trace.calibrated, result.hypotheses[0].probability


def trained(translator):
    """One step of training, at a learning rate that changes no translation."""
    model, ids = translator.model, torch.tensor([[5, 6, 2]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-7, weight_decay=0, fused=True)
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()


@pytest.mark.few(2)
@pytest.mark.parametrize("inside", [
    lambda model: ablate(model, [HEAD]), lambda model: steer(model, temperatures={HEAD: 2.0}),
    lambda model: ablate(model, [HEAD], replace="mean", means=mean_outputs(model, [[5, 2]], [[5, 2]])),
], ids=["off", "steered", "its mean"])
def test_nothing_is_said_of_a_model_with_an_intervention(translator, inside):
    before = said(translator)
    assert before[0] == set(NAMES) and None not in before
    with inside(translator.model):
        known, trust, calibrated, probability = said(translator)
        assert (known, trust, calibrated) == (set(), None, None)
        assert (probability is None) == (translator.engine.name == "torch"), "CTranslate2 has weights of its own"
    assert said(translator)[0] == set(NAMES)


@pytest.mark.few(1)
def test_nothing_is_said_of_a_model_that_was_trained_further(translator):
    """Before the model is loaded there is nothing to check."""
    own = Translator.from_pretrained("storybook", engine=translator.engine.name)
    assert all(getattr(own, name) for name in NAMES)
    fitted = own.known_choice
    trained(own)
    known, trust, calibrated, probability = said(own)
    assert (known, trust, calibrated) == (set(), None, None)
    assert (probability is None) == (own.engine.name == "torch")
    assert own.known_choice == best_known(layers=2, heads=4, fitted=None, trust=None) != fitted
    with pytest.raises(Exception, match="has no calibration"):
        own.score([TEXT], ["Le chat."], target="fr", calibrated=True)


def test_the_model_of_pytorch_is_reached_with_its_measurements_whatever_the_engine(translator):
    with translator.by_torch() as same:
        result = same(TEXT, target="fr")
        assert (result.engine, result.precision) == ("torch", "float32")
        assert result.hypotheses[0].probability is not None and same.look(result)[0].trust == translator.trust
        with ablate(same.model, [HEAD]):
            assert same(TEXT, target="fr").hypotheses[0].probability is None
        sampled = same(TEXT, target="fr", temperature=1, seed=3)
        assert sampled.engine == "torch"
    assert translator(TEXT, target="fr").engine == translator.engine.name
