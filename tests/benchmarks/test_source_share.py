"""The benchmark of made-up translations: which other one a sentence gets, and the area under the curve."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score


@pytest.fixture(scope="module")
def bench(imported):
    return imported("source_share")


def test_each_text_gets_another_one_of_about_its_length(bench):
    texts = ["a" * n for n in np.random.default_rng(0).permutation(40)] + ["aaa", "bbb"]  # "aaa" stands there twice
    other = bench.another(texts)
    assert all(texts[i] != texts[j] for i, j in enumerate(other))
    gaps = [abs(len(texts[i]) - len(texts[j])) for i, j in enumerate(other)]
    assert sorted(gaps)[-2] <= 1, "all but the longest"


def test_the_figure_is_the_area_under_the_roc_curve(bench):
    drawn = np.random.default_rng(1)
    own, made_up = drawn.normal(0.5, 1, 60).round(1), drawn.normal(0, 1, 60).round(1)  # with ties
    found = bench.row("score", own, made_up)
    expected = roc_auc_score([1] * 60 + [0] * 60, np.concatenate([own, made_up]))
    assert found["auc"] == pytest.approx(expected, abs=1e-4) and found["low"] < expected < found["high"]
    assert bench.row("score", made_up, own)["auc"] == pytest.approx(1 - expected, abs=1e-4)
