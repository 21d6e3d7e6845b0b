"""Changing how one head attends, while a model runs: its temperature, or its weights altogether.  Or watching it.

    weights = softmax(scores / temperature)

Below 1 a head makes up its mind, above 1 it wavers towards even weights; the scores are all that enters the softmax,
a relative position bias included.  What is changed is the head's weights themselves, before they mix the values, so
a trace made inside shows the weights that were used.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from seq2see.errors import UserError
from .ablation import heads_by_site
from .forcing import looking
from .kinds import Kind

# B sentences (times beams), H heads, T query positions, S key positions, E size of one head

NAME = "seq2see_steered"  # of the attention implementation that steered modules are switched to
STEERING = "_seq2see_steering"  # where a steered module finds its `Steering`


class Attended(NamedTuple):
    """What passed through one attention module: [B,H,T,E], [B,H,S,E], [B,H,T,S], and [B,H,T,E] what was mixed."""

    scale: float
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor
    bias: torch.Tensor
    weight: torch.Tensor
    mixed: torch.Tensor


@dataclass(frozen=True)
class Steering:
    """What a module is to do: temperatures and weights [T,S] of heads; each pass is noted in `seen`, if given."""

    temperatures: dict[int, float] = field(default_factory=dict)
    weights: dict[int, torch.Tensor] = field(default_factory=dict)
    seen: list[Attended] | None = None


@contextmanager
def steer(
    model: PreTrainedModel,
    *,
    temperatures: Mapping[tuple[Kind, int, int], float] | None = None,
    weights: Mapping[tuple[Kind, int, int], np.ndarray] | None = None,
) -> Iterator[None]:
    """Inside, heads attend at another temperature, or exactly with these weights [rows, columns].

    Temperatures hold in forced passes and in `generate`, with cache and beams; so do weights of encoder heads.  Those
    of decoder and cross-attention heads are for a forced pass, which has all steps at once.  All sentences that run
    inside are treated alike; ValueError where weights do not have the shape of the head's map.  UserError for a head
    that the model does not have, a temperature that is not above 0, and weights that are negative, do not sum to 1,
    or look ahead in the decoder.
    """
    temperatures, weights = dict(temperatures or {}), dict(weights or {})
    for head, value in temperatures.items():
        if not (np.isfinite(value) and value > 0):
            raise UserError(f"temperature {value} of head {head}: expected a number above 0", exit_code=2)
    for head, matrix in weights.items():
        _check_weights(head, matrix)
    chosen = heads_by_site(model, [*temperatures, *weights])
    steerings = {}
    for site, numbers in chosen:
        keys = {head: (site.kind, site.layer, head) for head in numbers}
        steerings[site.module] = Steering(
            {head: temperatures[key] for head, key in keys.items() if key in temperatures},
            {head: torch.tensor(np.array(weights[key])) for head, key in keys.items() if key in weights},
        )
    with looking(model), steered(steerings):  # masks in the form that this file's attention reads
        yield


@contextmanager
def steered(steerings: Mapping[nn.Module, Steering]) -> Iterator[None]:
    """Inside `looking`, each attention module does as it is told; afterwards it is as it was."""
    found = [(module, module.config, module.__dict__.get(STEERING)) for module in steerings]
    try:
        for module, steering in steerings.items():
            module.config = copy(module.config)
            module.config._attn_implementation = NAME
            module.__dict__[STEERING] = steering
        yield
    finally:
        for module, config, before in found:
            module.config = config
            module.__dict__.pop(STEERING, None)
            if before is not None:
                module.__dict__[STEERING] = before


def _check_weights(head: tuple[Kind, int, int], matrix: np.ndarray) -> None:
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise UserError(f"weights of head {head}: expected a matrix of numbers from 0 to 1", exit_code=2)
    if not np.allclose(matrix.sum(-1), 1, atol=1e-4):
        raise UserError(f"weights of head {head}: expected rows that sum to 1", exit_code=2)
    if head[0] == "decoder" and np.triu(matrix, k=1).any():
        raise UserError(f"weights of head {head}: a step of the decoder cannot look ahead", exit_code=2)


def _attend(
    module: nn.Module,
    query_BHTE: torch.Tensor,
    key_BHSE: torch.Tensor,
    value_BHSE: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    position_bias: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Eager attention with the steering of `module`: the same signature and results as transformers' own."""
    steering: Steering = module.__dict__[STEERING]
    scale = query_BHTE.shape[-1] ** -0.5 if scaling is None else float(scaling)
    score_BHTS = query_BHTE @ key_BHSE.transpose(2, 3) * scale
    nothing = torch.zeros_like(score_BHTS)
    bias_BHTS = nothing if position_bias is None else position_bias.expand_as(score_BHTS)
    mask_BHTS = nothing if attention_mask is None else attention_mask.expand_as(score_BHTS)
    score_BHTS = score_BHTS + bias_BHTS
    for head, temperature in steering.temperatures.items():
        score_BHTS[:, head] /= temperature
    weight_BHTS = (score_BHTS + mask_BHTS).softmax(-1, dtype=torch.float32).to(query_BHTE.dtype)
    T, S = weight_BHTS.shape[-2:]
    for head, matrix in steering.weights.items():
        if matrix.shape != (T, S):
            raise ValueError(f"expected weights of shape {(T, S)} for head {head}, got {tuple(matrix.shape)}")
        weight_BHTS[:, head] = matrix.to(weight_BHTS)
    mixed_BHTE = weight_BHTS @ value_BHSE
    if steering.seen is not None:
        parts = query_BHTE, key_BHSE, value_BHSE, mask_BHTS, bias_BHTS, weight_BHTS, mixed_BHTE
        steering.seen.append(Attended(scale, *parts))
    return mixed_BHTE.transpose(1, 2).contiguous(), weight_BHTS


ALL_ATTENTION_FUNCTIONS.register(NAME, _attend)
