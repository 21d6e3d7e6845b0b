"""Log-probabilities of given translations: one teacher-forced pass, no search.

    log p(translation | source)  =  sum over its tokens y_t, including `</s>`, of  log p(y_t | y_1 .. y_t-1, source)

A language tag is given, not predicted, and does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from transformers import PreTrainedModel

from ..lens.calibration import Calibrator
from ..lens.teacher_forcing import chosen_log_probs, forced_pass, packed, vocabulary_size
from .results import Translation

# B pairs, T target tokens

BATCH_LOGITS = 2**23  # logits in one batch: 32 MiB in float32
BATCH_TOKENS = 4096  # tokens of either side in one batch, including padding


@dataclass(frozen=True)
class Score:
    """Log-probability (natural logarithm) of a translation with this number of tokens, including `</s>`."""

    log_prob: float
    tokens: int

    @property
    def mean(self) -> float:
        """Log-probability per token."""
        return self.log_prob / self.tokens


def score_targets(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, given: int,
    calibrator: Calibrator | None = None,
) -> list[Score]:
    """The score of each target given its source, in order; the first `given` ids of a target are forced and not scored.
    Uses the calibrator's probabilities if there is one, otherwise the model's own.

    Sources and targets are ids, including `</s>`.
    """
    found: dict[int, Score] = {}
    most_targets = min(BATCH_TOKENS, BATCH_LOGITS // vocabulary_size(model))
    lengths = [(len(target), len(source)) for source, target in zip(sources, targets, strict=True)]
    for batch in packed(lengths, lambda rows, target, source: rows * source <= BATCH_TOKENS
                        and rows * target <= most_targets, by_length=True):
        output, target_BT = forced_pass(model, [sources[index] for index in batch], [targets[index] for index in batch])
        logits_BTV = output.logits.float()
        if calibrator:
            logits_BTV = torch.from_numpy(calibrator(logits_BTV.cpu().numpy())).to(target_BT.device)
        log_probs_BT = chosen_log_probs(logits_BTV, target_BT)
        for index, row in zip(batch, log_probs_BT.double().tolist(), strict=True):
            counted = row[given : len(targets[index])]
            found[index] = Score(sum(counted), len(counted))
    return [found[index] for index in range(len(sources))]


def with_log_probs(result: Translation, log_probs: Iterator[float]) -> Translation:
    """Assign these in order to the hypotheses of its parts; a hypothesis of a split text gets the sum of its parts."""
    segments = tuple(with_log_probs(one, log_probs) for one in result.segments)
    each = zip(*([one.calibrated_log_prob or 0.0 for one in part.hypotheses] for part in segments), strict=True)
    own = map(sum, each) if segments else log_probs
    return replace(result, segments=segments, hypotheses=tuple(
        replace(one, calibrated_log_prob=log_prob) for one, log_prob in zip(result.hypotheses, own)))  # noqa: B905
