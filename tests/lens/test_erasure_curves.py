"""Deletion and insertion curves: their ends, their areas, and one of their points recomputed without the lens."""

import numpy as np
import pytest
import torch

from seq2see.errors import UserError
from seq2see.lens import trace_texts
from seq2see.lens.questions.erasure_curves import Curves, curves
from seq2see.passes.forced_pass import decoder_start

TEXT, TRANSLATION = "The cat did not cross.", "Le chat n'a pas."


@pytest.fixture(scope="module")
def case(seq2see):
    model, tokenizer = seq2see
    [trace] = trace_texts(model, tokenizer, [TEXT], [TRANSLATION], source_language="en", target_language="fr")
    dice = np.random.default_rng(0)
    maps = [dice.random((len(trace.target_words), len(trace.source_words))) for _ in range(2)]
    return model, tokenizer, trace, maps


def test_a_point_is_the_probability_with_unknown_tokens_in_the_place_of_the_first_words(case):
    model, tokenizer, trace, maps = case
    by_map = curves(model, tokenizer, trace, maps)
    assert len(by_map) == 2
    for given, found in zip(maps, by_map, strict=True):
        for j, taken in ((0, 0), (1, 2), (len(given) - 1, given.shape[1])):
            order = sorted(range(given.shape[1]), key=lambda i: -given[j, i])
            for curve, gone in ((found.deletion, order[:taken]), (found.insertion, order[taken:])):
                ids = [tokenizer.unk_token_id if token.word in gone else id
                       for token, id in zip(trace.source, trace.source_ids, strict=True)]
                read = [decoder_start(model), *trace.target_ids[:-1]]
                with torch.no_grad():
                    logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([read])).logits[0]
                own = [t for t, token in enumerate(trace.target) if token.word == j]
                log_probs = logits.double().log_softmax(-1)[own, [trace.target_ids[t] for t in own]]
                assert curve[j, taken] == pytest.approx(float(log_probs.mean().exp()), rel=1e-3)


def test_one_curve_begins_where_the_other_ends(case):
    model, tokenizer, trace, maps = case
    [found] = curves(model, tokenizer, trace, maps[:1])
    own = [np.exp(np.mean([log_prob for token, log_prob in zip(trace.target, trace.log_probs, strict=True)
                           if token.word == j])) for j in range(len(trace.target_words))]
    np.testing.assert_allclose(found.deletion[:, 0], own, rtol=1e-3)
    np.testing.assert_array_equal(found.insertion[:, -1], found.deletion[:, 0])
    np.testing.assert_array_equal(found.insertion[:, 0], found.deletion[:, -1])


def test_what_one_order_takes_away_first_the_other_puts_back_last(case):
    model, tokenizer, trace, maps = case
    ahead, turned = curves(model, tokenizer, trace, [maps[0], -maps[0]])
    np.testing.assert_array_equal(ahead.deletion, turned.insertion[:, ::-1])


@pytest.mark.parametrize(("curve", "area"), [([1, 1, 1], 1), ([1, 0], 0.5), ([1, 0, 0, 0, 0], 0.125), ([0, 1, 0], 0.5)])
def test_an_area_is_by_the_trapezoid_rule_over_a_width_of_one(curve, area):
    curve = np.array([curve], dtype=float)
    assert [side.tolist() for side in Curves(curve, curve[:, ::-1]).areas] == [[area], [area]]


def test_a_text_without_words_has_no_curves(seq2see):
    model, tokenizer = seq2see
    [trace] = trace_texts(model, tokenizer, ["   "], ["Le chat."], source_language="en", target_language="fr")
    with pytest.raises(UserError, match="the text or its translation has none"):
        curves(model, tokenizer, trace, [np.zeros((2, 0))])
