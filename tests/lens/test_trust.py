"""Figures of trust: tau as the textbooks have it, no error for the truth, and no figure of what it was chosen on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from seq2see.errors import UserError
from seq2see.lens import Trust, measure_trust
from seq2see.lens.heads.alignment_choice import drops_by_words
from seq2see.lens.heads.faithfulness import kendall
from seq2see.lens.records.trust import NOISE, UNMEASURED


@pytest.mark.parametrize("least", [0.0, 0.05])
def test_tau_is_kendalls_of_the_words_above_the_noise_floor(least):
    dice = np.random.default_rng(3)
    maps = dice.integers(0, 5, size=(4, 3, 14)).astype(float)  # with ties
    drops = dice.integers(-2, 4, size=(3, 14)).astype(float)
    drops[:, ::2] += 2 * (drops[:, ::2] == 0)
    drops[:, ::2] *= 0.01 if least else 1  # noise
    maps[1, 1], drops[2] = 0.2, 1.0  # all alike: on the one side nothing is said, on the other nothing can be compared
    tau, compared = kendall(maps, drops, least=least)
    above = [np.flatnonzero(abs(row) >= least) for row in drops]
    assert compared.tolist() == [len(above[0]), len(above[1]), 0] and not tau[:, 2].any()
    assert (len(above[0]) == 14) is (least == 0)
    for m, j in np.ndindex(4, 2):
        expected = kendalltau(maps[m, j, above[j]], drops[j, above[j]]).statistic
        assert tau[m, j] == pytest.approx(0 if (m, j) == (1, 1) else expected)


def test_a_record_tells_how_many_words_its_taus_compare(planted):
    trace, gold = planted((1, 0))
    noisy, drops = replace(trace, left_out=trace.left_out * 1e-4), abs(drops_by_words(trace)) >= NOISE
    trust, silent = (measure_trust([trace], [one] * 3, dev_gold=[gold], test_gold=[gold] * 3, measured_on="x")
                     for one in (trace, noisy))
    assert trust.words == 3 * drops[drops.sum(1) > 1].sum() > 0
    words = f", tau over {trust.words} words with a drop of at least 0.05 nats."
    assert words in trust.line("raw", "cross", "predicts", (1, 0))
    assert silent.words == 0 and {one.tau for one in (*silent.maps, silent.random)} == {None}
    assert "tau" not in silent.line("raw", "cross", "predicts", (1, 0))


def test_a_layer_that_contains_a_head_trained_with_gold_links_is_labelled_so(planted):
    """Views of whole layers: the head's own layer, and of views through layers those above; words left out never."""
    trace, gold = planted((1, 0))
    means = dict.fromkeys(("rollout", "mixing", "contributions"), trace.cross["raw"].mean(1))
    trace = replace(trace, cross=trace.cross | means)
    trust = measure_trust([trace], [trace] * 3, dev_gold=[gold], test_gold=[gold] * 3, measured_on="x",
                          supervised={(1, 0)})
    labelled = {(one.view, one.map) for one in trust.maps if one.supervised}
    assert labelled == {("raw", (1, 0)), ("mixing", (1,)), ("rollout", (1,)), ("rollout", (2,)),
                        ("contributions", (1,)), ("contributions", (2,))}
    assert trust.line("raw", "cross", "predicts", (1, 0)).startswith("supervised, AER 0.0 %")
    assert "Best of view raw: layer 1, head 0, rows predicts: supervised, AER" in trust.line(
        "raw", "cross", "predicts", (0, 1))
    assert trust.line("mixing", "cross", "predicts", (1,)).startswith("contains a supervised head, AER ")
    assert "supervised" not in trust.line("mixing", "cross", "predicts", (0,)).partition("Best of")[0]


def test_a_map_that_shows_the_truth_has_no_error_and_a_random_one_has(planted):
    (trace, gold), words = planted((1, 0)), len(planted((1, 0))[0].source_words)
    trust = measure_trust([trace] * 2, [trace] * 40, dev_gold=[gold] * 2, test_gold=[gold] * 40, measured_on="x")
    assert (trust.sentences, trust.chosen_on) == (40, 2)
    assert {one.view: one.map for one in trust.best} == {"raw": (1, 0), "left_out": ()}
    true = trust.of("raw", "predicts", (1, 0))
    assert true.aer == (0, 0, 0) and true.tau == (1, 1, 1)
    even = trust.of("raw", "predicts", (0, 1))
    assert even.aer.value > 0.5 and even.tau.value < 0.6
    assert trust.of("left_out", "predicts", ()).aer.value == 0 and trust.of("left_out", "predicts", ()).tau is None
    assert abs(trust.random.aer.value - (1 - 1 / words)) < 0.05, "a word in so many is right by chance"
    assert abs(trust.random.tau.value) < 0.05


def test_what_is_best_is_chosen_on_other_sentences_than_it_is_reported_on(planted):
    (dev, gold), (test, _) = planted((1, 0)), planted((2, 1))
    trust = measure_trust([dev], [test] * 3, dev_gold=[gold], test_gold=[gold] * 3, measured_on="x")
    best = next(one for one in trust.best if one.view == "raw")
    assert best.map == (1, 0) and best.aer.value > 0.5
    assert trust.of("raw", "predicts", (2, 1)).aer.value == 0
    without = measure_trust([dev], [test] * 3, dev_gold=None, test_gold=None, measured_on="x")
    assert next(one for one in without.best if one.view == "raw").map == (1, 0)
    assert {one.aer for one in without.maps} == {None} == {without.random.aer}
    assert without.of("raw", "predicts", (2, 1)).tau.value == 1


def test_an_interval_is_of_groups_where_sentences_are_variants(planted):
    """A hundred sentences, each there twice, tell as much as a hundred."""
    (right, gold), (wrong, _) = planted((1, 0)), planted((2, 1))
    tests, names = [right, wrong] * 50, [str(number) for number in range(100)]
    once, grouped = (
        measure_trust([right], tests * times, dev_gold=[gold], test_gold=[gold] * 100 * times, measured_on="x",
                      groups=groups).of("raw", "predicts", (1, 0))
        for times, groups in ((1, None), (2, names * 2))
    )
    assert grouped == once and grouped.aer.low < grouped.aer.high


@pytest.mark.parametrize("damage", [
    lambda plain: "no object", lambda plain: plain | {"random": plain["random"] | {"aer": [1, 2]}},
])
def test_what_is_no_such_file_is_refused_in_one_line(trust, tmp_path, damage):
    path = tmp_path / "trust.json"
    trust.save(path)
    assert Trust.load(path) == trust
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(UserError, match="measure again with seq2see measure RUN") as told:
        Trust.load(path)
    assert "\n" not in str(told.value)


def test_the_line_tells_of_this_map_a_random_one_and_the_best(trust):
    line, own = trust.line("raw", "cross", "predicts", (0, 1)), trust.of("raw", "predicts", (0, 1))
    assert line.startswith(f"AER {100 * own.aer.value:.1f} % [") and " (no word alignment), tau " in line
    assert f"a random map: AER {100 * trust.random.aer.value:.1f} %, tau " in line
    assert "on 9 sentences of nine lines" in line
    assert "Best of view raw: layer 1, head 0, rows predicts: AER 0.0 % [0.0, 0.0], tau 1.00" in line
    assert "Best" not in trust.line("raw", "cross", "predicts", (1, 0))
    assert trust.line("norm", "cross", "predicts", (1, 0)) == UNMEASURED
