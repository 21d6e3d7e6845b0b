"""Log-probabilities of given translations: one teacher-forced pass, no search.

    log p(translation | source)  =  sum over its tokens y_t, including `</s>`, of  log p(y_t | y_1 .. y_t-1, source)

A language tag is given, not predicted, and does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from ..lens.records.calibration import Calibrator
from ..passes.batches import packed, vocabulary_size
from ..passes.forced_pass import chosen_log_probs, forced_pass

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
    """
    every = token_log_probs(model, sources, targets, calibrator=calibrator)
    return [Score(sum(log_probs[given:]), len(log_probs) - given) for log_probs in every]


def token_log_probs(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *,
    calibrator: Calibrator | None = None,
) -> list[list[float]]:
    """The log-probability of each token of each target given its source.

    Sources and targets are ids, including `</s>`.  The probabilities are those of the calibrator if there is one,
    otherwise the model's own.
    """
    found: dict[int, list[float]] = {}
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
            found[index] = row[: len(targets[index])]
    return [found[index] for index in range(len(sources))]
