"""One row of one head's map, number by number: from the query to what the head hands over.

    score[c]  = q . k[c] * scale (+ bias[c], of relative positions) (+ mask[c])
    weight[c] = exp(score[c]) / sum over c of exp(score[c])
    mixed     = sum over c of weight[c] v[c]
    output    = W_O^h mixed                      (Vaswani et al. 2017, eq. 1 and section 3.2.2)

The numbers are those of the pass that made the map: attention itself is asked, not a copy of its formula.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from seq2see.errors import UserError
from seq2see.lens.ablation import columns_of, heads_by_site
from seq2see.lens.anatomy import AttentionSite
from seq2see.lens.forcing import forced_pass, looking
from seq2see.lens.trace import Kind, Trace

# H heads, R rows, C columns, E size of one head, D model width

NAME = "seq2see_arithmetic"  # of the attention implementation that the module looked at is switched to
KEPT = "_seq2see_arithmetic"  # where it leaves what passed through it


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A row: `query` [E], `keys` [C,E], `products` [C] (q . k), `scale`, `bias` [C] (0 but for relative positions),
    `allowed` [C] (False: masked), `scores` [C] (-inf where masked), `weights` [C], `values` [C,E], `mixed` [E] and
    `output` [D], without the bias that all heads share.  `length` is that of what all heads and the bias hand over."""

    query: np.ndarray
    keys: np.ndarray
    products: np.ndarray
    scale: float
    bias: np.ndarray
    allowed: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    mixed: np.ndarray
    output: np.ndarray
    length: float


def arithmetic(model: PreTrainedModel, trace: Trace, head: tuple[Kind, int, int], row: int) -> Arithmetic:
    """How one row of the map of a head (kind, layer, head) came about, for the hypothesis of a trace.

    UserError for a head that the model does not have, or a row that the map does not have.
    """
    [(site, [number])] = heads_by_site(model, [head])
    rows, columns = len(trace.row_pieces(head[0])), len(trace.column_pieces(head[0]))
    if not 0 <= row < rows:
        raise UserError(f"there is no row {row} in this map: expected 0 to {rows - 1}", exit_code=2)
    with looking(model), _kept(site) as kept:
        forced_pass(model, [trace.source_ids], [trace.target_ids])
    q_RE, k_CE, v_CE, mask_RC, bias_RC = (one[number].float() for one in kept.parts)
    attended_D = kept.attended[row]
    output_D = site.output.weight.detach()[:, columns_of(site, [number])] @ kept.mixed[number, row]
    products_C = k_CE @ q_RE[row]
    allowed_C = mask_RC[row, :columns] > -1e30
    scores_C = products_C[:columns] * kept.scale + bias_RC[row, :columns]
    scores_C = torch.where(allowed_C, scores_C, -torch.inf)
    return Arithmetic(
        query=_numbers(q_RE[row]), keys=_numbers(k_CE[:columns]), products=_numbers(products_C[:columns]),
        scale=kept.scale, bias=_numbers(bias_RC[row, :columns]), allowed=_numbers(allowed_C),
        scores=_numbers(scores_C), weights=_numbers(kept.weights[number, row, :columns]),
        values=_numbers(v_CE[:columns]), mixed=_numbers(kept.mixed[number, row]), output=_numbers(output_D),
        length=float(attended_D.norm()),
    )


def _numbers(tensor: torch.Tensor) -> np.ndarray:
    numbers: np.ndarray = tensor.detach().cpu().numpy()
    return numbers


class _Kept:
    """What passed through one attention module, of the first sentence: queries, keys, values, mask and bias by heads,
    its weights [H,R,C], what they mixed [H,R,E], and what the output projection made of that, [R,D]."""

    parts: tuple[torch.Tensor, ...]
    scale: float
    weights: torch.Tensor
    mixed: torch.Tensor
    attended: torch.Tensor


@contextmanager
def _kept(site: AttentionSite) -> Iterator[_Kept]:
    """Inside, a pass leaves what goes through the site's attention."""
    kept, config = _Kept(), site.module.config
    handle = site.output.register_forward_hook(lambda module, args, out: setattr(kept, "attended", out[0].detach()))
    try:
        site.module.config = copy(config)
        site.module.config._attn_implementation = NAME
        site.module.__dict__[KEPT] = kept
        yield kept
    finally:
        site.module.config = config
        site.module.__dict__.pop(KEPT, None)
        handle.remove()


def _attend(
    module: nn.Module, query_BHRE: torch.Tensor, key_BHCE: torch.Tensor, value_BHCE: torch.Tensor,
    attention_mask: torch.Tensor | None, *, scaling: float | None = None, position_bias: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Eager attention that keeps what it is given: the same signature and results as transformers' own."""
    kept = module.__dict__[KEPT]
    kept.scale = query_BHRE.shape[-1] ** -0.5 if scaling is None else float(scaling)
    score_BHRC = query_BHRE @ key_BHCE.transpose(2, 3) * kept.scale
    nothing_BHRC = torch.zeros_like(score_BHRC)
    bias_BHRC = nothing_BHRC if position_bias is None else position_bias.expand_as(score_BHRC)
    mask_BHRC = nothing_BHRC if attention_mask is None else attention_mask.expand_as(score_BHRC)
    weight_BHRC = (score_BHRC + bias_BHRC + mask_BHRC).softmax(-1, dtype=torch.float32).to(query_BHRE.dtype)
    mixed_BHRE = weight_BHRC @ value_BHCE
    kept.parts = tuple(one[0] for one in (query_BHRE, key_BHCE, value_BHCE, mask_BHRC, bias_BHRC))
    kept.weights, kept.mixed = weight_BHRC[0], mixed_BHRE[0]
    return mixed_BHRE.transpose(1, 2).contiguous(), weight_BHRC


ALL_ATTENTION_FUNCTIONS.register(NAME, _attend)
