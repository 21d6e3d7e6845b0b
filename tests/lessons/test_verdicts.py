"""The verdicts of lessons 1 to 5: on figures made to hold, and on the same with one thing wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from judging import check, words

from seq2see.lessons import l01_similarity as similarity
from seq2see.lessons import l02_attention as attention
from seq2see.lessons import l03_scaling as scaling
from seq2see.lessons import l04_temperature as temperature
from seq2see.lessons import l05_worked_example as worked
from seq2see.lessons import lookup
from seq2see.lessons.by_hand import one_head

SIMILARITY = similarity.Result(
    dots=(26.0, 11.0), cosines=(0.9, 0.8), doubled=(2.0, 0.0), weights=np.ones((4, 2)) / 2, words=900,
    same_nearest=0.5, itself=(0.9, 1.0), counts=np.ones(900), lengths=np.ones(900), english=np.arange(900) < 450,
    rank_correlations=(0.4, -0.4), untrained=(0.01, -0.01),
    losses=(0.2, 0.3), seconds=np.array([[1.0, 4.0], [1.0, 1.6]]),
)  # fmt: skip


def test_similarity() -> None:
    check(similarity, SIMILARITY, leave=3, changes={
        0: {"cosines": (0.8, 0.9)},
        1: {"doubled": (2.0, 0.1)},
        2: {"same_nearest": 0.99},
        4: {"untrained": (0.01, 0.3)},
        5: {"losses": (0.2, 0.2)},
        6: {"seconds": np.array([[1.0, 4.0], [1.0, 1.1]])},
    })  # fmt: skip
    by_chance = words(similarity, replace(SIMILARITY, rank_correlations=(0.4, 0.05)))
    assert by_chance[3] == by_chance[4] == "does not hold here" and set(by_chance[5:]) == {"holds"}
    slow = similarity.judge(replace(SIMILARITY, seconds=np.ones((2, 2)))).findings[-1]
    assert slow.word == "does not hold here"


def test_the_vectors_have_the_noted_dot_products() -> None:
    assert (similarity.dot(similarity.B, similarity.C), similarity.dot(similarity.A, similarity.C)) == similarity.NOTED
    assert similarity.cosine((3.0, 4.0), (6.0, 8.0)) == pytest.approx(1)
    assert similarity.cosine((1.0, 0.0), (0.0, 2.0)) == 0


def test_ranks_share_ties() -> None:
    assert similarity.ranks(np.array([10, 20, 20, 5])).tolist() == [2, 3.5, 3.5, 1]


def attention_result() -> attention.Result:
    sizes, seeds = len(attention.SIZES), 2
    right = {way: np.full((sizes if way in attention.WITH_MATRICES else 1, seeds), 0.4) for way in lookup.WAYS}
    right["three matrices"] = np.full((sizes, seeds), 1.0)
    grid = np.ones((len(attention.GRID),) * 2)
    grid[:, 0] = 0.4  # a value of one component is too small, a key of one is not
    return attention.Result(
        scores=np.eye(3), weights=np.eye(3), mixed=np.ones((3, 4)), off_one_by_one=0.0, off_reordered=0.0,
        off_symmetric=(0.0, 0.1), bank=0.8, own_first=1.0, own_weight=(0.95, 0.95, 0.1),
        it=(0.4, 0.1, 0.1), noun=(0.3, 0.1, 0.1),
        looked_up=np.geomspace(1, 1e-9, len(attention.SCALES)), right=right, losses=[1.4, 0.1], grid=grid,
    )  # fmt: skip


def test_attention() -> None:
    held = attention_result()

    def as_good(way: str) -> dict[str, Any]:
        return {"right": held.right | {way: np.ones_like(held.right[way])}}

    check(attention, held, {
        0: {"off_one_by_one": 0.1},
        1: {"off_reordered": 0.1},
        2: {"off_symmetric": (0.1, 0.1)},
        3: {"bank": 1.0},
        4: {"own_weight": (0.95, 0.2, 0.1)},
        5: {"looked_up": np.ones(len(attention.SCALES))},
        6: as_good("none"),
        7: as_good("diagonal"),
        8: as_good("one matrix"),
        9: as_good("query = key"),
        10: as_good("key = value"),
        11: {"losses": [1.4, 1.3]},
        12: {"grid": np.ones_like(held.grid)},
        13: {"it": (0.4, 0.3, 0.1)},
        14: {"noun": (0.15, 0.1, 0.1)},
    })  # fmt: skip
    assert attention.judge(replace(held, own_first=0.1)).findings[4].word == "does not hold here"
    for diagonal, word in ((0.6, "holds partly"), (1.0, "does not hold here")):  # some good; all that matrices do
        scaled = attention.judge(replace(held, right=held.right | {"diagonal": np.full((1, 2), diagonal)})).findings[7]
        assert scaled.word == word and "scaling does some good" in scaled.why
    for number, way in enumerate(("one matrix", "query = key", "key = value"), 8):
        later = held.right[way].copy()
        later[-1] = 1.0
        parted = attention.judge(replace(held, right=held.right | {way: later})).findings[number]
        assert parted.word == "holds partly" and f"At size {attention.SIZES[-1]} there is no difference" in parted.why


def test_attention_without_parameters_is_the_same_word_by_word() -> None:
    x_ND = np.random.default_rng(0).normal(size=(5, 3))
    score_NN, weight_NN, mixed_ND = attention.attend(x_ND)
    assert np.allclose(weight_NN.sum(1), 1) and np.allclose(score_NN, score_NN.T)
    assert np.allclose(mixed_ND, [attention.attend_one(x_ND, word) for word in range(5)])


def test_a_word_of_several_pieces_looks_and_is_looked_at_as_one() -> None:
    map_HSS = np.array([[[0.5, 0.2, 0.3], [0.1, 0.4, 0.5], [0.0, 0.3, 0.7]]])
    assert attention.between(map_HSS, [0], [1, 2]) == pytest.approx([0.5])
    assert attention.between(map_HSS, [1, 2], [0]) == pytest.approx([0.05])


def test_a_narrow_copy_learns_less_than_a_wide_one() -> None:
    narrow, wide = lookup.train("three matrices", [0, 0], [8, 8], [1, 8], 60)["right"]
    assert 0.2 < narrow < wide


def test_scaling() -> None:
    widths = np.array(scaling.WIDTHS, float)[:, None]
    noted = scaling.softmax(np.array([2.0, 4.0, 5.0]))
    held = scaling.Result(
        widths=scaling.WIDTHS, variance=np.stack([widths, np.ones_like(widths)]),
        jacobian=np.stack([1 / widths, np.ones_like(widths)]), mean_jacobian=np.ones((2, len(widths), 1)),
        largest=np.ones((2, len(widths), 1)), softmax=tuple(noted), scaled=scaling.NOTED_SCALED,
        weights=scaling.NOTED_WEIGHTS, untrained_heads=np.ones((1, 2)), trained_heads=np.ones((1, 2)),
    )  # fmt: skip
    check(scaling, held, {
        0: {"variance": np.stack([2 * widths, np.ones_like(widths)])},
        1: {"variance": np.stack([widths, 2 * np.ones_like(widths)])},
        2: {"jacobian": np.ones((2, len(widths), 1))},
        3: {"jacobian": np.stack([1 / widths, 1 / widths])},
        4: {"softmax": (0.1, 0.2, 0.7)},
        5: {"weights": tuple(scaling.softmax(np.array(scaling.NOTED_SCALED)))},
        6: {"trained_heads": np.full((1, 2), 9.0)},
    })  # fmt: skip


def test_the_size_of_the_jacobian() -> None:
    weights_NK = scaling.softmax(np.random.default_rng(0).normal(size=(4, 6)))
    whole = [np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in weights_NK]
    assert scaling.jacobian_sizes(weights_NK) == pytest.approx(whole)
    assert scaling.jacobian_sizes(np.array([[1.0, 0.0]])) == pytest.approx([0])


def test_temperature() -> None:
    T = len(temperature.TEMPERATURES)
    rising = np.linspace(0, 1, T)[:, None]
    held = temperature.Result(
        sentence="", prefix="", vocabulary=8, pieces=("a",), shares=np.ones((T, 1)), entropies=np.linspace(1, 2, T),
        off_sum=0.0, least=1e-9, argmaxes=1, different=rising, bigrams=rising, chrf=np.full((T, 1), 50.0), greedy=50.0,
        samples=(),
    )  # fmt: skip
    check(temperature, held, {
        0: {"least": 0.0},
        1: {"entropies": np.linspace(2, 1, T)},
        2: {"argmaxes": 2},
        3: {"different": np.zeros((T, 1))},
        4: {"chrf": np.linspace(60, 10, T)[:, None]},
    })  # fmt: skip
    for worse, value in enumerate(temperature.TEMPERATURES):  # at one temperature alone
        chrf = held.chrf.copy()
        chrf[worse] = 10.0
        expected = "holds" if value < 1 else "does not hold here"
        assert temperature.judge(replace(held, chrf=chrf)).findings[4].word == expected


def test_distinct_counts_pairs_of_words_within_a_text_for_each_word() -> None:
    assert temperature.distinct([["a", "b", "a", "b"], ["a"]], 2) == pytest.approx(2 / 5)


def worked_result() -> worked.Result:
    rng = np.random.default_rng(0)
    x_ND = rng.normal(size=(4, 5))
    causal = one_head(*rng.normal(size=(3, 7, 4)), causal=True)
    wide = np.zeros((7, 8))
    example = worked.Example(tuple("abcdefg"), wide, wide, wide, wide, 0, causal, wide, wide, wide)
    return worked.Result(
        worked.WORDS, x_ND, np.eye(5), np.eye(5), np.eye(5), one_head(x_ND, x_ND, x_ND, causal=False), 0.0, "", example,
        {"queries": 1e-7}, 0.0,
    )  # fmt: skip


def test_the_worked_example() -> None:
    held = worked_result()
    open_head = one_head(held.model.head.query_NE, held.model.head.key_NE, held.model.head.value_NE, causal=False)
    square = one_head(*np.random.default_rng(0).normal(size=(3, 7, 7)), causal=True)
    more = one_head(*np.random.default_rng(0).normal(size=(3, 5, 3)), causal=False)
    check(worked, held, {
        0: {"off_torch": 0.1},
        1: {"off": {"queries": 1e-7, "weights": 2e-5}},
        2: {"by_hand": more},
        3: {"model": replace(held.model, head=square)},
        4: {"off_one_word": 0.1},
        5: {"model": replace(held.model, head=open_head)},
    })  # fmt: skip


def test_the_worked_example_is_what_the_model_does(bench: Any) -> None:
    off = worked.compute(bench).off
    assert len(off) == 8 and max(off.values()) < 1e-5


def test_a_model_with_other_numbers_is_told_apart(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked, "clocks", lambda positions, width: np.zeros((positions, width)))
    assert worked.judge(worked.compute(bench)).findings[1].word == "does not hold here"
