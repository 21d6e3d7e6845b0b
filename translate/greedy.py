"""Greedy search in a shrinking batch: the decoding loop that `TorchEngine` passes to transformers' `generate`.

transformers' own loop computes every row until the longest has ended.  Here finished rows leave the batch, cache and
encoder output once enough of them have finished.  Their removal costs as much as a step or two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedModel, StoppingCriteriaList
from transformers.modeling_outputs import BaseModelOutput

# B rows still in the batch, K of them that stay, T ids so far, V vocabulary

SHARE = 0.25  # of the batch that must have ended before it is removed

Sampler = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
Gone = Callable[[], torch.Tensor]


def greedy(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    *,
    logits_processor: LogitsProcessorList,
    stopping_criteria: StoppingCriteriaList,
    generation_config: GenerationConfig,
    sampler: Sampler | None = None,
    gone: Gone | None = None,
    **inputs: Any,
) -> list[tuple[list[int], float]]:
    """For each row of `input_ids` [B,1]: the ids after the start token, and the sum of their log-probabilities.

    The ids after the first `</s>` are meaningless and not in the sum.

    Args:
        sampler: maps ids [B,T], logits [B,V] and the original index [B] of each row to the values to maximise; None:
            the logits.  Log-probabilities are those of the logits after the processors in either case.
        gone: called after each step; returns which rows, in the order of `input_ids`, are no longer wanted and end
            there.
    """
    ids_BT, row_B = input_ids, torch.arange(len(input_ids), device=input_ids.device)
    log_prob_B = torch.zeros_like(row_B, dtype=torch.float32)
    ended_B = torch.zeros_like(row_B, dtype=torch.bool)
    found: dict[int, tuple[list[int], float]] = {}
    while len(row_B):
        step = model.prepare_inputs_for_generation(ids_BT, next_sequence_length=1, **inputs)
        logits_BV = logits_processor(ids_BT, model(**step, return_dict=True).logits[:, -1].float())
        taken_B1 = (logits_BV if sampler is None else sampler(ids_BT, logits_BV, row_B)).argmax(-1, keepdim=True)
        taken_log_prob_B = logits_BV.gather(-1, taken_B1)[:, 0] - logits_BV.logsumexp(-1)
        log_prob_B = log_prob_B + taken_log_prob_B.masked_fill(ended_B, 0)
        ids_BT = torch.cat([ids_BT, taken_B1], dim=1)
        ended_B = ended_B | stopping_criteria(ids_BT, None)
        if gone is not None:
            ended_B = ended_B | gone().to(ended_B.device)[row_B]
        if int(ended_B.sum()) >= SHARE * len(ended_B):
            each = zip(ids_BT[ended_B, 1:].tolist(), log_prob_B[ended_B].tolist(), strict=True)
            found.update(zip(row_B[ended_B].tolist(), each, strict=True))
            stay_K = (~ended_B).nonzero()[:, 0]
            ids_BT, row_B, log_prob_B, ended_B = (one[stay_K] for one in (ids_BT, row_B, log_prob_B, ended_B))
            _keep(inputs, stay_K)
    return [found[row] for row in range(len(found))]


def _keep(inputs: dict[str, Any], stay_K: torch.Tensor) -> None:
    """Keep only these rows in the decoder's inputs."""
    inputs["past_key_values"].batch_select_indices(stay_K)
    inputs["encoder_outputs"] = BaseModelOutput(inputs["encoder_outputs"].last_hidden_state[stay_K])
    inputs["attention_mask"] = inputs["attention_mask"][stay_K]
