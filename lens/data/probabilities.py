"""The steps of a trace under other probabilities than the model's own: calibrated, or at another temperature.

They come from logits in float16, so log-probabilities have an error of up to 0.1 %.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from seq2see.errors import UserError
from seq2see.rules import IMPOSSIBLE, RULES
from ..records.calibration import Calibrator, log_sum
from .trace_data import TOP, CalibratedSteps, Candidate, TraceData

# T decoder steps, V vocabulary, G temperatures

Data = TypeVar("Data", bound=TraceData)
TEMPERATURES = np.array(RULES["TEMPERATURES"])  # [G]
Shown = Callable[[np.ndarray], np.ndarray]  # log-probabilities [T,V] as the trace shows them, from logits


def with_calibration(trace: Data, calibrator: Calibrator | None) -> Data:
    """The trace with calibrated probabilities in addition to the model's own; unchanged if the calibrator is None.

    Raises UserError for a trace from JSON, which has no logits.
    """
    if calibrator is None:
        return trace
    log_prob_TV = np.maximum(calibrator(_logits(trace)), IMPOSSIBLE)
    return replace(trace, calibrated=CalibratedSteps(calibrator, **_steps(trace, log_prob_TV)))


@dataclass(frozen=True, eq=False)
class Outlook:
    """The probabilities of a trace at one temperature.

    `log_probs` [T] are the log-probabilities of the hypothesis's tokens and `entropies` [T] those of the steps, both in
    nats.  `top` has the best candidates of each step.
    """

    temperature: float
    log_probs: np.ndarray
    entropies: np.ndarray
    top: tuple[tuple[Candidate, ...], ...]


def outlook(trace: TraceData, *, temperature: float = 1.0, k: int = TOP) -> Outlook:
    """The probabilities of a trace at another temperature: `softmax(logits / temperature)` at each step.

    A temperature below 1 makes the model more confident, and one above 1 less confident.  The order of the tokens stays
    the same.  `k` is the number of candidates, from 1 to 20.

    Raises UserError for a temperature that is not above 0, a k out of range, or a trace from JSON, which has no logits.
    """
    if not 0 < temperature < float("inf"):
        raise UserError(f"temperature {temperature}: expected a number above 0", exit_code=2)
    if not 1 <= k <= TOP:
        raise UserError(f"k {k}: a trace keeps the {TOP} best of each step", exit_code=2)
    scaled_TV = _logits(trace).astype(np.float64) / temperature  # the best of each step is 0: nothing overflows
    log_prob_TV = scaled_TV - np.log(np.exp(scaled_TV).sum(-1, keepdims=True))
    return Outlook(temperature, **_steps(trace, log_prob_TV, k=k))


def log_sums(trace: TraceData) -> np.ndarray:
    """[T,G]: log sum exp((logit - best logit of the step) / temperature) over the vocabulary, for TEMPERATURES.

    The log-probability of a token is then (log p - log p of the best) / temperature - this sum.  So a slider needs only
    the displayed candidates.  The values are the model's own, from which sampling draws, also if the trace is
    calibrated: a calibration holds at temperature 1.  There they are exactly those of the trace.  Raises UserError for
    a trace from JSON, which has no logits.
    """
    logit_TV = _logits(trace)  # the best of each step is 0: nothing overflows
    sums_TG = np.stack([np.log(np.exp(logit_TV / temperature).sum(-1)) for temperature in TEMPERATURES], axis=-1)
    sums_TG[:, TEMPERATURES == 1] = [[-step[0].log_prob] for step in trace.top]
    return sums_TG


def _logits(trace: TraceData) -> np.ndarray:
    if trace.logits is None:
        raise UserError("this trace has no logits (JSON keeps only the best of each step): save it as .npz")
    return trace.logits.astype(np.float32)


def _steps(trace: TraceData, log_prob_TV: np.ndarray, *, k: int = TOP) -> dict[str, Any]:
    """The log-probability of each step's token, the entropy, and the best candidates."""
    possible_TV = np.where(np.isfinite(log_prob_TV), log_prob_TV, 0)
    chosen_T1 = np.array(trace.target_ids)[:, None]
    return {
        "log_probs": np.take_along_axis(log_prob_TV, chosen_T1, axis=1)[:, 0].astype(np.float32),
        "entropies": -(np.exp(log_prob_TV) * possible_TV).sum(-1).astype(np.float32),
        "top": tuple(tuple(one._replace(log_prob=float(row[one.id])) for one in step[:k])
                     for row, step in zip(log_prob_TV, trace.top, strict=True)),
    }


def shown_by(trace: TraceData) -> Shown:
    """The function that turns a step's logits into the log-probabilities that the trace shows."""
    return trace.calibrated.calibrator if trace.calibrated else uncalibrated


def uncalibrated(logits_TV: np.ndarray) -> np.ndarray:
    return np.asarray(logits_TV - log_sum(logits_TV))
