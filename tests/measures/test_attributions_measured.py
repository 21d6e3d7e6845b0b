"""Attributions are measured beside the other views, where asked for: the same figures, and areas under curves."""

import numpy as np
import pytest
import tiny

from seq2see import Translator
from seq2see.lens.data.view_names import ATTRIBUTIONS, OF_ATTENTION
from seq2see.lens.heads.alignment_choice import shares
from seq2see.lens.questions.erasure_curves import curves
from seq2see.lens.records.trust import Trust
from seq2see.measures.aligner import Aligner
from seq2see.measures.held_out_faithfulness import measure_views
from seq2see.text.word_links import Links

PAIRS = [("The cat did not cross.", "Le chat n'a pas."), ("The box was big.", "La boîte était grande."),
         ("It was too wide.", "Il était trop large.")]
GOLD = [Links(frozenset({(0, 0), (1, 1)}))] * 3


@pytest.fixture(scope="module")
def aligner():
    return Aligner(Translator(*tiny.seq2see()), source="en", target="fr")


@pytest.fixture(scope="module")
def measured(aligner):
    return measure_views(aligner, (PAIRS[:2], GOLD[:2]), (PAIRS, GOLD), measured_on="three lines", attributions=True)


def test_each_attribution_has_the_figures_of_every_view(measured):
    assert {one.view for one in measured.best} == {*OF_ATTENTION, *ATTRIBUTIONS}
    for one in measured.best:
        assert one.aer and (one.tau or one.view == "left_out") and one.deletion and one.insertion
        assert "deletion" in str(one) and not one.supervised
    assert {one.rows for one in measured.maps if one.view in ATTRIBUTIONS} == {"predicts"}
    assert measured.random.deletion


def test_areas_are_means_over_sentences_of_the_means_over_words(measured, aligner):
    one = next(one for one in measured.best if one.view == "occlusion")
    areas = []
    for trace in aligner.traced(PAIRS, "", views=["raw", "occlusion"]):
        [given] = shares(trace, "occlusion", "predicts", [()], signed=True)
        [found] = curves(aligner.model, aligner.tokenizer, trace, [given])
        areas.append([side.mean() for side in found.areas])
    assert (one.deletion.value, one.insertion.value) == pytest.approx(tuple(np.mean(areas, axis=0)), abs=1e-4)
    assert one.deletion.low <= one.deletion.value <= one.deletion.high


def test_they_are_kept_beside_the_model(measured, tmp_path):
    measured.save(tmp_path / "trust.json")
    assert Trust.load(tmp_path / "trust.json") == measured


def test_without_being_asked_for_nothing_is_added(aligner):
    found = measure_views(aligner, (PAIRS[:2], GOLD[:2]), (PAIRS, GOLD), measured_on="three lines")
    assert {one.view for one in found.best} == set(OF_ATTENTION) and found.random.deletion is None
