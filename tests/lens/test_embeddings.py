"""Words as vectors: untouched before the first layer but for their position, and near what they are near to."""

import numpy as np
import pytest
import torch

from seq2see.errors import UserError
from seq2see.lens.questions.embeddings import analogy, contextual, distances, neighbours, project, static
from seq2see.tokenizer.encoding import encode_source
from seq2see.tokenizer.words import token_spans

HERE = "The cat did not cross the street."


def test_a_word_is_the_same_before_the_first_layer_and_another_above(any_model):
    model, tokenizer = any_model
    one = contextual(model, tokenizer, "The cat did", "did", language="en")
    beside = contextual(model, tokenizer, "The cat did not", "did", language="en")
    elsewhere = contextual(model, tokenizer, "The box did not cross the cat, did not", 8, language="en")
    assert elsewhere.word == "did"
    np.testing.assert_allclose(beside.layers[0], one.layers[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(elsewhere.without_position, one.without_position, rtol=0, atol=1e-5)
    if model.config.model_type != "t5":  # which adds no positions to vectors
        assert np.abs(elsewhere.layers[0] - one.layers[0]).max() > 1e-3
    apart = distances(one, beside)
    assert len(apart["cosine"]) == model.config.num_hidden_layers + 1 == len(one.layers)
    for values in apart.values():
        assert values[0] == pytest.approx(0, abs=1e-4)
        assert (values[1:] > 1e-4).all()


def test_the_stream_begins_with_the_static_embedding_and_is_the_models_own(any_model):
    """But for scale (and BART's norm), what enters without position is the row of the matrix."""
    model, tokenizer = any_model
    found, row = contextual(model, tokenizer, HERE, "cross", language="en"), static(model, tokenizer, "cross")
    if model.config.model_type == "bart":
        row = (row - row.mean()) / row.std()
    np.testing.assert_allclose(np.corrcoef(found.without_position, row)[0, 1], 1, atol=1e-4)
    ids = encode_source(tokenizer, HERE)
    with torch.no_grad():
        states = model.get_encoder()(torch.tensor([ids]), output_hidden_states=True).hidden_states
    chosen = [i for i, token in enumerate(token_spans(tokenizer, ids, HERE, language="en")) if token.word == 4]
    for layer in range(len(states) - 1):  # the last of transformers' is after the final norm
        np.testing.assert_allclose(found.layers[layer], states[layer][0, chosen].mean(0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("by", ["dot", "cosine"])
def test_neighbours_are_the_largest_products(any_model, by):
    model, tokenizer = any_model
    matrix, word = model.get_encoder().get_input_embeddings().weight.detach().numpy(), static(model, tokenizer, "cat")
    products = matrix @ word
    if by == "cosine":
        products = products / np.linalg.norm(matrix, axis=1) / np.linalg.norm(word)
    found = neighbours(model, tokenizer, "cat", by=by, count=5)
    values = [one.value for one in found]
    assert values == sorted(values, reverse=True) and [one.rank for one in found] == [1, 2, 3, 4, 5]
    ids = tokenizer.convert_tokens_to_ids([one.text for one in found])
    assert values == pytest.approx(products[ids].tolist(), abs=1e-4)
    assert not {*ids} & {*tokenizer.all_special_ids, 1}


def test_an_analogy_ranks_everything_and_marks_the_question(any_model):
    """a - a + c is c itself: first, marked as asked, and of rank 1 where it was expected."""
    model, tokenizer = any_model
    known = [word for word in ("the", "was", "it", "too", "not", "did", "cat", "box")
             if len(tokenizer(word, add_special_tokens=False)["input_ids"]) == 1]
    assert len(known) >= 2
    ranked, rank = analogy(model, tokenizer, known[0], known[0], known[1], expected=known[1])
    assert rank == 1 and ranked[0].asked and ranked[0].value == pytest.approx(1, abs=1e-5)
    _, other = analogy(model, tokenizer, known[0], known[1], known[0], expected=known[1])
    assert other > 1
    assert analogy(model, tokenizer, known[0], known[0], known[1])[1] is None


def test_a_word_that_is_not_there_or_there_twice_is_named(seq2see):
    for text, word, said in ((HERE, "dog", "'dog' is not in"), (HERE, "the", "'the' is 2 times in"),
                             (HERE, 40, "no word 40 in")):
        with pytest.raises(UserError, match=said):
            contextual(*seq2see, text, word, language="en")
    with pytest.raises(UserError, match="is not in the vocabulary"):
        neighbours(*seq2see, "\N{SNOWMAN}")


def test_the_plane_shows_the_two_widest_directions():
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(7, 2)))[0].T
    flat = rng.normal(size=(20, 2)) * [5, 1]
    points, shares = project(flat @ plane + 3)
    gaps = np.linalg.norm(flat[:, None] - flat[None], axis=-1)
    np.testing.assert_allclose(np.linalg.norm(points[:, None] - points[None], axis=-1), gaps, atol=1e-8)
    assert shares.sum() == pytest.approx(1) and shares[0] > 0.9
    with pytest.raises(UserError, match="at least 2 vectors"):
        project(np.ones((1, 4)))
