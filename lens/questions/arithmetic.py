"""The computation of one row of one head's map, from the query to the head's output.

    score[c]  = q . k[c] * scale (+ bias[c], of relative positions) (+ mask[c])
    weight[c] = exp(score[c]) / sum over c of exp(score[c])
    mixed     = sum over c of weight[c] v[c]
    output    = W_O^h mixed                      (Vaswani et al. 2017, eq. 1 and section 3.2.2)

The numbers come from the attention function of the pass itself (`hooks.steered`), not from a copy of its formula.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.forced_pass import eval_with_eager_attention, forced_pass
from ...passes.hooks import AttentionChange, capture, heads_by_site, steered
from ..trace import Trace

# R rows, C columns, E size of one head, D model width


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """The numbers behind one row of a map with C columns.

    - `query` [E], `keys` [C,E], `values` [C,E];
    - `products` [C]: q . k;
    - `scale`: the factor of the products;
    - `bias` [C]: 0 except in models with relative positions;
    - `allowed` [C]: False where masked;
    - `scores` [C]: -inf where masked;
    - `weights` [C], `mixed` [E];
    - `output` [D]: without the bias that all heads share;
    - `length`: the norm of the output of all heads, with the bias.
    """

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
    """The computation of one row of a head's map (kind, layer, head), for the hypothesis of a trace.

    Raises UserError for a head or row that does not exist.
    """
    [(site, [number])] = heads_by_site(model, [head])
    rows, columns = len(trace.row_tokens(head[0])), len(trace.column_tokens(head[0]))
    if not 0 <= row < rows:
        raise UserError(f"there is no row {row} in this map: expected 0 to {rows - 1}", exit_code=2)
    seen: dict[str, Any] = {}
    with (
        capture({site: site.output}, "out") as head_outputs,  # [B,R,D] of all heads
        eval_with_eager_attention(model),
        steered({site.module: AttentionChange(seen=seen)}),
    ):
        forced_pass(model, [trace.source_ids], [trace.target_ids])
    scale = seen.pop("scale")
    own = {name: part[0, number].float() for name, part in seen.items()}
    q_E, k_CE, mask_C, bias_C = own["query"][row], own["key"], own["mask"][row], own["bias"][row]
    products_C = (k_CE @ q_E)[:columns]
    allowed_C = mask_C[:columns] > -1e30
    scores_C = torch.where(allowed_C, products_C * scale + bias_C[:columns], -torch.inf)
    parts = {
        "query": q_E, "keys": k_CE[:columns], "products": products_C, "bias": bias_C[:columns], "allowed": allowed_C,
        "scores": scores_C, "weights": own["weight"][row, :columns], "values": own["value"][:columns],
        "mixed": own["mixed"][row], "output": site.output.weight[:, site.columns([number])] @ own["mixed"][row],
    }
    return Arithmetic(scale=scale, length=float(head_outputs[site][0, row].norm()),
                      **{name: part.detach().cpu().numpy() for name, part in parts.items()})
