"""Calibrated probabilities: smoothing and temperature are undone, exactly; a trace shows, keeps and saves both."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from independent import curved
from scipy.special import logit

from seq2see.errors import UserError
from seq2see.lens import Trace, with_calibration
from seq2see.lens.data.probabilities import TEMPERATURES, log_sums
from seq2see.lens.records.calibration import (
    WAYS,
    Band,
    Bin,
    Calibration,
    Calibrator,
    LanguageCalibration,
    Reliability,
    SentenceCalibration,
    SentenceCalibrator,
    SentenceCheck,
    ends_of,
)
from seq2see.lens.records.intervals import Estimate
from seq2see.rules import SMOOTHING_FLOOR

# N steps, V vocabulary


def distributions(steps: int = 40, vocabulary: int = 50, *, spread: float = 3.0) -> np.ndarray:
    """Log-probabilities [N,V], from nearly even on."""
    rng = np.random.default_rng(0)
    logits_NV = rng.normal(size=(steps, vocabulary)) * np.linspace(0.1, spread, steps)[:, None]
    return logits_NV - np.log(np.exp(logits_NV).sum(-1, keepdims=True))


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_a_smoothed_and_flattened_distribution_comes_back(temperature: float) -> None:
    """Smoothing lies over the temperature."""
    true_NV = distributions(spread=1.0)
    flat_NV = np.exp(true_NV * temperature) / np.exp(true_NV * temperature).sum(-1, keepdims=True)
    smoothed_NV = np.log(0.9 * flat_NV + 0.1 / 50)
    assert abs(smoothed_NV - true_NV).max() > 0.5, "smoothing changes them"
    assert np.allclose(Calibrator(smoothing=0.1, temperature=temperature)(smoothed_NV), true_NV)
    assert np.allclose(Calibrator(temperature=temperature)(np.log(flat_NV)), true_NV)


def test_a_token_with_less_than_smoothing_gave_stays_possible() -> None:
    """At a floor of what the model said: all of them together get no more than that share of the smoothing."""
    raw_V = np.full(1000, 0.05 / 1000)  # half of what smoothing gave each
    raw_V[0] = 1 - raw_V[1:].sum()
    found_V = np.exp(Calibrator(smoothing=0.1)(np.log(raw_V)[None])[0])
    assert found_V[1:].min() > 0 and found_V[1:].sum() < 0.1 * SMOOTHING_FLOOR
    assert found_V[1:] / found_V[0] == pytest.approx(SMOOTHING_FLOOR * raw_V[1:] / (raw_V[0] - 0.1 / 1000))


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.5), st.floats(0.3, 3), st.floats(0.1, 30), st.booleans())
def test_probabilities_sum_to_1_and_keep_their_order(
    seed: int, smoothing: float, temperature: float, spread: float, impossible: bool
) -> None:
    logits_NV = (np.random.default_rng(seed).normal(size=(3, 40)) * spread).astype(np.float32)
    logits_NV[:, :5] = -np.inf if impossible else logits_NV[:, :5]
    found_NV = Calibrator(smoothing, temperature)(logits_NV)
    assert np.allclose(np.exp(found_NV).sum(-1), 1, atol=1e-5)
    assert (np.exp(found_NV[:, :5]) == 0).all() or not impossible
    order = np.argsort(logits_NV, axis=-1)
    ordered_NV = np.take_along_axis(found_NV, order, axis=-1)[:, 5:]
    assert (np.diff(ordered_NV) >= 0).all()
    assert np.allclose(Calibrator(smoothing, temperature)(logits_NV + 7), found_NV, atol=1e-3)
    curve = ((-2.0, -3.0), (0.5, -1.0), (3.0, 4.0))  # which alone could change the order
    exact_NV = logits_NV.astype(float)
    p_NV = np.exp(Calibrator(smoothing, temperature)(exact_NV))
    best_N = p_NV.argmax(-1)
    scaled_NV = np.exp(Calibrator(smoothing, temperature, curve)(exact_NV))
    assert np.allclose(scaled_NV.sum(-1), 1, atol=1e-5)
    assert (scaled_NV[range(3), best_N] >= scaled_NV.max(-1) * (1 - 1e-6)).all()
    odds_N = logit(np.exp(Calibrator(smoothing)(exact_NV)).max(-1))
    for p_V, own_V, best, odds in zip(p_NV, scaled_NV, best_N, odds_N, strict=True):
        if p_V[best] < 0.999:
            others = np.arange(len(p_V)) != best
            least = p_V[others].max() / p_V[others].sum()
            least = logit(least / (1 + least))
            assert logit(own_V[best]) == pytest.approx(max(least, curved(curve, odds)), abs=1e-2)
            assert np.allclose(own_V[others] / own_V[others].sum(), p_V[others] / p_V[others].sum(), atol=1e-4)


def made(temperature: float = 0.9) -> Calibration:
    figure = Estimate(0.1, 0.05, 0.2)
    ways = {way: Reliability(Calibrator(0.1, temperature), figure, figure, (Bin(5, 0.5, 0.4), Bin(5, 0.9, 1.0)))
            for way in WAYS}
    check = SentenceCheck("dev.tsv", True, Bin(60, 0.8, 0.8), (Bin(10, 0.1, 0.1), Bin(50, 0.9, 0.9)))
    whole = SentenceCalibration(SentenceCalibrator(0.1, 0.7, 2.0, 0.5), 100, ("dev.tsv",), (check,))
    return Calibration("the validation pairs", {"fr": LanguageCalibration(7, 70, 1, 10, 0.7, "both", ways, whole),
                                                "de": LanguageCalibration(7, 70, 1, 10, 0.7, "both", ways)}, "abc")


def with_ends(unlikely: Bin | None, *right: float) -> Calibration:
    """A language for each share that is right in the highest band of 3,000 tokens."""
    [one, _] = made().languages.values()
    bands = [(Band(0, 0, 0, 0, 0), Band(3_000, 0.995, share, 0.9, 1)) for share in right]
    return replace(made(), languages={str(i): replace(one, ways={"both": replace(
        one.kept, bands=own, unlikely=unlikely)}) for i, own in enumerate(bands)})


def test_under_and_over_are_said_where_enough_tokens_of_all_languages_agree() -> None:
    rare = Bin(2_500, 0.0001, 0.0009)
    assert with_ends(rare, 0.999, 0.985).ends == (True, True), "their mean"
    assert with_ends(rare, 0.995).ends == (False, False), "too few tokens"
    assert with_ends(Bin(2_500, 0.0001, 0.002), 0.995, 0.98).ends == (False, False)
    assert made().ends == with_ends(None).ends == (False, False)
    good, bad = with_ends(rare, 0.995, 0.995), with_ends(None, 0.995, 0.995)
    assert ends_of(None) == ends_of(good) == (True, True) and ends_of(bad) == (False, True)


@pytest.mark.parametrize(("at", "value"), [
    (("version",), 2),
    (("languages",), []),
    (("languages", "fr", "ways", "both", "calibrator", "temperature"), float("nan")),
    (("languages", "fr", "ways", "both", "calibrator", "smoothing"), 1.1),
    (("languages", "fr", "ways", "both", "calibrator", "curve"), [[0, 1], [0, 2]]),
    (("languages", "fr", "ways", "both", "calibrator", "curve"), [[0, 1], [1, 0.9]]),
    (("languages", "fr", "ways", "raw", "bins", 0), [5, 1.5, 0.5]),
    (("languages", "fr", "tokens"), True),
])
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, at: tuple[Any, ...], value: Any) -> None:
    path = tmp_path / "calibration.json"
    made().save(path)
    assert Calibration.load(path) == made() and made().calibrator("es") is None
    plain = json.loads(path.read_text("utf-8"))
    inner = plain
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    for text in (json.dumps(plain), "{", "[" * 100_000):
        path.write_text(text, "utf-8")
        expected = "is not a valid calibration .* measure again with seq2see measure RUN"
        with pytest.raises(UserError, match=expected) as told:
            Calibration.load(path)
        assert "\n" not in str(told.value) and str(path) in str(told.value)


# --- a trace with calibrated probabilities

CALIBRATOR = Calibrator(smoothing=0.1, temperature=0.8, curve=((-2.0, -1.5), (0.5, 0.3), (3.0, 4.0)))


@pytest.fixture
def calibrated(trace: Trace) -> Trace:
    return with_calibration(trace, CALIBRATOR)


def test_the_calibrated_steps_are_those_of_the_whole_vocabulary(trace: Trace, calibrated: Trace) -> None:
    steps, log_probs_TV = calibrated.calibrated, CALIBRATOR(trace.logits.astype(np.float64))
    assert steps is not None and steps.calibrator == CALIBRATOR
    for t, (chosen, step) in enumerate(zip(trace.target_ids, steps.top, strict=True)):
        assert steps.log_probs[t] == pytest.approx(log_probs_TV[t, chosen], abs=1e-4)
        assert [one.log_prob for one in step] == pytest.approx([log_probs_TV[t, one.id] for one in step], abs=1e-4)
        assert [(one.id, one.text) for one in step] == [(one.id, one.text) for one in trace.top[t]]
        p_V = np.exp(log_probs_TV[t])
        assert steps.entropies[t] == pytest.approx(-(p_V * log_probs_TV[t]).sum(), abs=1e-4)
    assert abs(steps.log_probs - trace.log_probs).max() > 0.1, "it changes them"
    assert calibrated.confidence == pytest.approx(np.exp(steps.log_probs[trace.given :]).mean())
    np.testing.assert_array_equal(calibrated.log_probs, trace.log_probs)
    assert calibrated.top == trace.top and trace.confidence is None, "the model's own numbers stay"


@pytest.mark.parametrize("calibrate", [True, False])
def test_the_slider_gives_what_the_whole_vocabulary_gives(trace: Trace, calibrate: bool) -> None:
    own_TV = trace.logits.astype(np.float64)
    shown = with_calibration(trace, CALIBRATOR) if calibrate else trace
    sums_TG = log_sums(shown)
    for g in (0, 8, 12, 24):
        scaled_TV = np.exp(own_TV / TEMPERATURES[g])
        wanted_TV = scaled_TV / scaled_TV.sum(-1, keepdims=True)
        for t, step in enumerate(shown.top):
            mine = [np.exp((one.log_prob - step[0].log_prob) / TEMPERATURES[g] - sums_TG[t, g]) for one in step]
            np.testing.assert_allclose(mine, wanted_TV[t, [one.id for one in step]], atol=2e-3)
    with pytest.raises(UserError, match="no logits"):
        log_sums(replace(trace, logits=None))


def test_the_probability_of_a_hypothesis_is_beta_calibration_of_what_smoothing_left() -> None:
    calibrator = SentenceCalibrator(0.1, 0.7, 2.0, -0.5)
    for log_prob, tokens in ((-2.0, 8), (-30.0, 20), (-1.5, 12)):
        p = np.exp(log_prob) / 0.9**tokens
        assert logit(calibrator(log_prob, tokens)) == pytest.approx(0.7 * np.log(p) - 2 * np.log(1 - p) - 0.5)
    found = [calibrator(log_prob, 6) for log_prob in np.linspace(-1000, 0, 2001)]
    assert np.isfinite(found).all() and found[0] == 0 and np.diff(found).min() >= 0 and found[-1] <= 1
    assert SentenceCalibrator(0.0, 1.0, 1.0, 0.0)(math.log(0.3), 5) == pytest.approx(0.3), "that is p itself"


@pytest.mark.parametrize(("sure", "holds"), [
    (Bin(50, 0.9, 0.875), True), (Bin(50, 0.875, 0.9), True), (Bin(142, 0.96, 0.68), False), (Bin(49, 0.9, 0.9), False),
    (Bin(0, 0.0, 0.0), False),
])
def test_a_chance_is_shown_only_where_it_holds_at_the_top(sure: Bin, holds: bool) -> None:
    """On every corpus that decides, and there must be one."""
    calibration = made()
    whole = calibration.languages["fr"].sentences
    assert whole is not None
    good, = whole.checks
    tried, other = (replace(good, corpus=name, bands=(*good.bands[:-1], sure)) for name in ("test.tsv", "storybook"))
    for checks, expected in (((tried,), holds), ((good, tried), holds), ((good, replace(other, decides=False)), True),
                             ((replace(good, decides=False),), False), ((), False)):
        languages = {"fr": replace(calibration.languages["fr"], sentences=replace(whole, checks=checks))}
        found = replace(calibration, languages=languages).sentence_calibrator("fr")
        assert found == (whole.calibrator if expected else None)
    assert calibration.sentence_calibrator("de") is None and calibration.sentence_calibrator("es") is None
