"""What the lessons on vectors, attention and the trained model compute."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from seq2see.lessons import held_out
from seq2see.lessons import l01_words as word_vectors
from seq2see.lessons import l02_attention as attention
from seq2see.lessons import l03_scaling as scaling
from seq2see.lessons import l05_many_heads as heads
from seq2see.lessons import l06_cross_attention as crossing
from seq2see.lessons import l11_last_vector as last_vector
from seq2see.lessons import l14_similarity as similarity
from seq2see.lessons import l15_worked_example as worked
from seq2see.lessons.by_hand import one_head, softmax
from seq2see.lessons.lesson import Look
from seq2see.lessons.workbench import Workbench
from seq2see.passes.forced_pass import eval_with_eager_attention, forced_pass
from seq2see.tokenizer.encoding import encode_source, encode_target


def test_a_cosine_ignores_lengths() -> None:
    assert (similarity.dot(similarity.B, similarity.C), similarity.dot(similarity.A, similarity.C)) == (26, 11)
    assert similarity.cosine((3.0, 4.0), (6.0, 8.0)) == pytest.approx(1)
    assert similarity.cosine((1.0, 0.0), (0.0, 2.0)) == 0


def test_attention_without_parameters_is_the_same_word_by_word() -> None:
    x_ND = np.random.default_rng(0).normal(size=(5, 3))
    score_NN, weight_NN, mixed_ND = attention.attend(x_ND)
    assert np.allclose(weight_NN.sum(1), 1) and np.allclose(score_NN, score_NN.T)
    assert np.allclose(mixed_ND, [attention.attend_one(x_ND, word) for word in range(5)])


def test_the_size_of_the_jacobian() -> None:
    weights_NK = softmax(np.random.default_rng(0).normal(size=(4, 6)))
    whole = [np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in weights_NK]
    assert scaling.jacobian_sizes(weights_NK) == pytest.approx(whole)
    assert scaling.jacobian_sizes(np.array([[1.0, 0.0]])) == pytest.approx([0])


def test_one_head_masks_what_comes_later() -> None:
    query, key, value = np.random.default_rng(0).normal(size=(3, 4, 5))
    weight_NN = one_head(query, key, value, causal=True).weight_NN
    assert (np.triu(weight_NN, 1) == 0).all() and np.allclose(weight_NN.sum(1), 1)
    assert (one_head(query, key, value, causal=False).weight_NN > 0).all()


def test_the_worked_example_is_what_the_model_does(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    off = worked.measure(bench).off
    assert len(off) == 4 and max(off.values()) < 1e-5
    monkeypatch.setattr(worked, "one_head", lambda *x_NE, causal: one_head(*x_NE, causal=False))  # another formula
    assert max(worked.measure(bench).off.values()) > 1e-2


def test_one_head_is_followed_where_there_is_one(smallest: Workbench) -> None:
    figures = worked.measure(smallest)
    assert figures.worst < 1e-5 and figures.look == Look(worked.SOURCE, "decoder", 0, 0)


@pytest.mark.long
def test_lessons_know_which_heads_were_trained_with_gold_links(bench: Workbench) -> None:
    supervised = Workbench(bench.run, bench.quick, shelf=bench.shelf / "supervised")
    supervised.model.config.supervised_heads = [[1, 0], [1, 1], [1, 2], [1, 3], [0, 0], [0, 1], [0, 2], [0, 3]]
    for one, count in ((supervised, 8), (bench, 0)):
        assert {kind: len(found.supervised) for (kind, _), found in held_out.measured(one)[1].items()} == {
            "encoder": 0, "decoder": 0, "cross": count}
    roles, _ = heads.what_heads_look_at(supervised)
    assert all(one.supervised is (one.head.kind == "cross") for one in roles)


def test_what_stands_near_what_is_counted_on_both_sides() -> None:
    sentences = [["the", "cat", "slept"], ["the", "dog", "slept"], ["a", "stone", "fell"]]
    used = word_vectors.used_with(sentences, ["the", "cat", "dog", "slept", "stone", "fell", "a"])
    like = word_vectors.cosines(used)
    assert np.allclose(used, used.T) and (used.diagonal() == 0).all()
    assert like[1, 2] == pytest.approx(1) and like[1, 4] == 0


def test_an_analogy_is_asked_both_ways_and_of_tokens_alone(bench: Workbench) -> None:
    found = word_vectors.relation(bench, "the it, was not, qxqx the")
    assert found["questions"] == 4 and 0 <= found["right"] <= found["without"] <= 1 <= found["rank"]
    assert word_vectors.relation(bench, "qxqx it, was not")["questions"] == 0


def test_a_way_with_matrices_is_tried_at_each_size() -> None:
    stub: Any = SimpleNamespace(seeds=(0, 1), pick=min, cached=lambda train, way, seeds, widths, *_, made_by: widths)
    right = attention.ways(stub)
    assert right["three matrices"].tolist() == [[size, size] for size in attention.SIZES]
    assert right["none"].shape == (1, 2)


def test_values_in_another_order_change_what_is_said(bench: Workbench) -> None:
    model = bench.model
    source = encode_source(bench.tokenizer, "The cat did not cross the street.")
    target = encode_target(bench.tokenizer, "Le chat n'a pas traversé la rue.", language="fr", first=None)

    def logits() -> torch.Tensor:
        found: torch.Tensor = forced_pass(model, [source], [target])[0].logits
        return found

    with eval_with_eager_attention(model):
        plain = logits()
        with crossing.shuffled_values(model, torch.arange(len(source)).flip(0)[None]):
            assert not torch.allclose(logits(), plain, atol=1e-2)
        assert torch.equal(logits(), plain)


def test_where_a_state_comes_from_adds_up_and_leaves_out_what_is_hidden(bench: Workbench) -> None:
    owed = last_vector.owed_to(held_out.traces_with_views(bench)[0], 0)
    assert np.allclose(owed[:, :3].sum(-1), 1, atol=1e-5)
    assert owed[0, 1] == 0  # nothing stands before the start
    assert (owed[:, 3] > 0).all() and (owed[:, 3] <= 1).all()


def test_what_is_reported_is_of_the_half_that_did_not_choose(bench: Workbench) -> None:
    chosen_on, reported_on = ({trace.source_text for trace in half} for half in held_out.traces(bench))
    assert not chosen_on & reported_on
    assert {trace.source_text for trace in held_out.traces_with_views(bench)} <= reported_on
