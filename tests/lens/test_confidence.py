"""A trace with calibrated probabilities: those of its logits, shown wherever a person looks, kept in its files; and the
model's own beside them, as they were."""

import json
from dataclasses import replace

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import Calibrator, Trace, summarise, to_terminal, with_confidence
from seq2see.lens.explorer import trace_record
from seq2see.lens.maps import NOT_CALIBRATED, facts
from seq2see.lens.probabilities import TEMPERATURES, log_sums

CALIBRATOR = Calibrator(smoothing=0.1, temperature=0.8)


@pytest.fixture
def calibrated(trace: Trace) -> Trace:
    return with_confidence(trace, CALIBRATOR)


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


def test_the_model_s_own_numbers_stay(trace: Trace, calibrated: Trace) -> None:
    np.testing.assert_array_equal(calibrated.log_probs, trace.log_probs)
    assert calibrated.log_prob == trace.log_prob and calibrated.top == trace.top
    assert trace.confidence is None and trace.shown is trace and with_confidence(trace, None) is trace
    with pytest.raises(UserError, match="no logits"):
        with_confidence(replace(trace, logits=None), CALIBRATOR)


def test_an_impossible_token_is_a_number_that_json_has(trace: Trace) -> None:
    logits_TV = trace.logits.copy()
    for t, step in enumerate(trace.top):
        logits_TV[t, step[-1].id] = -np.inf
    found = with_confidence(replace(trace, logits=logits_TV), CALIBRATOR)
    assert found.calibrated is not None and np.isfinite(found.calibrated.entropies).all()
    json.dumps([[one.log_prob for one in step] for step in found.calibrated.top], allow_nan=False)


def test_people_are_shown_calibrated_probabilities(trace: Trace, calibrated: Trace) -> None:
    own, sent = trace_record(trace), trace_record(calibrated)
    assert own["calibrated"] is None
    assert sent["calibrated"]["log_probs"] == pytest.approx(calibrated.calibrated.log_probs.tolist(), rel=1e-6)
    assert sent["calibrated"]["top"] == [[one.log_prob for one in step] for step in calibrated.calibrated.top]
    assert NOT_CALIBRATED in facts(trace) and NOT_CALIBRATED in to_terminal(trace)
    said = f"confidence {calibrated.confidence:.0%}, the mean over its tokens, calibrated"
    assert said in facts(calibrated) and said in to_terminal(calibrated)
    assert NOT_CALIBRATED not in facts(calibrated)
    assert summarise(calibrated)["confidence"] == calibrated.confidence


def test_the_slider_s_temperatures_start_from_what_is_shown(calibrated: Trace) -> None:
    sums_TG, steps = log_sums(calibrated), calibrated.calibrated
    log_probs_TV = CALIBRATOR(calibrated.logits.astype(np.float64))
    for g in (0, 8, 12, 24):
        scaled_TV = log_probs_TV / TEMPERATURES[g]
        wanted_TV = np.exp(scaled_TV) / np.exp(scaled_TV).sum(-1, keepdims=True)
        for t, step in enumerate(steps.top):
            mine = [np.exp((one.log_prob - step[0].log_prob) / TEMPERATURES[g] - sums_TG[t, g]) for one in step]
            np.testing.assert_allclose(mine, wanted_TV[t, [one.id for one in step]], atol=2e-3)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_file_keeps_both(calibrated: Trace, trace: Trace, tmp_path, suffix: str) -> None:
    path = tmp_path / f"trace.{suffix}"
    calibrated.save(path)
    found, steps = Trace.load(path), calibrated.calibrated
    assert found.calibrated is not None and found.calibrated.calibrator == CALIBRATOR
    np.testing.assert_array_equal(found.calibrated.log_probs, steps.log_probs)
    np.testing.assert_array_equal(found.calibrated.entropies, steps.entropies)
    assert found.calibrated.top == steps.top and found.top == trace.top
    assert facts(found) == facts(calibrated)
    trace.save(path)
    assert Trace.load(path).calibrated is None


SPOILT = [
    ("temperature", 0), ("temperature", "1"), ("smoothing", -0.1), ("smoothing", 1), ("log_probs", [0.0]),
    ("log_probs", "nan"), ("entropies", None), ("top", [[]]), ("top", [1]),
]


@pytest.mark.parametrize(("name", "value"), SPOILT)
def test_a_damaged_record_is_refused_in_one_line(calibrated: Trace, tmp_path, name: str, value) -> None:
    path = tmp_path / "trace.json"
    calibrated.save(path)
    record = json.loads(path.read_text("utf-8"))
    if value == "nan":
        value = [float("nan")] * len(calibrated.target)
    record["calibrated"][name] = value
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(UserError, match="is not a trace saved by Seq2See") as told:
        Trace.load(path)
    assert "\n" not in str(told.value)
