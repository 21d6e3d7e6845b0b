"""A trace with calibrated probabilities beside the model's own."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from seq2see.errors import UserError
from .calibration import Calibrator
from .trace_data import CalibratedSteps, TraceData

# T decoder steps, V vocabulary

Data = TypeVar("Data", bound=TraceData)
NEVER = -1e4  # the log-probability of an impossible token, which JSON can hold



def with_confidence(trace: Data, calibrator: Calibrator | None) -> Data:
    """The trace with `calibrated`, or as it is where there is no calibrator.

    From the logits kept in float16, so log-probabilities are off by up to 0.1 % of themselves.  UserError for a trace
    read from JSON, which has no logits.
    """
    if calibrator is None:
        return trace
    if trace.logits is None:
        raise UserError("this trace has no logits (JSON keeps only the best of each step): save it as .npz")
    log_probs_TV = np.maximum(calibrator(trace.logits.astype(np.float32)), NEVER)
    return replace(trace, calibrated=CalibratedSteps(
        calibrator,
        np.take_along_axis(log_probs_TV, np.array(trace.target_ids)[:, None], axis=1)[:, 0],
        -(np.exp(log_probs_TV) * log_probs_TV).sum(-1),
        tuple(tuple(one._replace(log_prob=float(row[one.id])) for one in step)
              for row, step in zip(log_probs_TV, trace.top, strict=True)),
    ))  # fmt: skip
