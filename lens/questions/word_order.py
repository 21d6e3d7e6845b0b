"""A model's predictions of a known translation with and without positions.

Without the position vectors that are added to embeddings (Vaswani et al. 2017, section 3.5) an encoder sees a set of
tokens.  Their order then changes no prediction.
"""

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.forced_pass import check_model, eval_mode, forced_pass
from ...passes.hooks import replaced
from ..data.probabilities import shown_by
from ..trace import Trace

# T steps, V vocabulary


def position_modules(stack: nn.Module) -> list[nn.Module]:
    """The modules of an encoder or decoder that return position vectors; empty if positions are relative."""
    return [module for name, module in stack.named_modules() if name.endswith("positions")]


def predictions(model: PreTrainedModel, trace: Trace, *, positions: bool = True) -> np.ndarray:
    """Log-probabilities [T,V] of each step of a trace, calibrated if the trace is.

    Without `positions` their vectors are zero on both sides.  The calibration is then the same, so that the change is
    that of the vectors alone; it was measured with positions.  Raises UserError for a model without position vectors.
    """
    check_model(model)
    added = [module for stack in (model.get_encoder(), model.get_decoder()) for module in position_modules(stack)]
    if not added and not positions:
        raise UserError(f"{type(model).__name__} has no position vectors to leave out")
    off = [] if positions else added
    with eval_mode(model), replaced((module, "out", torch.zeros_like) for module in off):
        output, _ = forced_pass(model, [trace.source_ids], [trace.target_ids])
    return shown_by(trace)(output.logits[0].double().cpu().numpy())
