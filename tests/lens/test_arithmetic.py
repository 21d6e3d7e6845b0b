"""The numbers behind one row of a map are those of the pass that made it, and follow from one another."""

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses
from seq2see.lens.questions.arithmetic import arithmetic
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.hooks import STEERING, attention_sites
from seq2see.tokenizer.encoding import encode_target


@pytest.fixture(scope="module")
def looked(uneven_model):
    model, tokenizer = uneven_model
    first = model.generation_config.forced_bos_token_id
    target = encode_target(tokenizer, "Le chat n'a pas.", language="fr", first=first)
    [trace] = trace_hypotheses(model, tokenizer, ["The cat did not cross."], [target])
    return model, trace


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", [0, 3])
def test_each_line_follows_from_the_one_before_and_ends_in_the_map(looked, kind, row):
    model, trace = looked
    found = arithmetic(model, trace, (kind, 1, 1), row)
    np.testing.assert_allclose(found.products, found.keys @ found.query, rtol=1e-4, atol=1e-5)
    scores = np.where(found.allowed, found.products * found.scale + found.bias, -np.inf)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-4, atol=1e-5)
    weights = np.exp(found.scores - found.scores.max())
    np.testing.assert_allclose(found.weights, weights / weights.sum(), atol=1e-5)
    np.testing.assert_allclose(found.weights, trace.maps(kind)[1, 1, row], atol=1e-6)
    np.testing.assert_allclose(found.mixed, found.weights @ found.values, rtol=1e-4, atol=1e-5)
    hidden = len(found.weights) - row - 1 if kind == "decoder" else 0
    assert (~found.allowed).sum() == hidden and not found.weights[~found.allowed].any()


def test_all_heads_and_the_bias_make_what_the_block_hands_over(looked):
    model, trace = looked
    site = attention_sites(model)["cross"][1]
    each = [arithmetic(model, trace, ("cross", 1, head), 2) for head in range(site.heads)]
    together = sum(one.output for one in each)
    if site.output.bias is not None:
        together = together + site.output.bias.detach().numpy()
    assert np.linalg.norm(together) == pytest.approx(each[0].length, rel=1e-4)
    assert np.abs(each[0].output - each[1].output).max() > 1e-3


def test_the_model_is_left_as_it_was(looked):
    model, trace = looked
    modules = [site.module for sites in attention_sites(model).values() for site in sites]
    before = [module.config for module in modules]
    with pytest.raises(UserError, match="there is no head 9"):
        arithmetic(model, trace, ("cross", 0, 9), 0)
    arithmetic(model, trace, ("cross", 0, 0), 0)
    assert [module.config for module in modules] == before and not any(STEERING in vars(module) for module in modules)
