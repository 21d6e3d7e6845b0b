"""What every temperature of a slider needs, so that whoever has it reshapes a step's probabilities at once, exactly.

    p(piece) = exp(logit / temperature) / sum over the vocabulary of exp(logit / temperature)

The sum is the only part that asks for all of the vocabulary: its logarithm, taken for each temperature here, and the
log-probabilities of the pieces shown are enough.
"""

import numpy as np

from seq2see.errors import UserError
from .trace_data import TraceData

# T decoder steps, V vocabulary, G temperatures

TEMPERATURES = 2.0 ** np.linspace(-3, 3, 25)  # [G]: 1/8 to 8, four to each doubling, 1 among them


def log_sums(trace: TraceData) -> np.ndarray:
    """[T,G]: log sum exp((logit - best logit of the step) / temperature), for each of TEMPERATURES.

    So a piece's log-probability is (log p - log p of the best) / temperature - this.  From the logits kept in float16,
    calibrated where the trace is; at temperature 1 exactly what it shows.  UserError for a trace read from JSON, which
    has no logits.
    """
    if trace.logits is None:
        raise UserError("this trace has no logits (JSON keeps only the best of each step): save it as .npz")
    logit_TV = trace.logits.astype(np.float32)  # the best of each step is 0: nothing overflows
    if trace.calibrated:
        logit_TV = trace.calibrated.calibrator(logit_TV)
        logit_TV -= logit_TV.max(-1, keepdims=True)
    sums_TG = np.stack([np.log(np.exp(logit_TV / warmth).sum(-1)) for warmth in TEMPERATURES], axis=-1)
    sums_TG[:, TEMPERATURES == 1] = [[-step[0].log_prob] for step in trace.shown.top]
    return sums_TG
